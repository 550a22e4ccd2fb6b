"""A binary heap of gains and the numbers that they are of, the highest gain on top; of equal ones the lowest number."""

from graphclust.compiled.runtime.loops import INLINED, loop


@loop(**INLINED)
def push(gains, items, size, gain, item):
    """Add one to a heap of `size`; returns the new size."""
    place = size
    while place > 0:
        parent = (place - 1) // 2
        if gains[parent] > gain or (gains[parent] == gain and items[parent] <= item):
            break
        gains[place], items[place] = gains[parent], items[parent]
        place = parent
    gains[place], items[place] = gain, item
    return size + 1


@loop(**INLINED)
def pop(gains, items, size):
    """Take the top away and close the gap; returns the new size."""
    size -= 1
    gain, item = gains[size], items[size]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and (
            gains[child + 1] > gains[child] or (gains[child + 1] == gains[child] and items[child + 1] < items[child])
        ):
            child += 1
        if gains[child] < gain or (gains[child] == gain and items[child] >= item):
            break
        gains[place], items[place] = gains[child], items[child]
        place = child
    gains[place], items[place] = gain, item
    return size

"""A complete binary tree of sums, root at 0, leaf i at i + n - 1 (Wong & Easton 1980)."""

import numpy as np

from graphclust.compiled.runtime.loops import loop


@loop()
def build(masses):
    n = len(masses)
    tree = np.empty(2 * n - 1)
    for i in range(n):  # an assignment of the slice brings two seconds of compiling, the text of an error about shapes
        tree[n - 1 + i] = masses[i]
    for parent in range(n - 2, -1, -1):
        tree[parent] = tree[2 * parent + 1] + tree[2 * parent + 2]
    return tree


@loop()
def set_mass(tree, i, mass):
    node = i + len(tree) // 2
    tree[node] = mass
    while node > 0:
        node = (node - 1) // 2
        # Re-add the children: subtracting the change would drift below zero over many updates.
        tree[node] = tree[2 * node + 1] + tree[2 * node + 2]


@loop()
def draw(tree, uniform):
    """Leaf whose share of the total mass, which must be positive, contains `uniform` in [0, 1)."""
    n_internal = len(tree) // 2
    target = uniform * tree[0]
    node = 0
    while node < n_internal:
        left = 2 * node + 1
        if target < tree[left] or tree[left + 1] == 0.0:
            node = left
        else:
            target -= tree[left]
            node = left + 1
    return node - n_internal

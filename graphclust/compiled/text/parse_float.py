"""Decimal numbers out of bytes, to the nearest float64, by Lemire 2021, "Number parsing at a gigabyte per second".

A number is digits * 10^exponent. Where both factors are floats without rounding, so is the rounding of their product
(Clinger 1990). Otherwise the digits are multiplied by the first 128 bits of the power of five, which nearly always
settles how to round; what it does not settle, and subnormal numbers, are left to Python.
"""

import numpy as np

from graphclust.compiled.runtime.loops import loop

PLUS, MINUS, POINT, ZERO, UPPER_E, LOWER_E = 43, 45, 46, 48, 69, 101
NO_NUMBER = -1

TEN = np.uint64(10)
MOST_EXACT = np.uint64(1 << 53)  # whole numbers up to here are floats, as are 10^0 to 10^22
POWERS_OF_TEN = 10.0 ** np.arange(23)
LEAST_POWER, LARGEST_POWER = -342, 308  # of ten, that 19 digits can be multiplied by and be neither 0 nor infinite

_ONE, _ALL, _HALF = np.uint64(1), np.uint64(2**64 - 1), np.uint64(2**32 - 1)
_MASK = np.uint64(0x1FF)  # bits of the product below the 55 that decide


def _powers_of_five() -> np.ndarray:
    """The first 128 bits of 5^q as (high, low), rounded as the paper has it: up from -27 to -1, otherwise down."""
    rows = []
    for q in range(LEAST_POWER, LARGEST_POWER + 1):
        if q < 0:
            n_bits = (5**-q - 1).bit_length()
            bits = (1 << (n_bits + 127 if q >= -27 else 2 * n_bits + 128)) // 5**-q + 1
        else:
            bits = 5**q << 128
        bits >>= bits.bit_length() - 128
        rows.append((bits >> 64, bits & (2**64 - 1)))
    return np.array(rows, np.uint64)


POWERS_OF_FIVE = _powers_of_five()


@loop(inline="always")
def read_digits(text, at, digits):
    """The digits so far and those that start here as a whole number, which may wrap round; and where they end."""
    digit = np.uint64(text[at]) - np.uint64(ZERO)  # a byte below "0" wraps round to a huge one
    while digit < TEN:
        digits = digits * TEN + digit
        at += 1
        digit = np.uint64(text[at]) - np.uint64(ZERO)
    return digits, at


@loop()
def read_number(text, at, whole):
    """The number that starts here: where it ends or NO_NUMBER, its value, and whether that is sure.

    A number is sign, digits, and unless `whole` a point among them and an exponent.
    """
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += 1
    start = at
    digits, at = read_digits(text, at, np.uint64(0))
    n_digits = at - start
    exponent = 0
    if not whole and text[at] == POINT:
        point = at
        digits, at = read_digits(text, at + 1, digits)
        exponent = point + 1 - at
        n_digits -= exponent
    if n_digits == 0:
        return NO_NUMBER, 0.0, False
    end_of_digits = at
    written = 0
    if not whole and (text[at] == LOWER_E or text[at] == UPPER_E):
        at += 1
        below = text[at] == MINUS
        if below or text[at] == PLUS:
            at += 1
        token = at
        digit = np.uint64(text[at]) - np.uint64(ZERO)
        while digit < TEN:
            if written < 100_000:
                written = written * 10 + np.int64(digit)
            at += 1
            digit = np.uint64(text[at]) - np.uint64(ZERO)
        if at == token:
            return NO_NUMBER, 0.0, False
        written = -written if below else written
    cut = False
    if whole and n_digits > 18:  # it may be too large for 64 bits
        return at, 0.0, False
    if n_digits > 19:
        digits, exponent, cut = _first_digits(text, start, end_of_digits)
    value, sure = nearest_float(digits, exponent + written)
    if cut and sure:  # the number is between this and the next
        above, sure = nearest_float(digits + _ONE, exponent + written)
        sure = sure and above == value
    return at, -value if negative else value, sure


@loop()
def _first_digits(text, start, end):
    """The first 19 digits after leading zeros, the exponent they need, and whether any but zeros follow."""
    digits = np.uint64(0)
    n_digits = exponent = 0
    after_point = cut = False
    for at in range(start, end):
        if text[at] == POINT:
            after_point = True
        elif n_digits < 19:
            digits = digits * TEN + np.uint64(text[at] - ZERO)
            n_digits += digits > np.uint64(0)
            exponent -= after_point
        else:
            cut = cut or text[at] != ZERO
            exponent += not after_point
    return digits, exponent, cut


@loop()
def nearest_float(digits, power):
    """digits * 10^power, up to 19 digits, and whether it is surely the nearest float."""
    if digits <= MOST_EXACT and -22 <= power <= 22:
        value = np.float64(digits)
        return value * POWERS_OF_TEN[power] if power >= 0 else value / POWERS_OF_TEN[-power], True
    if digits == np.uint64(0):
        return 0.0, True
    if power < LEAST_POWER or power > LARGEST_POWER:
        return 0.0, False
    highest = min((np.float64(digits).view(np.uint64) >> np.uint64(52)) - np.uint64(1023), np.uint64(63))
    highest -= np.uint64(digits >> highest == np.uint64(0))  # the float was rounded up to a power of two
    n_zeros = np.int64(63) - np.int64(highest)
    digits <<= np.uint64(n_zeros)
    high, low = _product(digits, POWERS_OF_FIVE[power - LEAST_POWER, 0])
    if high & _MASK == _MASK:
        more, _ = _product(digits, POWERS_OF_FIVE[power - LEAST_POWER, 1])
        low += more
        if low < more:
            high += _ONE
        if low == _ALL and (power < -27 or power > 55):
            return 0.0, False
    upper = high >> np.uint64(63)
    shift = upper + np.uint64(9)
    mantissa = high >> shift
    exponent = ((217_706 * power) >> 16) + 63 + np.int64(upper) - n_zeros
    if exponent < -1022 or exponent > 1022:
        return 0.0, False
    if low <= _ONE and -4 <= power <= 23 and mantissa & np.uint64(3) == _ONE and mantissa << shift == high:
        mantissa -= _ONE  # half way between two floats: to the even one
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    bits = (np.uint64(exponent + 1022) << np.uint64(52)) + mantissa  # a mantissa of 2^53 carries into the exponent
    return np.uint64(bits).view(np.float64), True


@loop(inline="always")
def _product(a, b):
    """The high and the low 64 bits of a * b."""
    half = np.uint64(32)
    a_high, a_low, b_high, b_low = a >> half, a & _HALF, b >> half, b & _HALF
    middle = a_high * b_low + ((a_low * b_low) >> half)
    other = a_low * b_high + (middle & _HALF)
    return a_high * b_high + (middle >> half) + (other >> half), a * b

"""From digits to numbers."""

import numpy as np

from inldl._kernels.compile import exact_kernel

POWERS = 10.0 ** np.arange(23)  # those that double precision holds exactly
_EXACT = np.uint64(1) << np.uint64(53)


@exact_kernel
def read_numbers(data, starts, ends, decimal, out):
    """Read the number of each cell into `out`; return which cells were not read.

    What is read is correctly rounded: digits that make a whole number below 2^53, times or divided
    by a power of ten up to 22, take one rounding. Empty cells become NaN. All else, such as words
    or very long numbers, is left to others.

    Parameters
    ----------
    data : uint8 array
        Bytes.
    starts, ends : int arrays of shape (n,)
        Bounds of the cells.
    decimal : int
        The byte of the decimal sign.
    out : float64 array of shape (n,)
        The numbers.
    """
    left = np.zeros(len(starts), np.bool_)
    for i in range(len(starts)):
        at, end = starts[i], ends[i]
        while at < end and (data[at] == 32 or data[at] == 9):
            at += 1
        while at < end and (data[end - 1] == 32 or data[end - 1] == 9):
            end -= 1
        if at == end:
            out[i] = np.nan
            continue
        number, good = _number(data, at, end, decimal)
        out[i] = number
        left[i] = not good
    return left


@exact_kernel
def _number(data, at, end, decimal):
    """Return the number in data[at:end] and whether it could be read exactly."""
    negative = data[at] == 45
    if negative or data[at] == 43:
        at += 1
    digits, shown, power, pointed = np.uint64(0), 0, 0, False
    while at < end:
        byte = data[at]
        if 48 <= byte <= 57:
            shown += 1
            power -= pointed
            if digits >= np.uint64(100_000_000_000_000_000):
                return np.nan, False
            digits = digits * np.uint64(10) + np.uint64(byte - 48)
        elif byte == decimal and not pointed:
            pointed = True
        else:
            break
        at += 1
    if shown == 0:
        return np.nan, False
    if at < end:
        exponent, good = _exponent(data, at, end)
        if not good:
            return np.nan, False
        power += exponent
    if digits >= _EXACT or power > 22 or power < -22:
        return np.nan, False
    value = float(digits)
    value = value / POWERS[-power] if power < 0 else value * POWERS[power]
    return (-value if negative else value), True


@exact_kernel
def _exponent(data, at, end):
    """Return the whole number behind the e in data[at:end], and whether there is one."""
    if data[at] != 101 and data[at] != 69:
        return 0, False
    at += 1
    negative = at < end and data[at] == 45
    if at < end and (negative or data[at] == 43):
        at += 1
    if at == end or end - at > 3:
        return 0, False
    exponent = 0
    while at < end:
        if data[at] < 48 or data[at] > 57:
            return 0, False
        exponent = exponent * 10 + (data[at] - 48)
        at += 1
    return (-exponent if negative else exponent), True

"""From digits to numbers."""

import numpy as np

from inldl._kernels.compile import exact_kernel

# What a number can have between its digits. Spaces and apostrophes have several forms.
COMMA, DOT, SPACE, APOSTROPHE = 1, 2, 3, 4
# How a cell is written. What could be both is a number such as 1,234 or 1.234.
TEXT, SIGN_KINDS = 0, 9
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
        at, end = _trimmed(data, starts[i], ends[i])
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


@exact_kernel
def note_signs(data, starts, ends, first_row, first):
    """Note the first row of each kind of sign in `first`; return which cells have no digit.

    With s the sign, the kinds are: 0 no number; 3s - 2 a decimal sign, 3s - 1 either, 3s between
    thousands for commas and dots; s + 4 for spaces and apostrophes, which only separate thousands.

    Parameters
    ----------
    data : uint8 array
        Bytes.
    starts, ends : int arrays of shape (n,)
        Bounds of the cells.
    first_row : int
        The number of the first cell.
    first : int array of shape (SIGN_KINDS,)
        Rows, -1 where there is none yet.
    """
    words = np.zeros(len(starts), np.bool_)
    for i in range(len(starts)):
        at, end = _trimmed(data, starts[i], ends[i])
        if at < end and data[end - 1] == 37:  # a percent sign
            at, end = _trimmed(data, at, end - 1)
        words[i] = at < end and not _has_digit(data, at, end)
        if at == end or words[i]:
            continue
        good, group, decimal, either = _shape(data, at, end)
        if not good:
            _note(first, TEXT, first_row + i)
        if either:
            _note(first, 3 * group - 1, first_row + i)
        elif group:
            _note(first, 3 * group if group <= DOT else group + 4, first_row + i)
        if decimal:
            _note(first, 3 * decimal - 2, first_row + i)
    return words


@exact_kernel
def ungroup(data, starts, ends, decimal, signs):
    """Return a copy of the cells without the `signs` between thousands, and its bounds.

    Cells that are not numbers with groups of three digits are copied as they are.

    Parameters
    ----------
    data : uint8 array
        Bytes.
    starts, ends : int arrays of shape (n,)
        Bounds of the cells.
    decimal : int
        The byte of the decimal sign.
    signs : bool array of shape (5,)
        Which signs separate thousands.
    """
    out = np.empty(max(1, (ends - starts).sum()), np.uint8)
    new_starts, new_ends, size = starts.copy(), ends.copy(), 0
    for i in range(len(starts)):
        at, end = _trimmed(data, starts[i], ends[i])
        group = 0
        if at < end:
            good, group, point, _ = _shape(data, at, end)
            fits = point == 0 or point == (COMMA if decimal == 44 else DOT)
            group = group if good and fits and signs[group] else 0
        new_starts[i] = size
        while at < end:
            sign, width = _sign(data, at, end)
            if group == 0 or sign != group:
                out[size] = data[at]
                size, width = size + 1, 1
            at += width
        new_ends[i] = size
    return out, new_starts, new_ends


@exact_kernel
def _shape(data, at, end):
    """Tell how the number in data[at:end] is written.

    Returns whether it is one, the sign between groups of three digits, the decimal sign, and
    whether the first may also be the second.
    """
    at += data[at] == 45 or data[at] == 43
    start, at = at, _digits(data, at, end)
    group, groups, decimal, whole = 0, 0, 0, at - start
    while at < end:
        sign, width = _sign(data, at, end)
        if sign == 0:
            break
        stop = _digits(data, at + width, end)
        shown = stop - at - width
        begins = groups == 0 and 1 <= whole <= 3 and data[start] != 48
        if decimal == 0 and shown == 3 and (begins or (groups > 0 and sign == group)):
            group, groups = sign, groups + 1
        elif decimal == 0 and sign <= DOT and sign != group and shown + whole > 0:
            decimal = sign
        else:
            return False, 0, 0, False
        at = stop
    either = groups == 1 and decimal == 0 and group <= DOT
    if at == end:
        return True, group, decimal, either
    if not _exponent(data, at, end)[1] or (groups > 0 and not either):
        return False, 0, 0, False
    return True, 0, max(group, decimal), False  # 1,234e5


@exact_kernel
def _sign(data, at, end):
    """Return the sign at a place, 0 if there is none, and how many bytes it has."""
    byte = data[at]
    if byte == 44:
        return COMMA, 1
    if byte == 46:
        return DOT, 1
    if byte == 32:
        return SPACE, 1
    if byte == 39:
        return APOSTROPHE, 1
    if byte == 0xC2 and at + 1 < end and data[at + 1] == 0xA0:  # U+00A0
        return SPACE, 2
    if byte == 0xE2 and at + 2 < end and data[at + 1] == 0x80:
        if data[at + 2] == 0xAF or data[at + 2] == 0x89:  # U+202F, U+2009
            return SPACE, 3
        if data[at + 2] == 0x99:  # U+2019
            return APOSTROPHE, 3
    return 0, 0


@exact_kernel
def _is_digit(byte):
    return 48 <= byte <= 57


@exact_kernel
def _digits(data, at, end):
    """Return the end of the digits that start at a place."""
    while at < end and _is_digit(data[at]):
        at += 1
    return at


@exact_kernel
def _has_digit(data, at, end):
    while at < end and not _is_digit(data[at]):
        at += 1
    return at < end


@exact_kernel
def _trimmed(data, at, end):
    """Return the bounds of a cell without blanks around it."""
    while at < end and (data[at] == 32 or data[at] == 9):
        at += 1
    while at < end and (data[end - 1] == 32 or data[end - 1] == 9):
        end -= 1
    return at, end


@exact_kernel
def _note(first, kind, row):
    if first[kind] < 0:
        first[kind] = row

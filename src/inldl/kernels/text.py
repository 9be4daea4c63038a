"""Numbers in the bytes of a text: read them, and tell which signs they are written with."""

import numpy as np

from inldl.kernels.compile import exact_kernel

# What `read_numbers` makes of a cell. A long number is correct, but not read to the last bit.
READ, LONG, TEXT = 0, 1, 2
# What a number can have between its digits. Spaces and apostrophes have several forms.
COMMA, DOT, SPACE, APOSTROPHE = 1, 2, 3, 4
_SIGNS = np.zeros(256, np.int64)
_SIGNS[[44, 46, 32, 39]] = COMMA, DOT, SPACE, APOSTROPHE
POWERS = 10.0 ** np.arange(23)  # those that double precision holds exactly
_EXACT = np.uint64(1) << np.uint64(53)
_MOST_DIGITS = 19  # that always fit into 64 bits
_WIDEST = 64  # bytes: no number that people write is wider


def packed_words(words):
    """Return words for missing cells, in small letters, as rows of a length and bytes."""
    encoded = [word.encode() for word in words]
    packed = np.zeros((len(encoded), 1 + max(map(len, encoded), default=0)), np.int64)
    for row, word in zip(packed, encoded, strict=True):
        row[: len(word) + 1] = [len(word), *word]
    return packed


@exact_kernel
def find_bytes(data, first, second, out):
    """Write into `out` where the data are one of two bytes; return how often they are.

    Each place is written, and only then is it decided whether it counts: there is no branch to
    guess. `out` has one place more than there are such bytes.
    """
    count = 0
    for i in range(len(data)):
        out[count] = i
        count += (data[i] == first) | (data[i] == second)
    return count


@exact_kernel
def read_numbers(data, starts, ends, columns, signs, holes, percent, out):
    """Read the numbers of some columns into `out`; return what each cell is: READ, LONG or TEXT.

    What is read is correctly rounded: digits that make a whole number below 2^53, times or divided
    by a power of ten up to 22, take one rounding. Empty cells and holes are read as NaN.

    The cells are data[starts:ends], rows x columns, perhaps in quotation marks. `signs` are the
    byte of the decimal sign, then 1 for each of the signs above that separates thousands; `holes`
    are words as `packed_words` returns them.
    With `percent`, a number without a percent sign is text. Both `out` and what is returned have
    a row for each column, but cells are read row by row, as they stand in memory.
    """
    kinds = np.zeros(out.shape, np.uint8)
    for i in range(len(starts)):
        for j in range(len(columns)):
            at, end = starts[i, columns[j]], ends[i, columns[j]]
            number, kind = np.nan, READ if at == end else TEXT
            if kind == TEXT and not percent:  # most cells are nothing but digits and a point
                number, kind = _number(data, at, end, signs[0], 0)
            if kind == TEXT:
                number, kind = _cell(data, at, end, signs, holes, percent)
            out[j, i] = number
            kinds[j, i] = kind
    return kinds


@exact_kernel
def _cell(data, at, end, signs, holes, percent):
    """Return the number in the cell data[at:end], however it is written, and its kind."""
    at, end = _inside(data, at, end)
    if at == end:
        return np.nan, READ
    signed = percent and data[end - 1] == 37
    if signed:
        at, end = _trimmed(data, at, end - 1)
    number, kind = _number(data, at, end, signs[0], 0)
    if kind == TEXT:
        number, kind = _with_groups(data, at, end, signs)
    if not signed and (percent or kind == TEXT) and _is_hole(data, at, end, holes):
        return np.nan, READ
    return number, TEXT if percent and not signed else kind


@exact_kernel
def _with_groups(data, at, end, signs):
    """Return the number with groups of digits in data[at:end], and its kind."""
    if at < end and signs[1:].any():
        good, group, point, _ = _shape(data, at, end)
        fits = point == 0 or point == (COMMA if signs[0] == 44 else DOT)
        if good and group and fits and signs[group]:
            return _number(data, at, end, signs[0], group)
    return np.nan, TEXT


@exact_kernel
def _number(data, at, end, decimal, group):
    """Return the number in data[at:end] and its kind; `_shape` has checked groups of digits."""
    start, negative = at, at < end and data[at] == 45
    if negative or (at < end and data[at] == 43):
        at += 1
    stop, digits = _whole_number(data, at, end, np.uint64(0))
    shown, power = stop - at, 0
    while group != 0 and stop < end and _sign(data, stop, end)[0] == group:
        at = stop + _sign(data, stop, end)[1]
        stop, digits = _whole_number(data, at, end, digits)
        shown += stop - at
    at = stop
    if at < end and data[at] == decimal:
        at, digits = _whole_number(data, stop + 1, end, digits)
        power = stop + 1 - at
        shown -= power
    if shown == 0:
        return np.nan, TEXT
    if at < end:
        exponent, good = _exponent(data, at, end)
        if not good:
            return np.nan, TEXT
        power += exponent
    if shown > _MOST_DIGITS or digits >= _EXACT or power > 22 or power < -22:
        return np.nan, LONG if end - start <= _WIDEST else TEXT
    value = float(digits)
    value = value / POWERS[-power] if power < 0 else value * POWERS[power]
    return (-value if negative else value), READ


@exact_kernel
def _whole_number(data, at, end, number):
    """Return the end of the digits that start at a place, and the number with them appended."""
    while at < end:
        digit = np.uint64(data[at]) - np.uint64(48)
        if digit > np.uint64(9):
            break
        number = number * np.uint64(10) + digit
        at += 1
    return at, number


@exact_kernel
def _exponent(data, at, end):
    """Return the whole number behind the e in data[at:end], and whether there is one."""
    if data[at] != 101 and data[at] != 69:
        return 0, False
    at += 1
    negative = at < end and data[at] == 45
    if at < end and (negative or data[at] == 43):
        at += 1
    stop, exponent = _digits(data, at, end), 0
    if at == end or stop < end:
        return 0, False
    while at < end:
        exponent = min(exponent * 10 + (data[at] - 48), 1_000_000)
        at += 1
    return (-exponent if negative else exponent), True


@exact_kernel
def note_signs(data, starts, ends, column, holes, first_row, first):
    """Note in `first` the first row of each way to write a number, and of text; -1 if none yet.

    With s the sign, the ways are: 0 text; 3s - 2 a decimal sign, 3s - 1 either, 3s between
    thousands for commas and dots; s + 4 for spaces and apostrophes, which only separate thousands.
    Either is a number such as 1,234 or 1.234. The cells and `holes` are those of `read_numbers`;
    the first cell stands in `first_row`.
    """
    for i in range(len(starts)):
        start, stop = _inside(data, starts[i, column], ends[i, column])
        at, end = start, stop
        if at < end and data[end - 1] == 37:  # a percent sign
            at, end = _trimmed(data, at, end - 1)
        if at == end:
            continue
        good, group, decimal, either = _shape(data, at, end)
        if not good and not _is_hole(data, start, stop, holes):
            _note(first, 0, first_row + i)
        if either:
            _note(first, 3 * group - 1, first_row + i)
        elif group:
            _note(first, 3 * group if group <= DOT else group + 4, first_row + i)
        if decimal:
            _note(first, 3 * decimal - 2, first_row + i)


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
        return whole > 0 or decimal > 0, group, decimal, either
    if not _exponent(data, at, end)[1] or (groups > 0 and not either):
        return False, 0, 0, False
    return True, 0, max(group, decimal), False  # 1,234e5


@exact_kernel
def _sign(data, at, end):
    """Return the sign at a place, 0 if there is none, and how many bytes it has."""
    byte = data[at]
    if _SIGNS[byte]:
        return _SIGNS[byte], 1
    if byte == 0xC2 and at + 1 < end and data[at + 1] == 0xA0:  # U+00A0
        return SPACE, 2
    if byte == 0xE2 and at + 2 < end and data[at + 1] == 0x80:
        if data[at + 2] == 0xAF or data[at + 2] == 0x89:  # U+202F, U+2009
            return SPACE, 3
        if data[at + 2] == 0x99:  # U+2019
            return APOSTROPHE, 3
    return 0, 0


@exact_kernel
def _digits(data, at, end):
    """Return the end of the digits that start at a place."""
    while at < end and 48 <= data[at] <= 57:
        at += 1
    return at


@exact_kernel
def _is_hole(data, at, end, holes):
    """Return whether data[at:end] is one of the words in `holes`, in small letters or capitals."""
    length = end - at
    for k in range(len(holes)):
        if holes[k, 0] != length:
            continue
        same = 0
        while same < length:
            byte = data[at + same]
            if byte + 32 * (65 <= byte <= 90) != holes[k, same + 1]:
                break
            same += 1
        if same == length:
            return True
    return False


@exact_kernel
def _inside(data, at, end):
    """Return the bounds of a cell without its quotation marks and white space around it."""
    quoted = at < end and data[at] == 34
    return _trimmed(data, at + quoted, end - quoted)


@exact_kernel
def _trimmed(data, at, end):
    """Return the bounds of a cell without white space around it."""
    while at < end and (data[at] <= 32 or data[at] >= 0xC2):
        width = 1 if data[at] <= 32 else _space(data, at, end)
        if width == 0:
            break
        at += width
    while at < end and (data[end - 1] <= 32 or data[end - 1] >= 0x80):
        width = 1 if data[end - 1] <= 32 else _space_before(data, at, end)
        if width == 0:
            break
        end -= width
    return at, end


@exact_kernel
def _space(data, at, end):
    """Return how many bytes a no-break or thin space at a place has, 0 if there is none."""
    sign, width = _sign(data, at, end)
    return width if sign == SPACE else 0


@exact_kernel
def _space_before(data, at, end):
    """Do the same for such a space that ends at a place."""
    for width in (2, 3):
        if end - at >= width and _space(data, end - width, end) == width:
            return width
    return 0


@exact_kernel
def _note(first, kind, row):
    if first[kind] < 0:
        first[kind] = row

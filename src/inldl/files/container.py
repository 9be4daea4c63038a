"""The container of a model file: a zip of one JSON text and of arrays, with a checksum.

Nothing in it is compressed: the numbers of models hardly shrink, and nothing can be larger than
the file. The comment at the end of the zip is the SHA-256 of all bytes before it. This, and that
the file starts with the member `TREE`, is to stay so in every later format.
"""

import hashlib
import json
import math
import re
import zipfile

import numpy as np
from numpy.lib import format as npy

TREE = "inldl-model.json"
LONGEST_TREE = 64 * 2**20
_DIGEST = hashlib.sha256().digest_size * 2
_NAME_AT = 30  # in a zip, after the fixed part of the first member's header
MOST_COLUMNS = 10**6
# What numpy writes before an array; its own reader takes more than numbers, and evaluates text.
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>[<>|](?:b1|[iu][1248]|f[248]))', "
    rb"'fortran_order': (?P<fortran>True|False), 'shape': \((?P<shape>[0-9, ]{0,200})\), \} *\n",
    re.DOTALL,
)
_ORDERS = {b"True": "F", b"False": "C"}


class MalformedError(ValueError):
    """What is wrong with a file, as the end of a sentence that starts with its name."""


def require(good, what):
    """Refuse a file of which `what` is to be said if something about it is not good."""
    if not good:
        raise MalformedError(what)


def write_container(path, tree, arrays):
    """Write plain data, and arrays of numbers or booleans by their names, to a new file."""
    text = json.dumps(tree, allow_nan=False, separators=(",", ":")).encode()
    if len(text) > LONGEST_TREE:
        raise ValueError(f"A model file cannot hold {len(text)} bytes besides arrays.")
    with path.open("wb+") as file:
        with zipfile.ZipFile(file, "w") as container:
            container.writestr(zipfile.ZipInfo(TREE), text)
            for name, array in arrays.items():
                member = zipfile.ZipInfo(f"{name}.npy")
                with container.open(member, "w", force_zip64=array.nbytes > 2**30) as out:
                    npy.write_array(out, _in_one_piece(array), allow_pickle=False)
            container.comment = b"0" * _DIGEST
        digest = _digest(file, file.tell() - _DIGEST)
        file.seek(-_DIGEST, 2)
        file.write(digest)


def _in_one_piece(array):
    """Return the array without gaps; products of other memory orders have other last bits."""
    rows_first = array.ndim < 2 or array.strides[0] >= array.strides[-1]
    return np.asarray(array, order="C" if array.flags.c_contiguous or rows_first else "F")


def _digest(file, size):
    file.seek(0)
    found = hashlib.sha256()
    while size and (block := file.read(min(size, 2**20))):
        found.update(block)
        size -= len(block)
    return found.hexdigest().encode()


class Container:
    """Read a file that `write_container` has written; what is wrong with it is an exception."""

    def __init__(self, file):
        start = file.read(_NAME_AT + len(TREE))
        good = start.startswith(b"PK\x03\x04") and start.endswith(TREE.encode())
        require(good, "it is not a model file that inldl has written")
        self.size = file.seek(0, 2)
        digest = _digest(file, max(self.size - _DIGEST, 0))
        require(file.read() == digest, "it is damaged or was changed; get or save it again")
        self._zip = zipfile.ZipFile(file)
        members = self._zip.infolist()
        self._members = {each.filename: each for each in members}
        require(len(self._members) == len(members), "two of its parts have the same name")
        good = all(map(_is_plain, members)) and sum(m.file_size for m in members) <= self.size
        require(good, "its parts are packed, or larger than the file")

    def tree(self):
        """Return the plain data."""
        require(self._members[TREE].file_size <= LONGEST_TREE, "its description is too long")
        text = self._zip.read(self._members[TREE])
        return json.loads(text, object_pairs_hook=_without_doubles)

    def array(self, name):
        """Return an array of numbers; anything else is refused, and never unpickled."""
        member = self._members.get(f"{name}.npy")
        require(member is not None, f"its array {name[:80]} is missing")
        data = self._zip.read(member)
        header = _NPY.match(data)
        require(header is not None, f"its array {name[:80]} is not one of numbers")
        dtype, order = np.dtype(header["dtype"].decode()), _ORDERS[header["fortran"]]
        shape = tuple(int(n) for n in header["shape"].split(b",") if n.strip())
        good = math.prod(shape) * dtype.itemsize == len(data) - header.end()
        # No array without entries may be so wide that what is made of it fills the memory.
        good = good and max(shape, default=0) <= max(len(data), MOST_COLUMNS)
        require(good, f"its array {name[:80]} has another size than it says")
        array = np.frombuffer(data, dtype, offset=header.end()).reshape(shape, order=order)
        return array.astype(dtype.newbyteorder("="), order="K", copy=True)


def _is_plain(member):
    packed = member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size
    return not packed and not member.flag_bits & ~0x800  # a name in UTF-8, but no password


def _without_doubles(pairs):
    found = dict(pairs)
    require(len(found) == len(pairs), "it says something twice")
    return found

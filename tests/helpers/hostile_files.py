"""Make model files with a checksum that fits, as a stranger can."""

import hashlib
import io
import json
import warnings
import zipfile

import numpy as np

from inldl.files.container import TREE, write_container


def unpacked(path):
    """Return the tree and the arrays of a file."""
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    return json.loads(arrays.pop(TREE)), arrays


def repacked(path, tree, arrays):
    """Write a file with a checksum that fits."""
    path.unlink(missing_ok=True)
    write_container(path, tree, arrays)
    return path


def parts_of(node, name):
    """Return the states of all instances of a class in a tree."""
    found = []
    if isinstance(node, dict):
        if node.get("class") == name:
            found.append(node["state"])
        node = list(node.values())
    if isinstance(node, list):
        found += [state for each in node for state in parts_of(each, name)]
    return found


def rezipped(path, members, **options):
    """Write any zip with a checksum that fits."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", **options) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, data in members.items() if isinstance(members, dict) else members:
            file.writestr(name, data)
        file.comment = b"0" * 64
    path.write_bytes(sealed(content.getvalue()))
    return path


def sealed(content):
    """Return a zip with the checksum of what it holds in place of its comment."""
    return content[:-64] + hashlib.sha256(content[:-64]).hexdigest().encode()


def npy(array, **options):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, **options)
    return out.getvalue()

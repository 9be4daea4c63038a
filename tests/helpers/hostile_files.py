"""Make model files with a checksum that fits, as a stranger can."""

import hashlib
import io
import json
import warnings
import zipfile

import numpy as np
from skops import io as skops

from inldl.files.audit import portable
from inldl.files.model_file import MAGIC, load_model

SCHEMA = "schema.json"


def unpacked(path):
    """Return the description, the schema of skops, and the other members of a file."""
    header, payload = path.read_bytes()[len(MAGIC) + 65 :].split(b"\n", 1)
    with zipfile.ZipFile(io.BytesIO(payload)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    return json.loads(header), json.loads(members.pop(SCHEMA)), members


def sealed(path, header, payload):
    """Write a file with a checksum that fits."""
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    content += b"\n" + payload
    path.write_bytes(MAGIC + hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
    return path


def repacked(path, header, schema, members, **options):
    """Write a file of a schema, or its text, and of members by name, or pairs of both."""
    text = schema if isinstance(schema, str) else json.dumps(schema)
    pairs = members.items() if isinstance(members, dict) else members
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", **options) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, data in [*pairs, (SCHEMA, text)]:
            file.writestr(name, data)
    return sealed(path, header, content.getvalue())


def changed(path, source, change):
    """Write a file of the model in another one, after `change` was done to what skops gets."""
    model = portable(load_model(source))
    change(model)
    return sealed(path, unpacked(source)[0], skops.dumps(model))


def attributes(node):
    """Return the attributes of an object in a schema."""
    return node["content"]["content"]


def objects_in(node, name):
    """Return all objects of a class in a schema."""
    found = []
    if isinstance(node, dict):
        if node.get("__class__") == name:
            found.append(node)
        node = list(node.values())
    if isinstance(node, list):
        found += [each for item in node for each in objects_in(item, name)]
    return found


def npy(array, **options):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, **options)
    return out.getvalue()

"""Nothing but `inldl.torch` needs PyTorch, or imports it; these tests run without it as well."""

import json
import subprocess
import sys

import pytest

CODE = """
import json, pkgutil, sys
from importlib import import_module

asked = []

class Absent:
    # PyTorch, as if it were not installed
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            asked.append(name)
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import inldl

names = sys.argv[1:] or [each.name for each in pkgutil.walk_packages(inldl.__path__, "inldl.")]
needing = tuple(f"inldl.torch.{name}" for name in ("loss", "modules", "training"))
names = [name for name in names if not name.startswith((*needing, "inldl.__main__"))]
for name in names:
    import_module(name)
found = {"modules": names, "asked": list(asked), "said": []}

import numpy as np
from inldl.torch import NeuralLDL
from inldl.methods.registry import METHODS, make_method

assert {type(method.make()) for method in METHODS.values()} >= {NeuralLDL}
for use in (
    lambda: inldl.torch.partial_kl,
    lambda: make_method("neural").fit(np.eye(4), np.full((4, 2), 0.5)),
):
    try:
        use()
    except ImportError as error:
        found["said"].append(str(error))
print(json.dumps(found))
"""


SOME = ["inldl.tables", "inldl.torch", "inldl.torch.neural"]


@pytest.mark.parametrize("modules", [SOME, pytest.param([], marks=pytest.mark.slow, id="all")])
def test_the_rest_of_the_package_neither_imports_nor_needs_torch(modules):
    command = [sys.executable, "-c", CODE, *modules]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(SOME) <= set(found["modules"])
    assert found["asked"] == []
    assert found["said"] == [
        "inldl.torch.partial_kl needs PyTorch: pip install 'inldl[torch]'",
        "The fit of NeuralLDL needs PyTorch: pip install 'inldl[torch]'",
    ]

"""Only fits, losses and layers need PyTorch; these tests run without it as well."""

import json
import subprocess
import sys

CODE = """
import json, sys

asked = []

class Absent:
    # PyTorch, as if it were not installed
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            asked.append(name)
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import inldl_torch
import numpy as np
from inldl.methods import NeuralLDL
from inldl.methods.registry import METHODS, make_method

assert inldl_torch.NeuralLDL is NeuralLDL
assert {type(method.make()) for method in METHODS.values()} >= {NeuralLDL}
found = {"asked": list(asked), "said": []}
for use in (
    lambda: inldl_torch.partial_kl,
    lambda: make_method("neural").fit(np.eye(4), np.full((4, 2), 0.5)),
):
    try:
        use()
    except ImportError as error:
        found["said"].append(str(error))
print(json.dumps(found))
"""


def test_a_network_is_made_without_torch_and_a_fit_says_what_to_install():
    command = [sys.executable, "-c", CODE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["asked"] == []
    assert found["said"] == [
        "inldl_torch.partial_kl needs PyTorch: pip install torch",
        "The fit of NeuralLDL needs PyTorch: pip install torch",
    ]

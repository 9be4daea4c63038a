"""Write what type checkers and editors see of packages whose names are imported when used.

    python tests/helpers/stubs.py --write

Such a package names its homes once, in `lazy_names`; the `__init__.pyi` beside it is made of them.
"""

import inspect
import sys
from importlib import import_module
from pathlib import Path

from inldl.report.figures import FIGURES

LAZY = [
    *(f"inldl{room}" for room in ("", ".files", ".kernels", ".methods", ".report", ".tables")),
    *(f"inldl_paper{room}" for room in ("", ".experiments", ".literature")),
    "inldl_studio",
    "inldl_torch",
]
ALSO = {"inldl.report": {"FIGURES": "inldl.report.figures"}}
END = {
    "inldl": "\n__version__: str\n",
    "inldl_torch": "\ndef need_torch(what: str) -> None: ...\n",
}


def stub_of(name):
    """Return the path of the stub of a package, and what it should say."""
    package = import_module(name)
    find = getattr(package, "_lazy_name", package.__getattr__)
    homes = inspect.getclosurevars(find).nonlocals["homes"]
    homes = {each: homes[each] for each in package.__all__} | ALSO.get(name, {})
    for each in FIGURES if name == "inldl.report" else ():
        homes[each] = FIGURES[each].__module__
    names = sorted(homes, key=lambda n: (homes[n], not n.isupper(), not n[0].isupper(), n))
    lines = [f"from {homes[each]} import {each} as {each}\n" for each in names]
    text = '"""Names of the package, for type checkers; see tests/helpers/stubs.py."""\n\n'
    return Path(package.__file__).with_suffix(".pyi"), text + "".join(lines) + END.get(name, "")


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    for each in LAZY:
        path, text = stub_of(each)
        path.write_text(text, "utf-8")

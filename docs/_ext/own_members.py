"""Show of our modules and classes what was written here, and what was written about it."""

import sys

from sphinx.errors import PycodeError
from sphinx.pycode import ModuleAnalyzer

PACKAGES = {"inldl", "inldl_paper", "inldl_studio", "inldl_torch"}


def is_foreign(app, what, name, member, skip, options):
    """Return True for a member from another package, such as scikit-learn's `set_fit_request`."""
    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
    home = getattr(function, "__module__", None)
    return True if what == "class" and home and not home.startswith("inldl") else None


def describe_constant(app, what, name, constant, options, lines):
    """Describe a constant by the words beside its definition, not by those about its type."""
    if what == "data":
        own = name.rpartition(".")[2]
        homes = [home for home in sorted(sys.modules) if _holds(home, own, constant)]
        lines[:] = next(filter(None, (_words(home, own) for home in homes)), lines)


def _holds(home, name, constant):
    ours = home.partition(".")[0] in PACKAGES and home not in PACKAGES
    return ours and vars(sys.modules[home]).get(name) is constant


def _words(home, name):
    try:
        return ModuleAnalyzer.for_module(home).find_attr_docs().get(("", name))
    except PycodeError:
        return None


def setup(app):
    """Ask before a member is shown, and before a constant is described."""
    app.connect("autodoc-skip-member", is_foreign)
    app.connect("autodoc-process-docstring", describe_constant)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

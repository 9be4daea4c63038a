"""Names of the package, for type checkers; see tests/helpers/stubs.py."""

from inldl_studio.server import forget as forget
from inldl_studio.server import serve as serve

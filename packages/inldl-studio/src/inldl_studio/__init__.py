"""A local page to work with a table: see it, complete it, correct it, take it along.

The server imports nothing that takes time: tables are read and models are fitted in processes of
their own (`inldl_studio.jobs`), which write what they find into the folder of the table.
"""

from inldl.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__, dict.fromkeys(["forget", "serve"], "inldl_studio.server")
)

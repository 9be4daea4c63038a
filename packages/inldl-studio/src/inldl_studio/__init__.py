"""A local page to work with a table: see it, complete it, correct it, take it along.

The server imports nothing that takes time: tables are read and models are fitted in processes of
their own (`inldl_studio.jobs`), which write what they find into the folder of the table.
"""

from inldl_studio.server import forget, serve

__all__ = ["forget", "serve"]

"""Tables in and tables out: read degrees with holes, write them completed."""

from inldl.io.reading import read_table
from inldl.io.table import Format, Table
from inldl.io.writing import write_table

__all__ = ["Format", "Table", "read_table", "write_table"]

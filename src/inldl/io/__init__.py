"""Tables in and tables out: read degrees with holes, write them completed."""

from inldl.io.reading import TableFile, read_table
from inldl.io.table import Format, Piece, Table
from inldl.io.writing import TableWriter, write_table

__all__ = ["Format", "Piece", "Table", "TableFile", "TableWriter", "read_table", "write_table"]

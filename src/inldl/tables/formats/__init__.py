"""File formats of tables, one file each."""

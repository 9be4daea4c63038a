"""Kinds of feature columns, and their encoding as numbers."""

from inldl.tables.columns import date, kinds

__all__ = ["date", "kinds"]  # importing a module adds its kinds of columns to the list

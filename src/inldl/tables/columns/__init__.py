"""Kinds of feature columns, and their encoding as numbers."""

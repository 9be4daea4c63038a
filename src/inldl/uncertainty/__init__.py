"""Held-out predictions, conformal ranks and draws."""

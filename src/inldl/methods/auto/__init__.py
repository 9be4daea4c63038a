"""AutoInLDL: nothing to set."""

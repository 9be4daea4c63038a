"""AutoInLDL: an average of methods whose parameters are chosen on held-out rows."""

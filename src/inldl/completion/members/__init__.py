"""Members of the mixture that fills holes: one file each."""

"""The mathematics, without scikit-learn: problems, the loop that solves them, and its result."""

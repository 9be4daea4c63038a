"""The problems of the compared methods, without scikit-learn: each module states one."""

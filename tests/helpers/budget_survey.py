"""A table as a practitioner has it."""

import numpy as np
import pandas as pd

from inldl.datasets import hide, load_budget_shares

LABELS = "food,fuel,clothes,alcohol,transport,other"


def budget_survey(n):
    """Return a table with holes, text, an id and a column that lacks cells."""
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    X, y = X[:n], hide(y[:n], 0.4, random_state=0)
    X = X.assign(
        region=np.where(X["age"] > 35, "north", 'so"uth'), key=[f"k{i}" for i in range(n)]
    )
    X.loc[::7, "income"] = np.nan
    return pd.concat([X, y], axis=1)

"""Commands on a table whose sums vary."""

import numpy as np
import pandas as pd

from inldl import hide


def test_a_comparison_takes_account_of_the_sums(tmp_path, inldl):
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([4, 3, 2], 40) * rng.uniform(0.88, 0.97, (40, 1))
    frame = pd.DataFrame(hide(shares, 0.2, random_state=0), columns=["a", "b", "c"]).round(3)
    frame.assign(x=rng.normal(size=40)).to_csv(tmp_path / "t.csv", index=False)
    how = ("compare", "t.csv", "-l", "a,b,c", "--methods", "ridge", "--normalize")
    code, out, _ = inldl(*how)
    assert code == 0
    assert "Completing takes this into account, as inldl complete does" in out

"""What the process that works tells the page."""

import io
import json

from inldl.estimators._listening import RowCounter, heard_by
from inldl.studio.worker import Teller


def test_sweeps_over_many_rows_are_told():
    out = io.StringIO()
    teller = Teller(out)
    with heard_by(teller.detail):
        counter = RowCounter(1000)
    counter.start("sweep 1 over 1,000 rows")
    counter(250)
    told = json.loads(out.getvalue().splitlines()[-1])
    assert (told["detail"], told["share"]) == ("sweep 1 over 1,000 rows", 0.25)
    teller.detail("kernel-softmax: held-out error 0.1")
    assert teller.state["share"] == 0.25

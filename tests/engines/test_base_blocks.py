"""How rows are cut into blocks."""

import pytest

from inldl.engines.base import rows_per_block


@pytest.mark.parametrize("n_columns", [0, 1, 36, 64, 100, 128, 243, 256, 1000, 4096, 10**6])
def test_rows_are_an_odd_multiple_of_the_lanes(n_columns):
    rows = rows_per_block(n_columns)
    assert rows % 16 == 0
    assert rows // 16 % 2 == 1
    assert 48 <= rows <= 2048
    assert rows * n_columns <= 1 << 18 or rows == 48

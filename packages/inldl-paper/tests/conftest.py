"""Numbers of a study, to be drawn."""

import pytest

from studies import make_study


@pytest.fixture(scope="session")
def study():
    """Return a function from a number of methods to the tables of a study."""
    return make_study

import os

import pytest
from git_shop import Shop


@pytest.fixture
def shop(tmp_path):
    return Shop(tmp_path)


@pytest.fixture
def volume():
    """How often a campaign tries: the first number in CI, the second one in a soak."""
    return lambda quick, soak: soak if os.environ.get("PERDURE_VOLUME") == "soak" else quick

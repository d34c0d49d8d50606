"""What every room of the tests has."""

import os

import pytest


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def volume():
    """How often a campaign tries: the first number in CI, the second one in a soak."""
    return lambda quick, soak: soak if os.environ.get("PERDURE_VOLUME") == "soak" else quick

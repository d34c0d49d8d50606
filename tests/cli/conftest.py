import pytest
from runs import Place


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)

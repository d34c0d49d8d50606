from functools import partial

import program
import pytest
from runs import Place


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def perdure(home):
    return partial(program.perdure, home=home)


@pytest.fixture
def db(tmp_path):
    return tmp_path / "runs.db"

"""Which command tests a repository."""

import pytest

from perdure.kits.coding.detecting import PYTEST, UNITTEST
from perdure.kits.coding.detecting import test_command as found

CASES = {
    "pytest.ini": ({"pytest.ini": "[pytest]\n"}, PYTEST),
    "pyproject": ({"pyproject.toml": "[project]\nname = 'x'\n[tool.pytest.ini_options]\n"}, PYTEST),
    "pyproject without tests": ({"pyproject.toml": "[project]\nname = 'x'\n"}, ()),
    "conftest": ({"tests/conftest.py": ""}, PYTEST),
    "modules that import pytest": ({"tests/test_a.py": "import pytest\n"}, PYTEST),
    "unittest": (
        {"tests/__init__.py": "", "tests/test_a.py": "import unittest\n"},
        (*UNITTEST, "-s", "tests", "-t", "."),
    ),
    "unittest without a package": ({"tests/test_a.py": "import unittest\n"}, (*UNITTEST, "-s", "tests")),
    "deeper": ({"tests/unit/test_a.py": "import unittest\n"}, (*UNITTEST, "-s", "tests")),
    "beside other tests": ({"tests/data.txt": "", "test_a.py": "import unittest\n"}, UNITTEST),
    "beside the code": ({"test_a.py": "import unittest\n"}, UNITTEST),
    "make": ({"Makefile": "all:\n\techo\ntest: all\n\tcheck\n"}, ("make", "test")),
    "make without tests": ({"Makefile": "latest:\n\techo\n"}, ()),
    "npm": ({"package.json": '{"scripts": {"test": "jest"}}'}, ("npm", "test")),
    "cargo": ({"Cargo.toml": "[package]\n"}, ("cargo", "test")),
    "go": ({"go.mod": "module x\n"}, ("go", "test", "./...")),
    "nothing": ({"README.md": "hello"}, ()),
}


@pytest.mark.parametrize("case", CASES)
def test_the_files_tell(case, tmp_path):
    files, words = CASES[case]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert found(tmp_path) == words


def test_links_and_odd_bytes_tell_nothing_and_break_nothing(tmp_path):
    (tmp_path / "outside").write_text("[pytest]")
    root = tmp_path / "root"
    root.mkdir()
    (root / "pytest.ini").symlink_to(tmp_path / "outside")
    (root / "pyproject.toml").write_bytes(b"\xff\xfe[tool.nothing]")
    (root / "Makefile").mkdir()
    assert found(root) == ()

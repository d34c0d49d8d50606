"""Which command tests a repository."""

import pytest

from perdure.kits.coding.detecting import PYTEST, UNITTEST, telling
from perdure.kits.coding.detecting import tests_in as found

CASE = "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"
BARE = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
CASES = {
    "pytest.ini": ({"pytest.ini": "[pytest]\n"}, PYTEST),
    "pyproject": ({"pyproject.toml": "[project]\nname = 'x'\n[tool.pytest.ini_options]\n"}, PYTEST),
    "pyproject without tests": ({"pyproject.toml": "[project]\nname = 'x'\n"}, ()),
    "conftest": ({"tests/conftest.py": ""}, PYTEST),
    "modules that import pytest": ({"tests/test_a.py": "import pytest\n"}, PYTEST),
    "functions by themselves": ({"tests/test_a.py": BARE}, PYTEST),
    "functions that wait": ({"tests/test_a.py": "async def test_a():\n    pass\n"}, PYTEST),
    "functions beside the code": ({"test_a.py": BARE}, PYTEST),
    "functions, called otherwise": ({"tests/calc_test.py": BARE}, PYTEST),
    "functions beside cases": ({"tests/test_a.py": CASE, "tests/test_b.py": BARE}, PYTEST),
    "a class that is no case": ({"tests/test_a.py": "class TestA:\n    def test_a(self): pass\n"}, PYTEST),
    "functions deep in the package": ({"src/calc/tests/test_a.py": BARE}, PYTEST),
    "cases, and what others brought": ({"tests/test_a.py": CASE, "vendor/x/test_b.py": BARE}, (*UNITTEST, "-s", "tests")),
    "a suite as it once was written": ({"test_a.py": f"{CASE}\ndef test_suite():\n    return None\n"}, UNITTEST),
    "unittest": (
        {"tests/__init__.py": "", "tests/test_a.py": "import unittest\n"},
        (*UNITTEST, "-s", "tests", "-t", "."),
    ),
    "unittest without a package": ({"tests/test_a.py": CASE}, (*UNITTEST, "-s", "tests")),
    "one test": ({"test/test_a.py": CASE}, (*UNITTEST, "-s", "test")),
    "deeper": ({"tests/unit/test_a.py": "import unittest\n"}, (*UNITTEST, "-s", "tests")),
    "beside other tests": ({"tests/data.txt": "", "test_a.py": "import unittest\n"}, UNITTEST),
    "beside the code": ({"test_a.py": "import unittest\n"}, UNITTEST),
    "make": ({"Makefile": "all:\n\techo\ntest: all\n\tcheck\n"}, ("make", "test")),
    "make without tests": ({"Makefile": "latest:\n\techo\n"}, ()),
    "npm": ({"package.json": '{"scripts": {"test": "jest"}}'}, ("npm", "test")),
    "cargo": ({"Cargo.toml": "[package]\n"}, ("cargo", "test")),
    "go": ({"go.mod": "module x\n"}, ("go", "test", "./...")),
    "nothing": ({"README.md": "hello"}, ()),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_files_tell(case):
    files, words = CASES[case]
    assert found(files, {path: files[path] for path in telling(files)}).command == words


def test_modules_that_have_tests_for_certain_are_told():
    files = {"tests/test_a.py": CASE, "tests/test_b.py": BARE, "tests/testing.py": "PORT = 8080\n", "calc.py": BARE}
    assert found(files, {path: files[path] for path in telling(files)}).files == ("tests/test_a.py", "tests/test_b.py")

"""Small projects whose tests are really run, by pytest and by unittest, to see what these programs say."""

import os
import subprocess
import sys
from pathlib import Path

from perdure.kits.coding.results import Ran

MIXED = """
import unittest, pytest

def test_good(): pass

def test_sum():
    assert {"x": 1} == {"x": 2, "y": 3}

@pytest.mark.parametrize("value", ["a - b", "c[d]", "x::y"])
def test_value(value): assert value == "no"

class TestCart:
    def test_total(self): raise ValueError("two\\nlines")
    def test_both(self, breaking): assert 0, "itself"

@pytest.fixture
def breaking():
    yield
    raise RuntimeError("afterwards")

@pytest.fixture
def missing(): raise OSError("before")

def test_never(missing): pass
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.xfail
def test_known(): assert 0
@pytest.mark.xfail(strict=True)
def test_unexpected(): pass

class Old(unittest.TestCase):
    def test_parts(self):
        for i in range(3):
            with self.subTest("part", i=i): self.assertEqual(i, 1)
"""
"""All that can become of a test of pytest."""

PLAIN = '''
import unittest

class Cart(unittest.TestCase):
    def test_good(self): pass
    def test_sum(self):
        """Adds up."""
        self.assertEqual({"a": 1}, {"a": 2, "b": list(range(30))})
    def test_parts(self):
        for i in range(3):
            with self.subTest("part", i=i): self.assertEqual(i, 1)
    def test_raising(self):
        try: 1 / 0
        except ZeroDivisionError as error: raise ValueError("two\\nlines") from error
    @unittest.skip("why")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_known(self): self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): pass

class Shut(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise OSError("shut")
    def test_never(self): pass
'''
"""All that can become of a test of unittest."""


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def ran(root: Path, *words: str, report: bool = False, **env: str) -> Ran:
    """Run a program on a project, as `shell.run` would tell of it; `-m` means the Python of these tests."""
    argv = [sys.executable, *words] if words[0] == "-m" else list(words)
    clean = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **env}
    options = ["-p no:cacheprovider", *(["--junitxml=perdure-tests.xml"] if report else [])]
    for each in root.rglob("perdure-tests.xml"):
        each.unlink()
    done = subprocess.run(
        argv, cwd=root, env={"PYTEST_ADDOPTS": " ".join(options), **clean}, capture_output=True, check=False
    )
    written = {str(each.relative_to(root)): each.read_text() for each in root.rglob("perdure-tests.xml")}
    code = done.returncode
    return Ran(
        code=code if code >= 0 else 128 - code,
        stdout=done.stdout.decode("utf-8", "replace"),
        stderr=done.stderr.decode("utf-8", "replace"),
        signal="" if code >= 0 else "SIGKILL",
        seconds=1.0,
        collected=written,
    )

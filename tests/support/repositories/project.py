"""A small project under git that all the odd ones begin with."""

from git_shop import git
from snapshots import paths
from traps import LEFT, arm

FILES = {
    "README.md": "# calc\n\nAdds and subtracts.\n",
    ".gitignore": "__pycache__/\n*.log\n",
    "calc.py": '"""Sums."""\n\n\ndef add(a, b):\n    return a + b\n\n\ndef subtract(a, b):\n    return a - b\n',
    "test_calc.py": (
        "import unittest\n\nfrom calc import add, subtract\n\n\nclass Calc(unittest.TestCase):\n"
        "    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n\n"
        "    def test_subtract(self):\n        self.assertEqual(subtract(5, 3), 2)\n"
    ),
}


def write(path, files):
    """Files of texts or bytes, with the directories on the way."""
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def commit(path, message, files=None):
    """One commit with all there is."""
    write(path, files or {})
    git(path, "add", "--all")
    git(path, "commit", "-qm", message)
    return git(path, "rev-parse", "HEAD")


def project(path):
    """Nothing is odd: a module with tests that pass, two commits on `main`, a clean tree."""
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main", "--template=")
    commit(path, "Calculate", {**FILES, "README.md": "# calc\n"})
    commit(path, "Say what it does", FILES)
    return path


def beside(path, what):
    """A place next to the repository that is its own."""
    return path.with_name(f"{path.name}-{what}")


def trap(path, name):
    """A program outside of the repository that leaves a mark of this name."""
    return arm(beside(path, "programs") / name, mark_of(path, name))


def mark_of(path, name):
    place = beside(path, "marks")
    place.mkdir(exist_ok=True)
    return place / name


def marks(path, *also):
    """The names of the programs that have run; `also` are further places where they may have been started."""
    found = [each.name for place in (path, *also) for each in paths(place) if each.name.startswith(LEFT)]
    return {each.name for each in paths(beside(path, "marks"))} | {name.removeprefix(LEFT) for name in found}

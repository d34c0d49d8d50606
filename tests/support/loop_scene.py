"""A test for what is not there, and a model whose first patch is wrong."""

from repositories.project import FILES, commit, project

WANTED = (
    "\n    def test_multiply(self):\n        from calc import multiply\n\n        self.assertEqual(multiply(2, 3), 6)\n"
)


def patch(*lines):
    """A patch that adds to the module."""
    return "\n".join(["*** Begin Patch", "*** Update File: calc.py", *lines, "*** End Patch", ""])


FIRST = patch("@@ def subtract(a, b):", "     return a - b", "+", "+", "+def multiply(a, b):", "+    return a + b")
SECOND = patch("@@ def multiply(a, b):", "-    return a + b", "+    return a * b")
SCRIPT = {
    "AssertionError: 5 != 6": {"summary": "Multiply, and do not add", "patch": SECOND},
    "Give one patch": {"summary": "Multiply", "patch": FIRST},
}


def furnished(place):
    """A repository in which somebody has written a test for what is not there."""
    commit(project(place), "Ask for more", {"test_calc.py": FILES["test_calc.py"] + WANTED})

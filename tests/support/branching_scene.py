"""A fault that is found by a test and then mended: each time it is chosen what comes next, by what was done."""

from repositories.project import FILES
from ways import told_in

from perdure.testing.models import calls

GOAL = {"goal": "Find out why sums of texts go wrong"}
CHECKED = FILES["calc.py"].replace(
    "    return a + b", '    if isinstance(a, str):\n        raise TypeError("numbers only")\n    return a + b'
)
CASE = (
    "import unittest\n\nfrom calc import add\n\n\nclass Texts(unittest.TestCase):\n"
    '    def test_texts(self):\n        self.assertRaises(TypeError, add, "a", "b")\n'
)
PLANS = {"write": "First write a test for texts.", "mend": "Now mend add.", "end": "The goal is reached."}


def plans(request):
    """Somebody who plans by what was done."""
    told = told_in(request)
    if "add refuses texts" not in told:
        return PLANS["write"] if "A test for texts" not in told else PLANS["mend"]
    return PLANS["end"]


SCRIPT = {
    "Say what to do next": plans,
    "What comes next": lambda request: choice_in(told_in(request)),
    "Something went wrong": {"verdict": "success", "answer": "It was bad luck; plan again."},
    PLANS["write"]: [calls("files.write", path="test_texts.py", text=CASE), "A test for texts is there."],
    PLANS["mend"]: [calls("files.write", path="calc.py", text=CHECKED), "Now add refuses texts."],
}


def choice_in(told):
    found = {PLANS["write"]: "write_tests", PLANS["mend"]: "implement", PLANS["end"]: "finish"}
    return next(choice for words, choice in found.items() if words in told)

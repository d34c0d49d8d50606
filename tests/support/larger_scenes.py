"""Larger work for whoever is killed at it: what is answered follows from the task alone, and some of it is wrong at first."""

from quantities import component, files
from repositories.project import FILES, commit, project
from team import calling, change, edits, plan_of, repository, writing

DONE = "It is done."
README = "Adds and subtracts."


def does(*answers):
    return [*answers, DONE]


# ------------------------------------------------------------------------------- side by side, in the same line

BOTH = FILES["README.md"].replace(README, "Adds, subtracts, multiplies and divides.")


def operation(name, sign, told):
    made = {f"{name}.py": f"def {name}(a, b):\n    return a {sign} b\n"}
    return does(writing(made), edits("README.md", README, told))


PARALLEL = {
    "side by side": plan_of(change("Multiply", "multiply.py"), change("Divide", "divide.py")),
    "Two changes meet": {"settled": {"README.md": BOTH}},
    "Do this: Multiply": operation("multiply", "*", "Adds, subtracts and multiplies."),
    "Do this: Divide": operation("divide", "/", "Adds, subtracts and divides."),
}


# ------------------------------------------------------------------------------- in stages, one of them wrong at first


def says(line):
    return edits(
        "calc.py", "def subtract(a, b):\n    return a - b", f'def subtract(a, b):\n    """Take."""\n    {line}'
    )


ROLLOUT = {
    "Divide this goal into stages": plan_of(change("Say what add does", "calc.py"), change("Say what subtract does")),
    "test_calc.Calc.test_subtract": does(says("return a - b")),
    "Do this: Say what add does": does(edits("calc.py", "def add(a, b):", 'def add(a, b):\n    """Put together."""')),
    "Do this: Say what subtract does": does(says("return b - a")),
}


# ------------------------------------------------------------------------------- tests first

HALF = "\n\ndef half(a):\n    return a // 2\n"
TEST = (
    "import unittest\n\nfrom calc import half\n\n\nclass Half(unittest.TestCase):\n"
    "    def test_half_of_an_odd_number(self):\n        self.assertEqual(half(3), 1.5)\n"
)
TESTS_FIRST = {
    "have found something": {"cause": "It drops the rest.", "mend": "Use one stroke.", "lesson": "Test odd numbers."},
    "Tests have found what is wrong": does(
        edits("calc.py", "a // 2", "a / 2"), calling("files.delete", paths=["test_half.py"])
    ),
    "Write tests for this goal": [
        writing({"test_half.py": TEST}),
        {"summary": "Test halves", "files": ["test_half.py"]},
    ],
}


def halving(place):
    commit(project(place), "Halve", {"calc.py": FILES["calc.py"] + HALF})


# ------------------------------------------------------------------------------- a project


def package(name, **more):
    around = {"quantities/__init__.py": "", "tests/__init__.py": ""} if name == "parse" else {}
    return does(writing({**files(name), **around, **more}))


LONE, PAIR = (
    plan_of(*map(component, names), summary="Texts of quantities") for names in (["parse"], ["parse", "show"])
)
PROJECT = {
    "Nobody shows them.": PAIR,
    "Name the components": LONE,
    "Does this plan hold together": lambda request: (
        {"verdict": "success", "answer": "It does."}
        if "Write show" in request.remarks[0].text
        else {"verdict": "flawed", "answer": "Nobody shows them."}
    ),
    "The components were written apart": "They fit as they are.",
    "Do the components fit together": {"verdict": "success", "answer": "They do."},
    "Mend what the tests have found": does(writing({"quantities/show.py": files("show")["quantities/show.py"]})),
    "would a careful maintainer take it": {"verdict": "success", "answer": "Yes."},
    "Do this: Write parse": package("parse"),
    "Do this: Write show": package("show", **{"quantities/show.py": "def show(value, unit):\n    return unit\n"}),
}


def empty(place):
    repository(place, {"README.md": "# quantities\n"})


SCENES = {
    "parallel": (project, PARALLEL),
    "rollout": (project, ROLLOUT),
    "tests_first": (halving, TESTS_FIRST),
    "project": (empty, PROJECT),
}
"""How the repository is furnished, and what is answered."""

"""T8: each layer is written with what the earlier ones have said in view, the newest first, fitted to a limit."""

import json

from repositories.project import FILES
from ways import Workshop

from perdure.plan.tokens import PIECES, size_of
from perdure.testing.models import calls

GOAL = {"goal": "Keep a history of sums"}
LIMIT = 8000
BEFORE = "What was done before, the newest first:\n"
HISTORY = '"""What was added."""\n\n\nclass History(list):\n    """Sums, the oldest first."""\n'
LOGIC = f"{FILES['calc.py']}\n\ndef remember(history, a, b):\n    history.append(add(a, b))\n    return history\n"
ENTRY = "from calc import remember\nfrom history import History\n\n\ndef open_history():\n    return History()\n"
CASE = (
    "import unittest\n\nfrom calc import remember\nfrom entry import open_history\n\n\nclass Kept(unittest.TestCase):\n"
    "    def test_kept(self):\n        self.assertEqual(remember(open_history(), 2, 3), [5])\n"
)
LAYERS = {
    "The data:": ("history.py", HISTORY, "History is a list of sums, in history.py."),
    "What is done with the data": ("calc.py", LOGIC, "remember(history, a, b) appends to a History."),
    "The way in and out": ("entry.py", ENTRY, "open_history() gives an empty History."),
    "Tests for all of it": ("test_history.py", CASE, "One test, of remember and open_history."),
    "What a user has to know": ("README.md", "# calc\n\nKeeps a history.\n", "The README tells of it."),
}


def layer(path, text, said):
    return [calls("files.write", path=path, text=text), said]


def script(outline="Data, logic, a way in, tests, a README.", **others):
    layers = {words: layer(*each) for words, each in LAYERS.items()}
    return {**layers, "Outline how": outline, **others}


def shown(told):
    """The context that a model was told, as data."""
    return json.loads(told.partition(BEFORE)[2])


def test_t8_each_layer_sees_what_the_earlier_ones_have_said_the_newest_first(tmp_path):
    done = Workshop(tmp_path, script()).carry("context", inputs=GOAL)
    done.assert_kept()
    assert BEFORE not in done.told("Outline how")[0]
    earlier = ["Data, logic, a way in, tests, a README."]
    for words, (_, _, said) in LAYERS.items():
        assert [each["output"] for each in shown(done.told(words)[0])] == earlier
        earlier.insert(0, said)
    assert done.log() == ["Keep a history of sums"]
    assert done.changed() == {path for path, _, _ in LAYERS.values()}
    assert [each.tests for each in done.report.rounds] == ["all 2 tests pass", "all 3 tests pass", "all 3 tests pass"]


def test_t8_what_does_not_fit_is_shortened_and_what_was_left_out_is_said(tmp_path):
    long = "A section about sums. " * 3000
    done = Workshop(tmp_path, script(outline=long)).carry("context", inputs=GOAL)
    done.assert_kept()
    told = shown(done.told("What a user has to know")[0])
    assert [each.get("output") for each in told[:-1]] == [said for _, _, said in [*LAYERS.values()][-2::-1]]
    assert "output" not in told[-1]
    assert told[-1]["summary"].startswith("A section about sums. ")
    assert "characters left out" in told[-1]["summary"]
    for words in LAYERS:
        assert size_of(shown(done.told(words)[0])) / PIECES <= LIMIT


def test_t8_of_many_long_results_the_newest_is_whole_and_the_others_are_summaries(tmp_path):
    long = {words: layer(path, text, f"{said} {'And so on. ' * 1500}") for words, (path, text, said) in LAYERS.items()}
    done = Workshop(tmp_path, {**long, "Outline how": "x " * 9000}).carry("context", inputs=GOAL)
    done.assert_kept()
    told = shown(done.told("What a user has to know")[0])
    assert told[0]["output"].startswith("One test, of remember")
    assert len(told) == len(LAYERS)
    assert ["characters left out" in each["summary"] for each in told[1:]] == [True] * 4
    assert size_of(told) / PIECES <= LIMIT


def test_e22_a_test_that_stays_wrong_leaves_nothing_and_the_report_tells_each_round(tmp_path):
    wrong = layer("test_history.py", CASE.replace("[5]", "[6]"), "One test.")
    mending = {
        "Tests fail after a change": {"cause": "remember is wrong", "mend": "look at it", "lesson": "Count twice."},
        "Mend what the tests have found": "There is nothing to mend.",
    }
    done = Workshop(tmp_path, script(**{"Tests for all of it": wrong, **mending})).carry("context", inputs=GOAL)
    done.assert_nothing_kept("after 5 rounds", "test_kept")
    assert [each.lesson for each in done.report.rounds[1:]] == ["Count twice."] * 4 + [""]

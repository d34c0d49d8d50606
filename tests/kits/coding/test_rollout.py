"""E23: a staged rollout: one stage at a time, a check between, back on failure."""

import pytest
from team import calling, carry_out, change, plan_of, repository, shaped, times, writing

from perdure.kits.coding.report import markdown

AREAS = ("orders", "stock", "mail")
LOG = '"""The new logger."""\n\n\ndef log(area, text):\n    return f"[{area}] {text}"\n'
OLD = 'def work(what):\n    return "done: " + what\n'
START = {
    "README.md": "# desk\n",
    "log.py": LOG,
    **{f"{area}.py": OLD for area in AREAS},
    "test_desk.py": (
        "import unittest\n\nimport mail\nimport orders\nimport stock\n\n\nclass Desk(unittest.TestCase):\n"
        + "".join(
            f'    def test_{area}(self):\n        self.assertTrue({area}.work("x").endswith("done: x"))\n\n'
            for area in AREAS
        )
    ),
}


def rolled(area, text='"done: " + what'):
    return {f"{area}.py": f'from log import log\n\n\ndef work(what):\n    return log("{area}", {text})\n'}


BAD = writing(rolled("stock", "what") | {"stock_notes.txt": "half done\n"})
STAGES = [change(f"Log in {area}", f"{area}.py") for area in AREAS]


def script(*second):
    return {
        "Divide this goal into stages": plan_of(*STAGES, summary="The new logger everywhere"),
        "Do this: Log in orders": writing(rolled("orders")),
        "Do this: Log in stock": times(*second),
        "Do this: Log in mail": writing(rolled("mail")),
    }


@pytest.fixture
def root(tmp_path):
    return repository(tmp_path / "desk", START)


def test_e23_a_stage_that_makes_tests_worse_is_taken_back_and_tried_again(root):
    looking = [calling("files.read", path="stock.py"), calling("files.list"), writing(rolled("stock"))]
    work = carry_out(root, shaped("rollout"), script(BAD, looking))
    assert work.result.ok, work.result.failure
    assert work.commits == [each["title"] for each in STAGES]
    assert work.text("stock.py") == rolled("stock")["stock.py"]
    assert "stock_notes.txt" not in work.files()
    read = next(each for each in work.team.heard if '"path": "stock.py", "digest"' in each)
    listed = next(each for each in work.team.heard if "test_desk.py" in each)
    assert "from log import log" not in read  # the second try has found it as it was after the first stage
    assert "stock_notes.txt" not in listed
    told = [each for each in work.team.tasks if "Do this: Log in stock" in each]
    assert ["test_desk.Desk.test_stock" in each for each in told] == [False, True]
    assert [bool(each.failing) for each in work.report.rounds] == [False, False, True, False, False, False]
    assert work.touched == {}


def test_e23_one_that_never_holds_is_given_to_a_person_who_keeps_the_stages_before_it(root):
    work = carry_out(root, shaped("rollout"), script(BAD), answers=["keep"])
    assert work.result.ok, work.result.failure
    assert "Log in stock" in work.questions[0]
    assert work.commits == ["Log in orders"]
    assert (work.text("stock.py"), work.text("mail.py")) == (OLD, OLD)
    assert work.text("orders.py") == rolled("orders")["orders.py"]
    assert work.team.asked["Do this: Log in mail"] == 0
    assert work.report.left_out == ("Log in stock", "Log in mail")
    assert "- not there: Log in mail" in markdown(work.report)
    assert work.touched == {}


def test_e23_or_keeps_nothing(root):
    work = carry_out(root, shaped("rollout"), script(BAD), answers=["nothing"])
    assert work.result.status == "failed"
    assert "the stage does not hold, and was taken back: Log in stock" in work.report.failure
    assert (work.report.branch, work.state) == ("", {})
    assert len(work.report.rounds) == 4


def test_e23_a_first_stage_that_never_holds_leaves_nothing_to_keep(root):
    bad = {**script(BAD), "Do this: Log in orders": writing(rolled("orders", "what"))}
    work = carry_out(root, shaped("rollout"), bad)
    assert (work.result.status, work.questions, work.state) == ("failed", [], {})
    assert "taken back: Log in orders" in work.report.failure


def test_e23_without_a_command_that_tests_it_nobody_is_asked(root):
    work = carry_out(root, shaped("rollout"), script(BAD), test=[])
    assert (work.result.status, work.team.tasks, work.state) == ("failed", [], {})
    assert "name one with --test" in work.report.failure


def test_e23_without_calls_left_it_ends_by_its_budget(root):
    work = carry_out(root, shaped("rollout", budget={"calls": 4}), script(BAD))
    assert (work.result.status, work.result.failure.kind, work.state) == ("failed", "budget", {})

"""T7: components at once, each on a copy of its own, merged in the end; and what is done when one fails."""

import pytest
from team import calling, carry_out, change, edits, live_at_once, plan_of, repository, shaped, times, writing

from perdure.core.calls import Failure
from perdure.kits.coding.report import markdown

NAMES = ("csv", "json", "html", "ini", "text", "lines")
REGISTER = '"""Ways to write a table."""\n\nNAMES = ["plain"]\n'
BEFORE = {
    "exporters/__init__.py": REGISTER,
    "exporters/plain.py": "def write(rows):\n    return repr(rows)\n",
    "test_exporters.py": (
        "import importlib\nimport unittest\n\nfrom exporters import NAMES\n\n\nclass Exporters(unittest.TestCase):\n"
        "    def test_each_writes_text(self):\n        for name in NAMES:\n"
        '            write = importlib.import_module(f"exporters.{name}_").write if name != "plain" else repr\n'
        '            self.assertIn("1", write([[1]]))\n'
    ),
}
MODULE = "def write(rows):\n    return '\\n'.join('{mark}'.join(map(str, row)) for row in rows)\n"
MARKS = {"csv": ",", "json": ", ", "html": "</td><td>", "ini": "=", "text": " ", "lines": "|"}


def module(name):
    return {f"exporters/{name}_.py": MODULE.format(mark=MARKS[name])}


def component(name, *more):
    return change(f"Write the {name} exporter", f"exporters/{name}_.py", *more)


def task(name):
    return f"Do this: Write the {name} exporter"


@pytest.fixture
def root(tmp_path):
    return repository(tmp_path / "exporters", BEFORE)


def test_t7_components_are_written_at_once_within_the_limit_and_see_nothing_of_each_other(root):
    names = NAMES[:4]
    script = {"side by side": plan_of(*map(component, names), summary="Four exporters")}
    script |= {task(name): [writing(module(name)), calling("files.list")] for name in names}
    work = carry_out(root, shaped("parallel"), script, meet={"Do this: ": 4})  # nobody goes on before all four wrote
    assert work.result.ok, work.result.failure
    lists = [each for each in work.team.heard if "exporters/plain.py" in each]
    assert len(lists) == 4
    assert all(sum(f"exporters/{name}_.py" in each for name in names) == 1 for each in lists)
    assert {f"exporters/{name}_.py" for name in names} <= set(work.files())
    assert work.commits == [f"Write the {name} exporter" for name in names]
    assert [each.title for each in work.report.commits] == work.commits
    assert work.touched == {}


def test_t7_no_more_than_four_are_at_work(root):
    script = {"side by side": plan_of(*[{**component(name), "files": []} for name in NAMES])}
    script |= {task(name): writing(module(name)) for name in NAMES}
    work = carry_out(root, shaped("parallel"), script)
    assert work.result.ok, work.result.failure
    assert live_at_once(work.facts, "shape_generate/1[") == 4
    assert work.commits == ["Carry the components through"]


def registering(name):
    return [writing(module(name)), edits("exporters/__init__.py", '["plain"]', f'["plain", "{name}"]')]


BOTH = REGISTER.replace('["plain"]', '["plain", "csv", "json"]')
HALF = REGISTER.replace(
    'NAMES = ["plain"]', '<<<<<<< one\nNAMES = ["plain", "csv"]\n=======\nNAMES = ["plain", "json"]'
)


def meeting(settled, **more):
    changes = [component(name, "exporters/__init__.py") for name in ("csv", "json")]
    return {
        "side by side": plan_of(*changes),
        **{task(name): registering(name) for name in ("csv", "json")},
        "Two changes meet": {"settled": {"exporters/__init__.py": settled}},
        **more,
    }


def test_t7_a_conflict_in_the_same_lines_is_settled_with_what_both_wanted(root):
    work = carry_out(root, shaped("parallel"), meeting(BOTH))
    assert work.result.ok, work.result.failure
    assert work.text("exporters/__init__.py") == BOTH
    assert work.team.asked["Two changes meet"] == 1
    told = next(each for each in work.team.tasks if "Two changes meet" in each)
    assert '"csv"' in told.replace("\\", "")
    assert '"json"' in told.replace("\\", "")
    assert work.touched == {}


def test_t7_one_that_is_settled_wrongly_is_found_by_the_tests_and_mended(root):
    mending = {
        "Tests fail after a change": {
            "cause": "Marks of a conflict stand in exporters/__init__.py.",
            "mend": "Name both exporters there.",
            "lesson": "Look for marks before a conflict is called settled.",
        },
        "Mend what the tests have found": writing({"exporters/__init__.py": BOTH}),
    }
    work = carry_out(root, shaped("parallel"), meeting(HALF, **mending))
    assert work.result.ok, work.result.failure
    assert work.text("exporters/__init__.py") == BOTH
    assert len(work.report.rounds) == 4
    assert work.report.rounds[1].failing
    assert "Marks of a conflict" in work.report.rounds[1].cause


def test_t7_what_was_not_settled_is_given_back_with_what_is_wrong(root):
    script = meeting(BOTH)
    as_it_was = '<<<<<<< workspace\nNAMES = ["plain", "csv"]\n=======\nNAMES = ["plain", "json"]\n>>>>>>> branch\n'
    answers = [{"settled": {"exporters/__init__.py": as_it_was}}, {"settled": {}}, script["Two changes meet"]]
    work = carry_out(root, shaped("parallel"), {**script, "Two changes meet": times(*answers)})
    assert work.result.ok, work.result.failure
    assert work.text("exporters/__init__.py") == BOTH
    told = [each for each in work.team.tasks if "Two changes meet" in each]
    assert ["still has marks in it" in each for each in told] == [False, True, False]


def test_t7_one_that_nobody_settles_ends_the_run(root):
    work = carry_out(root, shaped("parallel"), {**meeting(BOTH), "Two changes meet": {"settled": {}}})
    assert work.result.status == "failed"
    assert "does not go together with the others" in work.report.failure
    assert (work.team.asked["Two changes meet"], work.state) == (3, {})


# ------------------------------------------------------------------------------- when one fails


def failing(*names):
    """A script in which some of the components cannot be written."""
    script = {"side by side": plan_of(*[{**component(name), "files": [f"exporters/{name}_.py"]} for name in NAMES[:4]])}
    told = {task(name): Failure("invalid", "The format has no specification.") for name in names}
    return {**script, **told, **{task(name): writing(module(name)) for name in NAMES[:4] if name not in names}}


def test_t7_by_default_one_that_fails_stops_the_others_and_nothing_is_kept(root):
    work = carry_out(root, shaped("parallel"), failing("csv"))
    assert work.result.status == "failed"
    assert "no specification" in work.report.failure
    assert "Two changes meet" not in work.team.asked
    assert (work.report.branch, work.report.commits, work.state) == ("", (), {})
    assert [each.tests for each in work.report.rounds] == ["the one test passes"]  # it came as far as the tests before


def test_t7_settled_waits_for_the_rest_and_says_what_is_not_there(root):
    work = carry_out(root, shaped("parallel_settled"), failing("csv", "html", "ini"))
    assert work.result.ok, work.result.failure
    assert work.commits == ["Write the json exporter"]
    assert work.report.left_out == tuple(f"Write the {name} exporter" for name in ("csv", "html", "ini"))
    assert "- not there: Write the csv exporter" in markdown(work.report)
    assert work.touched == {}


def test_t7_settled_with_nothing_at_all_fails(root):
    work = carry_out(root, shaped("parallel_settled"), failing(*NAMES[:4]))
    assert work.result.status == "failed"
    assert "none of the components" in work.report.failure
    assert work.state == {}


@pytest.mark.parametrize(("lost", "status"), [(("csv", "html"), "succeeded"), (("csv", "html", "ini"), "failed")])
def test_t7_tolerant_takes_two_failures_and_not_three(root, lost, status):
    work = carry_out(root, shaped("parallel_tolerant"), failing(*lost))
    assert work.result.status == status, work.result.failure
    assert (work.state == {}) is (status == "failed")
    assert len(work.report.commits) == (2 if status == "succeeded" else 0)


def test_t7_without_calls_left_it_ends_by_its_budget_and_the_repository_is_as_it_was(root):
    script = {"side by side": plan_of(*map(component, NAMES)), "Do this: ": writing(module("csv"))}
    work = carry_out(root, shaped("parallel", budget={"calls": 6}), script)
    assert (work.result.status, work.result.failure.kind) == ("failed", "budget")
    assert (work.report.branch, work.state) == ("", {})
    assert work.report.usage["calls"] <= 6

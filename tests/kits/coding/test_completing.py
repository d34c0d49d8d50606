"""T1, T12: plans of labels and agents are carried out with the agents of the kit, and nothing is done beside the plan."""

import asyncio
import json

from repositories.project import FILES
from ways import Workshop, told_in

from perdure import LabelStep, Plan
from perdure.core import events as e
from perdure.core.events import decode
from perdure.journal import SqliteJournal
from perdure.kits.coding.completing import completed
from perdure.kits.coding.framing import framed
from perdure.plan.index import Index
from perdure.plan.reading import read_bytes
from perdure.testing.models import calls

LABELS = b"""
- {label: planning, agent_key: code_planning_agent, on_success: choose, on_fail: manual_intervention}
- {label: choose, agent_key: branching_agent, on_success: dynamic, on_fail: manual_intervention, choices: [generate, complete]}
- label: generate
  agent_key: code_agent
  on_success: check
  on_fail: planning
  steps:
    - {label: types, agent_key: file_agent}
    - label: parts
      parallel_steps:
        - {label: product, agent_key: code_agent}
        - {label: quotient, agent_key: context_aware_code_agent}
  parallel_steps:
    - {label: cases, agent_key: test_agent}
    - {label: manual, agent_key: code_agent}
- {label: check, agent_key: quality_agent, on_success: planning, on_fail: refine}
- {label: refine, agent_key: refinement_agent, on_success: check, on_fail: manual_intervention}
"""
ORDER = ["generate_agent", "types", "product", "quotient", "cases", "manual"]
CASE = (
    "import unittest\n\nfrom product import multiply\nfrom quotient import divide\n\n\nclass Both(unittest.TestCase):\n"
    "    def test_both(self):\n        self.assertEqual(divide(multiply(2, 3), 3), 2)\n"
)
WRITTEN = {
    "generate agent": ("calc.py", FILES["calc.py"] + '\n\nKINDS = ("product", "quotient")\n'),
    "types": ("kinds.txt", "product\nquotient\n"),
    "product": ("product.py", "def multiply(a, b):\n    return a * b\n"),
    "quotient": ("quotient.py", "def divide(a, b):\n    return a / b\n"),
    "cases": ("test_both.py", CASE),
    "manual": ("docs/manual.md", "It multiplies and divides.\n"),
}


def part(label):
    path, text = WRITTEN[label]
    return [calls("files.write", path=path, text=text), f"{path} is there."]


SCRIPT = {
    "called: planning": lambda request: (
        "All is done." if "It holds together." in told_in(request) else "Make all parts."
    ),
    "called: choose": lambda request: "complete" if "All is done." in told_in(request) else "generate",
    "called: check": "It holds together.",
    **{f"called: {label}": part(label) for label in WRITTEN},
}


def carried(tmp_path):
    shape = read_bytes(LABELS, "labels.yaml", "yaml").usable()
    return Workshop(tmp_path, SCRIPT).carry(framed(shape), inputs={"goal": "Multiply and divide"})


def test_t1_labels_with_serial_and_parallel_parts_are_carried_out_by_the_agents_of_the_kit(tmp_path):
    done = carried(tmp_path)
    done.assert_kept()
    assert done.changed() == {path for path, _ in WRITTEN.values()}
    assert done.log() == ["Multiply and divide"]
    over = [each.step.removeprefix("shape_") for each in done.visits]
    assert {*over[over.index("generate_agent") : over.index("generate")]} >= {*ORDER}
    places = [over.index(step) for step in ("generate_agent", "types", "product", "cases")]
    assert places == sorted(places)
    assert over.index("quotient") < over.index("cases")


def test_t1_each_agent_is_the_one_of_the_kit_and_is_told_the_goal_its_part_and_what_was_done(tmp_path):
    done = carried(tmp_path)
    who = {told_in(each).partition("called: ")[2].splitlines()[0]: each for each in done.asked}
    assert "You put what others have made into files" in who["types"].instructions
    assert "You write tests that find what is wrong" in who["cases"].instructions
    assert "You review a change" in who["check"].instructions
    assert "Do your part for this goal: Multiply and divide" in told_in(who["product"])
    assert "kinds.txt is there." in told_in(who["product"])


def test_t12_all_that_a_run_does_is_a_step_of_its_plan(tmp_path):
    done = carried(tmp_path)
    ids = {node.id for node in Index(framed(read_bytes(LABELS, "labels.yaml", "yaml").usable())).nodes}
    facts = asyncio.run(entries(tmp_path / "runs.db", done.result.id))
    started = [each for each in facts if isinstance(each, e.AttemptStarted)]
    ended = [each for each in facts if isinstance(each, e.AttemptEnded)]
    assert {each.step.partition("/")[0] for each in started} <= ids
    assert sum(each.usage.calls for each in ended if each.usage) == len(done.asked) == done.result.usage.calls
    wrote = [each for each in done.visits if "changes" in (each.output or {}) and each.step.count("/")]
    assert len(wrote) == len(WRITTEN)


async def entries(path, run):
    journal = await SqliteJournal.open(path)
    _, found = await journal.load(run)
    await journal.close()
    return [decode(each.type, each.body) for each in found]


def test_a_plan_that_says_all_of_it_is_left_as_it_is():
    own = {
        "inputs": {name: {"type": "string"} for name in ("goal", "test", "report", "seconds", "before", "options")},
        "steps": [
            {"id": "write", "agent": "code", "task": "Write it"},
            {"id": "free", "agent": "any", "skills": ["coding"], "task": "x"},
        ],
        "output": {"summary": "S", "changes": [], "rest": "R"},
    }
    plan = Plan.model_validate(own)
    assert completed(plan) == plan


def test_labels_from_python_and_titles_that_look_like_expressions_stay_texts():
    plan = completed(Plan.from_steps([LabelStep("gen_core", "code_agent")]))
    assert plan.steps[0].task.endswith("Your part is called: gen core")
    titled = {"steps": [{"id": "a", "agent": "code", "title": "Pay ${secrets.KEY}"}], "output": "${steps.a.output}"}
    told = completed(Plan.model_validate(titled))
    assert told.steps[0].task.endswith("Pay $${secrets.KEY}")
    assert told.output == "${steps.a.output}"
    assert json.dumps(told.canonical())

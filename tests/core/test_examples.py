"""The example plans and the workflow patterns run, also with a crash after every turn: same end, same outputs.

T1-T3, T5-T7, T9, T12, E2, E10.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from perdure.core.calls import Failure, Outcome
from perdure.plan import Plan
from perdure.plan.reading import read_text
from perdure.testing.worlds import Takes, World

ROOT = Path(__file__).parents[2]
UNAVAILABLE = Failure("unavailable", "nobody answers")
BROKEN = Failure("logic", "it broke")


@dataclass(frozen=True)
class Story:
    """A plan, what is given to it and what its steps give, and how that ends."""

    plan: str
    script: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    answers: tuple[Any, ...] = ()
    status: str = "succeeded"
    output: Any = None
    done: tuple[str, ...] | None = None
    by: str = ""


def good(score):
    return {"score": score}


RELEASE = {"version": "1.2", "notes_url": "https://example.com/notes"}
STORIES = {
    "T2 linear": Story("linear", {"analyze": "a", "implement": "code"}, {"request": "a parser"}, output="code"),
    "T3 the branching agent chooses": Story(
        "branching",
        {"planning": ["p1", "p2", "p3"], "choose": ["write_code", "write_tests", "complete"]},
        {"request": "a parser"},
        done=("planning", "choose", "write_code", "planning", "choose", "write_tests", "planning", "choose"),
        output="complete",
    ),
    "T3 a word that was not declared is no choice": Story(
        "branching",
        {"choose": "write_poems", "error_recovery": BROKEN},
        {"request": "a parser"},
        answers=("give_up",),
        status="failed",
        done=("planning", "choose", "error_recovery"),
    ),
    "T3 a person mends it": Story(
        "branching",
        {"planning": [BROKEN, "p"], "error_recovery": BROKEN, "choose": "complete"},
        {"request": "a parser"},
        answers=("plan_again",),
        done=("planning", "error_recovery", "planning", "choose"),
        output="complete",
    ),
    "T4 a failing memory never stops a run": Story(
        "memory", {"remember": UNAVAILABLE, "plan": "p", "implement": "i"}, {"request": "a parser"}, output="i"
    ),
    "T5 failing tests go back to generate": Story(
        "classic_loop",
        {"generate": ["v1", "v2"], "test": [{"code": 1}, {"code": 0}]},
        {"request": "a parser"},
        done=("generate", "apply", "test", "generate", "apply", "test"),
        output={"code": 0},
    ),
    "T5 a step that itself breaks ends the run": Story(
        "classic_loop", {"apply": BROKEN}, {"request": "a parser"}, status="failed", done=("generate", "apply")
    ),
    "T6 twelve components in order": Story("components", {"integrate": "whole"}, {"project": "a shop"}, output="whole"),
    "T7 parts at once, one may fail": Story(
        "parallel", {"web": BROKEN, "integrate": "whole"}, {"project": "a shop"}, output="whole"
    ),
    "T7 two may not": Story("parallel", {"web": BROKEN, "api": BROKEN}, {"project": "a shop"}, status="failed"),
    "T9 refine until complete": Story(
        "refinement",
        {"refine": [Outcome({"text": "a"}, "incomplete"), Outcome({"text": "b"}, "incomplete"), {"text": "c"}]},
        {"draft": "x"},
        done=("refine", "refine", "refine"),
        output="c",
    ),
    "T9 bounded by visits": Story(
        "refinement",
        {"refine": [Outcome({"text": word}, "incomplete") for word in "abcdef"]},
        {"draft": "x"},
        done=("refine",) * 6,
    ),
    "T10 straight through": Story(
        "large_project",
        {"quality_check": good(0.9), "core": {"commit": "c1"}},
        {"project": "a shop"},
        output=good(0.9),
    ),
    "T10 side states": Story(
        "large_project",
        {
            "plan_validation": [Outcome("no", "needs_work"), "ok"],
            "core": {"commit": "c1"},
            "integration": [BROKEN, "fine"],
            "tests": [BROKEN, "pass"],
            "quality_check": [good(0.2), good(0.9)],
        },
        {"project": "a shop"},
        output=good(0.9),
    ),
    "T10 a person starts over": Story(
        "large_project",
        {
            "core": {"commit": "c1"},
            "integration": [BROKEN, "fine"],
            "fix_integration": BROKEN,
            "quality_check": good(0.9),
        },
        {"project": "a shop"},
        answers=("start_over",),
        output=good(0.9),
    ),
    "M1 the lookup knows": Story(
        "assign_davis", {"look_up": {"domain": "law"}, "assign": {"before": {}}}, output={"before": {}}
    ),
    "M1 a person knows": Story(
        "assign_davis", {"look_up": {}, "assign": {"before": {}}}, answers=("law",), output={"before": {}}
    ),
    "A2 a diamond": Story(
        "prospect", {"recommendations": {"actions": ["call"]}}, {"prospect": "Acme"}, output={"actions": ["call"]}
    ),
    "A2 what is missing is left out": Story(
        "prospect",
        {"objections": UNAVAILABLE, "recommendations": {"actions": ["call"]}},
        {"prospect": "Acme"},
        output={"actions": ["call"]},
    ),
    "X the timer is set without the weather": Story(
        "weather_timer", {"weather": UNAVAILABLE, "timer": "set", "answer": "no weather"}, output="no weather"
    ),
    "a release": Story(
        "release", {"fetch": {"text": "n"}, "review": good(0.95), "publish": "url"}, RELEASE, output="url"
    ),
    "a release that is only just ready": Story(
        "release", {"fetch": {"text": "n"}, "review": good(0.85)}, RELEASE, output=None
    ),
    "a release that needs work": Story(
        "release",
        {
            "fetch": [UNAVAILABLE, UNAVAILABLE, {"text": "n"}],
            "tests": [BROKEN, "pass"],
            "review": [Outcome("no", "needs_work"), good(0.95)],
            "publish": "url",
        },
        RELEASE,
        output="url",
    ),
    "a fast release": Story(
        "release_fast", {"fetch": {"text": "n"}, "publish": "url"}, RELEASE, answers=("approved",), output="url"
    ),
    "everything at once": Story(
        "mixed",
        {
            "sources": {"hits": [{"url": "a"}, {"url": "b"}, {"url": "c"}]},
            "fetch": [UNAVAILABLE, {"text": "t"}],
            "draft": "text",
            "judge": [good(0.6), good(0.9)],
        },
        {"topic": "tides", "readers": ["ann"]},
        answers=("approved",),
        by="editor",
        output="text",
    ),
    "everything at once, and taken back": Story(
        "mixed",
        {"sources": {"hits": []}, "draft": "text", "judge": good(0.9)},
        {"topic": "tides"},
        answers=("rejected",),
        by="editor",
        status="failed",
    ),
}


def told(story, **world):
    """The story, up to its end."""
    plan = Plan.load(ROOT / "examples/plans" / f"{story.plan}.yaml")
    told = World(plan, story.script, **world).start(story.inputs)
    answers = list(story.answers)
    while True:
        if told.state.questions and answers:
            told.answer(answers.pop(0), by=story.by)
        elif not told.step():
            return told


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_every_example_runs_and_ends_as_it_should(story):
    world = told(story)
    assert world.status == story.status, world.failure
    if story.status == "succeeded":
        assert world.output == story.output
    if story.done is not None:
        assert tuple(world.done()) == story.done


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_crash_after_every_turn_changes_nothing(story):
    assert told(story, forgetful=True).facts == told(story).facts


def test_every_example_has_a_story():
    assert {story.plan for story in STORIES.values()} == {
        path.stem for path in (ROOT / "examples/plans").glob("*.yaml")
    }


# ------------------------------------------------------------------------------- patterns

PATTERNS = {
    plan.name: plan
    for block in re.findall(
        r"^```yaml\n(.*?)^```$", (ROOT / "docs/reference/patterns.md").read_text(), re.MULTILINE | re.DOTALL
    )
    for plan in [read_text(block).plan]
}
OUTPUTS = {
    "sequence": "Sent: A report on three figures",
    "parallel_split": {"bill": "Bill for order 17", "pack": "Parcel with order 17"},
    "synchronization": "Shipped: paid and packed",
    "exclusive_choice": "Pay 120",
    "simple_merge": "charged null",
    "multi_choice": {"police": None, "ambulance": "Ambulance to Main Street 5", "engine": "Engine to Main Street 5"},
    "structured_synchronizing_merge": {"ambulance": "ambulance", "police": None},
    "implicit_termination": {"kitchen": "locked", "till": "counted"},
    "instances_known_in_the_plan": ["Figures of north", "Figures of south", "Figures of west"],
    "instances_known_in_the_run": ["File 0: a.txt", "File 1: b.txt", "File 2: c.txt"],
    "deferred_choice": "mail_came",
    "cancel_task": "report",
    "cancel_case": None,
    "structured_loop": "polished",
    "persistent_trigger": "Built with permit permit",
    "cancel_region": {"backup": 30, "deployment": {"servers": 10, "database": 20, "alarm": None}},
    "cancelling_discriminator": {"north_lab": None, "south_lab": 1, "west_lab": None},
    "cancelling_partial_join": {"first_dealer": 1, "second_dealer": 2, "third_dealer": None},
    "static_partial_join": [1, 2, None],
    "cancelling_partial_join_of_instances": [1, 2, None, None],
    "local_synchronizing_merge": {
        "admit": "patient 9",
        "blood": None,
        "scan": "x-ray",
        "consult": None,
        "diagnosis": {"consult": None, "scan": "x-ray"},
        "invoice": {"blood": None, "scan": "x-ray"},
    },
    "critical_section": {"letter": "letter", "label": "label"},
}
SIGNALS = {
    "deferred_choice": ["mail_came"],
    "cancel_task": ["enough"],
    "cancel_case": ["withdraw"],
    "persistent_trigger": ["permit"],
}


class Sleeper(World):
    """Knows `time.sleep` and `flow.echo`, as the built-in tools are."""

    def _scripted(self, command):
        call = self._call(command)
        if call.name == "time.sleep":
            return Takes(call.arguments["seconds"], call.arguments["seconds"])
        return call.arguments["value"]


def patterned(plan, **world):
    told = Sleeper(plan, **world).start()
    for name in SIGNALS.get(plan.name, ()):
        told.signal(name, name)
    return told.run()


def test_all_22_patterns_are_told():
    assert len(PATTERNS) == 22
    assert set(PATTERNS) == set(OUTPUTS)


@pytest.mark.parametrize("plan", PATTERNS.values(), ids=PATTERNS)
def test_every_pattern_runs(plan):
    world = patterned(plan)
    assert world.status == ("failed" if plan.name == "cancel_case" else "succeeded")
    assert world.output == OUTPUTS[plan.name]
    assert patterned(plan, forgetful=True).facts == world.facts


def test_the_losers_of_a_quorum_are_undone():
    world = patterned(PATTERNS["cancelling_partial_join_of_instances"])
    assert world.done("undo") == ["rooms/1[3].hold", "rooms/1[2].hold"]


def test_an_alarm_takes_the_deployment_back_and_leaves_the_backup_alone():
    world = Sleeper(PATTERNS["cancel_region"]).start()
    world.pass_time(0)
    while world.exit_of("servers") != "success":
        world.step()
    world.signal("alarm")
    world.run()
    assert world.done("undo") == ["servers"]
    assert world.exit_of("database") == "cancelled"
    assert world.exit_of("put_back") == "success"
    assert world.exit_of("backup") == "success"


def test_two_never_print_at_once():
    world = patterned(PATTERNS["critical_section"])
    inside = [each for each in world.exits() if each[0] in {"letter_out", "label_out"}]
    assert len(inside) == 2
    taken = [
        (event.type, event.step)
        for event in world.events
        if event.type in {"locks_taken", "step_ended"} and event.step in {"print_letter", "print_label"}
    ]
    assert [kind for kind, _ in taken] == ["locks_taken", "step_ended"] * 2

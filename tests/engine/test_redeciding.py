"""E4 E9: every turn of a run is decided again, and a rule that has changed is found."""

from pathlib import Path

import pytest
from golden_runs import NEW_NAMES, RUNS, STRATEGIES, TOOLS, twice

import perdure.engine.engine as front
from perdure import Engine, Limits, Plan, tool
from perdure.core import events as e
from perdure.core import ladder
from perdure.core.calls import Failure
from perdure.engine import forking
from perdure.engine.knowing import knowledge_of
from perdure.engine.redeciding import NotKnown, redecide
from perdure.journal import MemoryJournal
from perdure.testing.clock import run as in_no_time
from perdure.testing.scripted import Scripted

GOLDEN = Path(__file__).parents[1] / "golden"
WORLD = {"tools": TOOLS, "performer": Scripted()}


OTHERWISE = {"order", "people", "crashes", "undone", "tried_again", "grown", "recovered", "strayed"}
"""Golden journals that an earlier release decided by other rules."""


def world_of(name):
    planning = {"agent_planning": True, "adjust": twice} if name == "adjusted" else {}
    renamed = NEW_NAMES if name == "renamed" else {}
    return {**WORLD, "strategies": STRATEGIES.get(name, {}), **planning, **renamed}


@pytest.mark.parametrize("name", [recipe.__name__ for recipe in RUNS])
async def test_golden_journals_are_told_apart_by_the_rules_they_were_decided_by(name):
    async with Engine.open(journal=MemoryJournal(), idle=True, **world_of(name)) as engine:
        lines = (GOLDEN / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
        run = await engine.journal.take_in(lines)
        found = await engine.redecide(run.id)
        assert (found.difference is None) is (name not in OTHERWISE)
        assert found.difference or found.facts == run.head_seq


async def test_names_that_a_run_was_told_of_hold_from_then_on():
    async with Engine.open(journal=MemoryJournal(), idle=True, **world_of("renamed")) as engine:
        run = await engine.journal.take_in((GOLDEN / "renamed.jsonl").read_bytes().splitlines(keepends=True))
        facts = [(e.decode(each.type, each.body), each.at) for each in await engine.journal.read(run.id)]
        assert redecide(run.id, engine.host.rules, facts).difference is None


@pytest.mark.parametrize("recipe", RUNS, ids=lambda recipe: recipe.__name__)
def test_what_is_done_today_would_be_decided_the_same_today(recipe, monkeypatch):
    async def story():
        disk = MemoryJournal()
        for place in (front, forking):
            monkeypatch.setattr(place, "new_id", lambda *_: "r_golden")
        await recipe(disk)
        async with Engine.open(journal=disk, idle=True, **world_of(recipe.__name__)) as engine:
            assert (await engine.redecide("r_golden")).difference is None

    in_no_time(story())


TRIED = Plan.model_validate(
    {"steps": [{"id": "a", "agent": "x", "retry": {"attempts": 3, "wait": "1ms"}}, {"id": "b", "agent": "x"}]}
)


async def test_a_rule_that_has_changed_is_found(monkeypatch):
    script = Scripted({"a": [Failure("transient", "busy"), 1]}, default=2)
    async with Engine.open(performer=script) as engine:
        run = await engine.start(TRIED)
        assert (await run.result()).ok
        assert (await engine.redecide(run.id)).difference is None
        monkeypatch.setitem(ladder.OWN, "transient", ())
        found = (await engine.redecide(run.id)).difference
        assert (found.turn, found.message, found.seq) == (2, "attempt_ended", 3)
        assert [each.type for each in found.recorded] == ["attempt_ended", "retry_planned"]
        assert [each.type for each in found.decided][:2] == ["attempt_ended", "step_ended"]


async def test_what_a_tool_declares_is_a_rule_too():
    def made(repeat):
        @tool(name="re.pay", repeat=repeat)
        async def pay_() -> None:
            """Pay."""

        return pay_

    async with Engine.open(tools=[made("never")], journal=(journal := MemoryJournal())) as engine:
        run = await engine.start(Plan.model_validate({"steps": [{"id": "a", "tool": "re.pay"}]}))
        await run.result()
        rules = engine.host.rules
    facts = [(e.decode(each.type, each.body), each.at) for each in await journal.read(run.id)]
    lost = [*facts[:2], (e.AttemptLost(step="a"), 2**41)]
    assert redecide(run.id, rules, lost).difference is None, "somebody may have heard of it who does not know the tool"
    later = e.RetryPlanned(step="a", visit=1, attempt=1, due=2**41 + 5_000)
    lost = [*lost, (later, 2**41)]
    asked = redecide(run.id, rules, lost).difference
    assert [each.type for each in asked.decided] == ["attempt_lost", "question_asked"]
    rules.repeat = knowledge_of([made("safe")], {}, {}, {}).repeat
    again = redecide(run.id, rules, lost).difference
    assert [each.type for each in again.decided] == ["attempt_lost", "retry_planned", "attempt_started"]


async def test_room_and_locks_of_the_moment_are_found_out():
    steps = [{"id": f"s{n}", "agent": "x", **({"locks": ["door"]} if n % 2 else {})} for n in range(8)]
    plan = Plan.model_validate({"parallel": steps})
    async with Engine.open(performer=Scripted(default=1), limits=Limits(run=2, total=3)) as engine:
        runs = [await engine.start(plan) for _ in range(3)]
        for run in runs:
            assert (await run.result()).ok
        for run in runs:
            assert (await engine.redecide(run.id)).difference is None


async def test_forks_can_be_decided_again():
    script = Scripted({"a": [Failure("denied", "no"), 1]}, default=2)
    async with Engine.open(performer=script) as engine:
        old = await engine.start(TRIED)
        await old.result()
        for at in range(1, (await engine.journal.run(old.id)).head_seq):
            new = await engine.fork(old.id, at=at)
            await new.result()
            assert (await engine.redecide(new.id)).difference is None


async def test_what_is_not_known_here_is_said():
    @tool(name="re.only_there")
    async def only_there() -> None:
        """Be somewhere else."""

    async with Engine.open(tools=[only_there], journal=(journal := MemoryJournal())) as engine:
        run = await engine.start(Plan.model_validate({"steps": [{"id": "a", "tool": "re.only_there"}]}))
        await run.result()
        lines = [line async for line in journal.export(run.id)]
    async with Engine.open(idle=True) as engine:
        await engine.journal.take_in(lines)
        with pytest.raises(NotKnown, match=r"re\.only_there"):
            await engine.redecide(run.id)

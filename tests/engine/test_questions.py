"""T3 E14: a question says what follows from each answer; it is asked once, answered once, and nothing is done again."""

import asyncio
import threading
from pathlib import Path

import pytest
from driven import tool as step

from perdure import Context, Engine, Plan, tool
from perdure.control import OwnerRefused, ask, socket_of
from perdure.core.calls import Approval, Failure, Outcome
from perdure.core.consulting import ANSWERS
from perdure.core.refusing import Answered, BadAnswer, NoQuestion, Over
from perdure.engine import View
from perdure.engine.asking import inquiry
from perdure.journal import MemoryJournal
from perdure.testing.clock import FakeClock, run
from perdure.testing.crashes import Disk, Fault, crashing
from perdure.testing.replays import assert_replays
from perdure.testing.scripted import Scripted
from perdure.testing.worlds import LOST, NOON, World

pytestmark = pytest.mark.anyio
MAY_IT = Outcome(exit="failure", approval=Approval("d1", "it wants to write x"))
DAY = 86_400


def seen_in(plan, script=None, **dials):
    world = World(plan, script, **dials).start()
    while not world.state.questions:
        assert world.step()
    [question] = world.state.questions.values()
    return inquiry(world.state, question)


def asking(*more, plan=None, **ask):
    return seen_in({"steps": [{"id": "q", "ask": "Well?", **ask}, *more], **(plan or {})})


# ------------------------------------------------------------------------------- what each answer does

NEXT = step("b")


@pytest.mark.parametrize(
    ("ask", "answers"),
    [
        ({}, {"approved": "goes on with b", "rejected": "fails, and the run with it"}),
        ({"on": {"rejected": "b", "approved": "done"}}, {"approved": "the run is over", "rejected": "goes on with b"}),
        ({"on": {"rejected": "fail"}}, {"approved": "goes on with b", "rejected": "the run fails"}),
        ({"choices": ["b", "other"]}, {"b": "goes on with b", "other": "goes on with b"}),
        ({"answer": "text"}, {"TEXT": "goes on with b"}),
        ({"form": {"type": "object"}}, {"FORM": "goes on with b"}),
        ({"recovery": {"other": ["continue"]}}, {"approved": "goes on with b", "rejected": "fails; its recovery says what follows"}),
    ],
)  # fmt: skip
def test_a_step_that_asks_says_where_each_answer_leads(ask, answers):
    seen = asking(NEXT, **ask)
    assert (dict(seen.answers), seen.due, seen.silence, seen.after) == (answers, None, "", None)


def test_the_last_step_and_groups_are_told_too():
    assert dict(asking().answers)["approved"] == "the run is over"
    inner = {"id": "g", "steps": [{"id": "q", "ask": "Well?"}], "on": {"failure": "b"}}
    seen = seen_in({"steps": [inner, NEXT]})
    assert dict(seen.answers) == {"approved": "g is over", "rejected": "fails, and g with it, which goes on with b"}
    seen = seen_in({"steps": [{"id": "g", "steps": [{"id": "q", "ask": "Well?", "on": {"rejected": "fail"}}]}]})
    assert dict(seen.answers)["rejected"] == "g fails"


def test_in_a_graph_it_is_told_who_waits():
    seen = seen_in({"mode": "graph", "steps": [{"id": "q", "ask": "Well?"}, step("b", needs=["q"])]})
    assert dict(seen.answers) == {"approved": "is done, which b waited for", "rejected": "fails"}
    both = [{"id": "q", "ask": "Well?"}, {"id": "w", "wait": {"signal": "s"}}]
    seen = seen_in({"steps": [{"id": "g", "parallel": both}]})
    assert dict(seen.answers) == {
        "approved": "is done; no other step waited for it",
        "rejected": "fails; g decides what follows",
    }


@pytest.mark.parametrize(
    ("ask", "silence"),
    [
        ({}, "it has expired: fails, and the run with it"),
        ({"on": {"expired": "b"}}, "it has expired: goes on with b"),
        ({"default": "rejected"}, "its default rejected holds: fails, and the run with it"),
        ({"default": "some words", "answer": "text"}, "its default holds: goes on with b"),
    ],
)
def test_until_when_and_what_silence_means(ask, silence):
    seen = asking(NEXT, deadline="1h", **ask)
    assert (seen.due, seen.silence) == (NOON + 3_600_000, silence)


def test_while_a_run_is_paused_no_hour_is_promised():
    world = World({"steps": [{"id": "q", "ask": "Well?", "deadline": "1h"}]}).start()
    world.pause()
    [question] = world.state.questions.values()
    assert inquiry(world.state, question).due is None
    world.now += 500
    world.resume()
    assert inquiry(world.state, question).due == NOON + 3_600_500


ALT = {"tool": "x.alt"}


@pytest.mark.parametrize(
    ("more", "leads"),
    [
        ({}, "fails, and the run with it"),
        ({"alternates": [ALT]}, "goes on in another way"),
        ({"simpler": ALT, "recovery": {"denied": ["simplify"]}}, "goes on in its simpler way"),
        ({"recovery": {"denied": ["retry"]}}, "is tried again"),
        ({"recovery": {"denied": ["ask"]}}, "fails, and a person is asked how to go on"),
        ({"recovery": {"denied": ["rollback"]}}, "fails, and what was done is taken back"),
        ({"alternates": [ALT], "recovery": {"denied": ["fail", "alternate"]}}, "fails; its recovery says what follows"),
        ({"on": {"failure": "b"}, "alternates": [ALT]}, "goes on in another way"),
        ({"on": {"failure": "b"}}, "goes on with b"),
    ],
)  # fmt: skip
def test_one_who_says_no_is_told_what_there_is_besides(more, leads):
    step_ = {"id": "q", "tool": "x.y", **more}
    seen = seen_in({"steps": [step_, NEXT]}, {"q": MAY_IT})
    assert dict(seen.answers)["rejected"] == f"it is not done: {leads}"


def test_a_group_around_may_go_another_way():
    group = {"id": "g", "steps": [{"id": "q", "tool": "x.y"}], "alternates": [ALT]}
    seen = seen_in({"steps": [group]}, {"q": MAY_IT})
    assert dict(seen.answers)["rejected"] == "it is not done: fails, and g with it, which goes on in another way"


def test_whoever_lets_nobody_judge_does_not_have_it_done_in_another_way():
    step_ = {"id": "q", "tool": "x.y", "accept": [{"tool": "x.judge"}], "alternates": [ALT]}
    seen = seen_in({"steps": [step_, NEXT]}, {"q": 1, "q~": MAY_IT})
    assert dict(seen.answers) == {
        "approved": "what the step gave is judged, exactly so",
        "rejected": "it is not judged: fails, and the run with it",
    }


WITHIN = {"questions": {"within": "1h"}}


def test_a_doubt():
    seen = seen_in({"steps": [step("a"), NEXT], **WITHIN}, {"a": LOST}, repeat="never")
    assert dict(seen.answers)["happened"] == "it had its effect; goes on with b"
    assert dict(seen.answers)["give_up"] == "the step fails, and what it did stays: fails, and the run with it"
    assert seen.silence == "the step fails, and what it did stays: fails, and the run with it"


def test_a_rule():
    seen = seen_in({"steps": [step("a"), NEXT], **WITHIN}, {"a": [MAY_IT, 1]})
    rejected = "it is not done: fails, and the run with it"
    assert dict(seen.answers) == {"approved": "it is done, exactly so", "rejected": rejected}
    assert seen.silence == f"as if rejected: {rejected}"


def test_a_rule_about_taking_back():
    steps = [
        {"id": "k", "checkpoint": True},
        step("a", undo={"tool": "x.back", "with": {}}),
        {"id": "r", "rollback": "k"},
    ]
    seen = seen_in({"steps": steps}, {"a!": [MAY_IT, 1]})
    assert dict(seen.answers) == {"approved": "it is taken back, exactly so", "rejected": "it stays as it is"}


def test_a_budget():
    seen = seen_in({"steps": [step("a"), NEXT], "budget": {"steps": 1, "then": "ask"}, **WITHIN})
    assert list(dict(seen.answers)) == ["NUMBER", "finish", "fail"]
    assert seen.silence == "as if fail were answered: the run fails"
    group = {"id": "g", "steps": [step("a"), NEXT], "budget": {"steps": 1, "then": "ask"}}
    assert dict(seen_in({"steps": [group]}).answers)["fail"] == "it fails: fails, and the run with it"


def test_a_failure():
    plan = {"steps": [step("a", recovery={"logic": ["ask"]})], "questions": {"within": "1h", "to": ["anna"]}}
    world = World(plan, {"a": [Failure("logic", "no"), 1]}).start()
    world.perform(world.commands()[0])
    seen = inquiry(*_open(world))
    assert dict(seen.answers) == ANSWERS
    assert (seen.silence, seen.asked.people) == ("as if fail were answered: the step fails", ("anna",))
    assert seen.due == NOON + 3_600_000
    world.pass_time(3_600)
    assert (world.run().status, world.failure.kind) == ("failed", "logic")


# ------------------------------------------------------------------------------- manual intervention

MEND = {"id": "mend", "ask": "What now?", "answer": "text"}
FLAKY = step("a", retry={"attempts": 3, "wait": "1s"}, on={"failure": "mend", "success": "done"})


def test_t3_whoever_is_asked_after_a_failure_sees_it_and_what_was_tried():
    world = World({"steps": [FLAKY, MEND], "output": "${steps.mend.output}"}, {"a": Failure("transient", "refused")})
    after = inquiry(*_open(world.run())).after
    assert (after.step, after.kind, after.message, after.attempts) == ("a", "transient", "refused", 3)
    world.answer("by hand")
    assert world.output == "by hand"


def _open(world):
    [question] = world.state.questions.values()
    return world.state, question


def test_t3_the_step_inside_a_group_is_named_and_a_group_that_begins_with_a_question_is_seen_through():
    inside = {"id": "g", "steps": [step("a")], "on": {"failure": "by_hand", "success": "done"}}
    by_hand = {"id": "by_hand", "steps": [MEND]}
    world = World({"steps": [inside, by_hand]}, {"a": Failure("logic", "no")}).run()
    after = inquiry(*_open(world)).after
    assert (after.step, after.attempts) == ("a", 1)


def test_t3_nobody_is_told_of_a_failure_that_did_not_lead_there():
    good = World({"steps": [step("a"), MEND]}).run()
    assert inquiry(*_open(good)).after is None


# ------------------------------------------------------------------------------- asked once, answered once


def a_plan(*steps, **more):
    return Plan.model_validate({"steps": list(steps), **more})


SHIP = a_plan({"id": "ship", "ask": "Ship?"}, step("publish"), output="${steps.publish.output}")


async def test_the_same_answer_again_changes_nothing_and_another_one_hears_who_was_first():
    async with Engine.open(performer=Scripted(default="out")) as engine:
        started = await engine.start(SHIP)
        await started.rested()
        with pytest.raises(BadAnswer):
            await started.answer("q_ship_1", "perhaps", by="ann")
        assert await started.answer("q_ship_1", True, by="ann") is True
        assert (await started.result()).output == "out"
        assert await started.answer("q_ship_1", True, by="ann") is False, "also when the run is over"
        for value, by in [(False, "ann"), (True, "bob")]:
            with pytest.raises(Answered, match="was answered by ann: true"):
                await started.answer("q_ship_1", value, by=by)
        view = await View.of(engine.journal, started.id)
        assert view.put["q_ship_1"].answer.by == "ann"
        assert sum(entry.type == "question_answered" for entry in await engine.journal.read(started.id)) == 1


@pytest.mark.parametrize("last", [True, False], ids=["ends the run", "goes on"])
async def test_of_many_who_answer_at_once_one_wins_and_the_others_hear_who(last):
    plan = a_plan({"id": "ship", "ask": "Ship?", "answer": "text"}, *([] if last else [step("publish")]))
    script = Scripted(default=1)
    async with Engine.open(performer=script) as engine:
        started = await engine.start(plan)
        await started.rested()
        said = [started.answer("q_ship_1", name, by=name) for name in ("ann", "bob", "eve")]
        found = await asyncio.gather(*said, return_exceptions=True)
        assert [each for each in found if each is True] == [True]
        lost = [each for each in found if each is not True]
        assert all(isinstance(each, Answered) for each in lost), lost
        assert (await started.result()).ok


def test_of_two_threads_one_wins_and_the_other_hears_who(tmp_path):
    path, found = tmp_path / "runs.db", {}

    async def main():
        async with Engine.open(path, performer=Scripted(default=1)) as engine:
            started = await engine.start(SHIP)
            await started.rested()
            both = [threading.Thread(target=say, args=(name, started.id)) for name in ("ann", "bob")]
            for thread in both:
                thread.start()
            for thread in both:
                await asyncio.to_thread(thread.join, 60)
            return await started.result()

    def say(name, id_):
        message = {"do": "answer", "run": id_, "question": "q_ship_1", "value": name == "ann", "by": name}
        try:
            found[name] = asyncio.run(ask(socket_of(path), message, 60))["done"]
        except OwnerRefused as refusal:
            found[name] = (refusal.code, refusal.exit_code, refusal.message)

    result = asyncio.run(main())
    [winner] = [name for name, told in found.items() if told is True]
    loser = {"ann": "bob", "bob": "ann"}[winner]
    word = "true" if winner == "ann" else "false"
    assert found[loser] == ("PRD3008", 3, f"q_ship_1 was answered by {winner}: {word}")
    assert result.ok is (winner == "ann")


# ------------------------------------------------------------------------------- others go on


async def test_two_questions_side_by_side_repeat_nothing_and_hold_up_nobody(tmp_path):
    deeds = tmp_path / "deeds"

    @tool(name="deed.do", repeat="never")
    async def do(name: str) -> str:
        """Leave a line."""
        with deeds.open("a") as file:
            file.write(f"{name}\n")
        return name

    def branch(name):
        return {"id": name, "steps": [
            {"id": f"{name}1", "tool": "deed.do", "with": {"name": f"{name}1"}},
            {"id": f"{name}_ok", "ask": f"{name}?"},
            {"id": f"{name}2", "tool": "deed.do", "with": {"name": f"{name}2"}},
        ]}  # fmt: skip

    free = {"id": "free", "steps": [{"id": f"f{n}", "tool": "deed.do", "with": {"name": f"f{n}"}} for n in (1, 2, 3)]}
    plan = a_plan({"id": "all", "parallel": [branch("left"), branch("right"), free]})
    path = tmp_path / "runs.db"
    async with Engine.open(path, tools=[do]) as engine:
        started = await engine.start(plan)
        assert sorted((await started.rested()).questions) == ["q_left_ok_1", "q_right_ok_1"]
    assert sorted(lines(deeds)) == ["f1", "f2", "f3", "left1", "right1"], "the branch that asks nobody went on"
    for question in ("q_right_ok_1", "q_left_ok_1"):
        async with Engine.open(path, tools=[do], resume=True) as engine:
            await engine.answer(started.id, question, True)
            await engine.run(started.id).rested()
    assert sorted(lines(deeds)) == ["f1", "f2", "f3", "left1", "left2", "right1", "right2"]
    async with Engine.open(path, tools=[do]) as engine:
        await assert_replays(engine.journal, started.id)


def lines(path: Path):
    return path.read_text().splitlines()


# ------------------------------------------------------------------------------- time and death


def test_an_approval_comes_a_week_later_in_a_new_process():
    async def main():
        disk, script = MemoryJournal(), Scripted(default="out")
        async with crashing(disk, clock=FakeClock(), performer=script) as engine:
            started = await engine.start(SHIP)
            await started.rested()
        async with Engine.open(journal=Disk(disk), clock=FakeClock(NOON + 7 * DAY * 1000), performer=script) as engine:
            await engine.answer(started.id, "q_ship_1", True, by="ann")
            return await engine.run(started.id).result(), [call.step for call in script.made]

    result, made = run(main())
    assert (result.output, made) == ("out", ["publish"])


LATE = a_plan(
    {"id": "ship", "ask": "Ship?", "deadline": "1h", "default": "rejected", "on": {"rejected": "sorry"}},
    step("publish", on={"success": "done"}),
    step("sorry"),
)


@pytest.mark.parametrize("after", ["answer", "resume"])
def test_a_deadline_that_passes_while_nobody_is_there_holds_at_the_next_load(after):
    async def main():
        disk, script = MemoryJournal(), Scripted(default=1)
        async with crashing(disk, clock=FakeClock(), performer=script) as engine:
            started = await engine.start(LATE)
            await started.rested()
        for day in (1, 2):
            clock, all_ = FakeClock(NOON + day * DAY * 1000), after == "resume" or day == 2
            async with Engine.open(journal=Disk(disk), clock=clock, performer=script, resume=all_) as engine:
                if after == "answer" and day == 1:
                    with pytest.raises((NoQuestion, Over)):
                        await engine.answer(started.id, "q_ship_1", True)
                assert (await engine.run(started.id).result()).ok
        closed = [entry.body for entry in await disk.read(started.id) if entry.type == "question_closed"]
        return closed, [call.step for call in script.made]

    closed, made = run(main())
    assert (len(closed), made) == (1, ["sorry"])


def test_a_deadline_does_not_pass_while_the_run_is_paused():
    async def main():
        disk, script = MemoryJournal(), Scripted(default=1)
        async with crashing(disk, clock=FakeClock(), performer=script) as engine:
            started = await engine.start(LATE)
            await started.rested()
            await started.pause()
        clock = FakeClock(NOON + DAY * 1000)
        async with Engine.open(journal=Disk(disk), clock=clock, performer=script, resume=True) as engine:
            assert list((await engine.result(started.id)).questions) == ["q_ship_1"]
            await engine.resume(started.id)
            await engine.answer(started.id, "q_ship_1", True)
            assert (await engine.run(started.id).result()).ok
        return [call.step for call in script.made]

    assert run(main()) == ["publish"]


@pytest.mark.parametrize("fate", ["keep", "lose"])
def test_a_process_that_dies_with_the_answer_loses_nothing_and_repeats_nothing(fate):
    """`keep`: the answer is on the disk, and nobody was told. `lose`: it never got there, and the question is open."""

    async def main():
        disk, made = MemoryJournal(), []

        @tool(name="x.y", repeat="safe")
        async def do(context: Context) -> None:
            """Be counted."""
            made.append(context.step)

        plan = a_plan(step("build"), {"id": "ship", "ask": "Ship?"}, step("publish"))
        settings = {"clock": FakeClock(), "tools": [do]}
        async with crashing(disk, lambda _, turn: Fault(fate) if turn.answered else None, **settings) as engine:
            started = await engine.start(plan)
            await started.rested()
            dying = asyncio.ensure_future(engine.answer(started.id, "q_ship_1", True, by="ann"))
            await asyncio.sleep(1)
        dying.cancel()
        async with Engine.open(journal=Disk(disk), resume=True, **settings) as engine:
            news = await engine.answer(started.id, "q_ship_1", True, by="ann")
            assert (await engine.run(started.id).result()).ok
        return news, made, await disk.read(started.id)

    news, made, entries = run(main())
    assert (news, made) == (fate == "lose", ["build", "publish"])
    assert [entry.type for entry in entries].count("question_answered") == 1

"""E4: upgrade safety: the code around a run has changed between its start and its resume."""

import asyncio

import pytest

from perdure import Agent, Context, Engine, Plan, tool
from perdure.core.growth import Finish, Move
from perdure.core.refusing import NotMapped
from perdure.engine.upgrading import Gone
from perdure.plan.model.parts import Policy
from perdure.testing.models import ScriptedModel, calls
from perdure.testing.replays import assert_replays
from perdure.testing.scripted import Scripted

pytestmark = pytest.mark.anyio
ASK = {"id": "ok", "ask": "Go on?"}
SEND = {"id": "send", "tool": "mail.send", "with": {"to": "ann"}}


def made(name, function=None, **declared):
    """A tool that notes under which key it is called."""
    calls = []

    def note(to: str, context: Context) -> str:
        calls.append((to, context.key))
        return f"{name} to {to}"

    found = tool(name=name, **declared)(function or note)
    return found, calls


def a_plan(*steps, **more):
    return Plan.model_validate({"steps": list(steps), **more})


async def begun(path, plan, tools=(), **more):
    """A run that waits, and whose process has left."""
    async with Engine.open(path, tools=tools, **more) as engine:
        run = await engine.start(plan)
        await run.rested()
        return run.id


@pytest.fixture
def db(tmp_path):
    return tmp_path / "runs.db"


async def head(engine, run):
    return (await engine.journal.run(run)).head_seq


# ------------------------------------------------------------------------------- the loud stop


async def test_a_run_whose_tool_is_gone_stays_as_it_was_and_says_what_to_do(db):
    run = await begun(db, a_plan(ASK, SEND, {**SEND, "id": "again"}), [made("mail.send")[0]])
    async with Engine.open(db, tools=[made("mail.post")[0]]) as engine:
        before = await head(engine, run)
        with pytest.raises(Gone) as told:
            await engine.resume(run)
        assert await head(engine, run) == before
    [lack] = told.value.lacks
    assert (lack.kind, lack.name, lack.steps) == ("tool", "mail.send", ("send", "again"))
    assert 'did you mean "mail.post"?' in told.value.message
    for way in ("--tools", f"perdure resume {run} --map mail.send=", f"perdure edit {run}", f"perdure cancel {run}"):
        assert way in told.value.help
    assert told.value.exit_code == 6


async def test_everything_that_is_missing_is_told_at_once(db):
    step = {"id": "a", "tool": "a.x", "alternates": [{"tool": "b.x"}], "simpler": {"tool": "c.x"},
            "undo": {"tool": "d.x"}, "accept": [{"tool": "e.x"}]}  # fmt: skip
    plan = a_plan(ASK, step, {"id": "p", "plan": "other"}, {"id": "q", "plan": {"steps": [{"id": "f", "tool": "f.x"}]}})
    inner = a_plan({"id": "g", "tool": "g.x"})
    run = await begun(db, plan, performer=Scripted({}), plans={"other": inner})
    async with Engine.open(db, plans={"another": inner}) as engine:
        with pytest.raises(Gone) as told:
            await engine.resume(run)
    assert {each.name for each in told.value.lacks} == {"a.x", "b.x", "c.x", "d.x", "e.x", "f.x", "other"}
    async with Engine.open(db, plans={"other": inner}) as engine:
        with pytest.raises(Gone) as told:
            await engine.resume(run)
    assert "g.x" in {each.name for each in told.value.lacks}


async def test_what_only_finished_steps_have_called_may_be_gone(db):
    old, calls = made("mail.send")
    run = await begun(db, a_plan(SEND, ASK, {"id": "end", "tool": "flow.echo", "with": {"value": 1}}), [old])
    async with Engine.open(db) as engine:
        await engine.resume(run)
        await engine.answer(run, "q_ok_1", True)
        assert (await engine.run(run).result()).output == 1
    assert len(calls) == 1


async def test_what_was_done_in_a_tools_own_way_must_be_taken_back_by_somebody(db):
    old, _ = made("mail.send", undo=lambda key: None)
    run = await begun(db, a_plan(SEND, ASK), [old])
    for tools, why in (([], "no tool"), ([made("mail.send")[0]], "no way to take back")):
        async with Engine.open(db, tools=tools) as engine:
            with pytest.raises(Gone, match=why):
                await engine.resume(run)
            with pytest.raises(Gone, match=why):
                await engine.rollback(run)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"to": "ann"}, 'has no argument "to"'),
        ({}, 'needs the argument "whom"'),
        ({"whom": 5}, ""),  # as for a start, the tool says so itself
        ({"whom": "ann"}, ""),
        ({"whom": "${inputs.x}"}, ""),
    ],
)
async def test_a_tool_that_does_not_take_what_it_will_be_given_is_as_good_as_gone(db, given, why):
    def other(whom: str) -> str:
        return whom

    step = {"id": "send", "tool": "mail.send", "with": given}
    plan = a_plan(ASK, step, inputs={"x": {"type": "string", "default": "ann"}})
    run = await begun(db, plan, performer=Scripted({}))
    async with Engine.open(db, tools=[made("mail.send", other)[0]]) as engine:
        if why:
            with pytest.raises(Gone, match=why):
                await engine.resume(run)
        else:
            assert await engine.resume(run) == [run]


async def cut_off(path, *plans, name="mail.send", repeat="keyed"):
    """Runs whose process has left while a tool was at work in each of them, and the keys it was called with."""
    keys, begun_all = [], asyncio.Event()

    async def hang(to: str, context: Context) -> str:
        keys.append(context.key)
        if len(keys) == len(plans):
            begun_all.set()
        return await asyncio.Event().wait()

    async with Engine.open(path, tools=[made(name, hang, repeat=repeat)[0]], patience=0) as engine:
        runs = [(await engine.start(plan)).id for plan in plans]
        await begun_all.wait()
    return runs, keys


async def test_all_others_go_on_and_those_that_cannot_are_told(db, caplog):
    [gone], _ = await cut_off(db, a_plan(SEND))
    [other], _ = await cut_off(db, a_plan({**SEND, "tool": "post.letter"}), name="post.letter")
    waits = await begun(db, a_plan(ASK, SEND), [made("mail.send")[0]])
    async with Engine.open(db, tools=[made("post.letter", repeat="keyed")[0]], resume=True) as engine:
        assert (await engine.run(other).result()).output == "post.letter to ann"
        assert list(engine.left) == [gone]
        assert engine.left[gone].code == "PRD3204"
        assert [gone in record.message for record in caplog.records if "does not go on" in record.message] == [True]
        assert (await engine.result(gone)).status == "running"
        with pytest.raises(Gone):
            await engine.resume(waits)
    async with Engine.open(db, tools=[made("mail.send", repeat="keyed")[0]], resume=True) as engine:
        assert (await engine.run(gone).result()).output == "mail.send to ann"


async def test_a_process_without_the_tools_still_hands_on_messages_and_judges_nothing(db):
    run = await begun(db, a_plan(ASK, SEND), [made("mail.send")[0]])
    async with Engine.open(db) as engine:
        await engine.answer(run, "q_ok_1", True)
        await engine.pause(run)
        with pytest.raises(Gone):
            await engine.resume(run)
        assert (await engine.result(run)).status == "paused"
    async with Engine.open(db, tools=[made("mail.send")[0]]) as engine:
        await engine.resume(run)
        assert (await engine.run(run).result()).output == "mail.send to ann"


async def test_an_edit_that_takes_out_what_is_gone_lets_it_go_on_in_the_same_process(db):
    run = await begun(db, a_plan(ASK, SEND), [made("mail.send")[0]])
    async with Engine.open(db) as engine:
        with pytest.raises(Gone):
            await engine.resume(run)
        await engine.revise(run, [{"remove": "send"}], by="ann")
        await engine.resume(run)
        await engine.answer(run, "q_ok_1", True)
        assert (await engine.run(run).result()).ok


async def test_a_retry_and_a_fork_look_at_what_they_will_call(db):
    fails = {"id": "fails", "tool": "flow.fail", "with": {"message": "no", "kind": "logic"}}
    run = await begun(db, a_plan(SEND, fails, {"id": "post", "tool": "mail.post"}), performer=Scripted({"send": 1}))
    async with Engine.open(db) as engine:
        for step, missing in (("", {"mail.post"}), ("send", {"mail.post", "mail.send"})):
            with pytest.raises(Gone) as told:
                await engine.retry(run, step)
            assert {each.name for each in told.value.lacks} == missing
        with pytest.raises(Gone):
            await engine.fork(run)
        fork = await engine.fork(run, plan=a_plan(SEND, fails))
        assert (await fork.result()).status == "failed"


# ------------------------------------------------------------------------------- what it is called now


async def test_a_name_that_was_mapped_holds_for_every_later_process_and_for_forks(db):
    old, _ = made("mail.send")
    new, calls = made("mail.post")
    run = await begun(db, a_plan(ASK, SEND, {**ASK, "id": "sure"}, {**SEND, "id": "last"}), [old])
    async with Engine.open(db, tools=[new]) as engine:
        await engine.resume(run, by="ann", map={"mail.send": "mail.post"})
        await engine.answer(run, "q_ok_1", True)
        await engine.run(run).rested()
    async with Engine.open(db, tools=[new], resume=True) as engine:
        assert not engine.left
        fork = await engine.fork(run)
        for each in (run, fork.id):
            await engine.answer(each, "q_sure_1", True)
            assert (await engine.run(each).result()).output == "mail.post to ann"
        state = await assert_replays(engine.journal, run)
    assert (len(calls), state.names.tools) == (3, {"mail.send": "mail.post"})


async def test_a_deed_that_was_begun_under_the_old_name_keeps_its_key(db):
    [run], keys = await cut_off(db, a_plan(SEND))
    new, calls = made("mail.post", repeat="keyed")
    async with Engine.open(db, tools=[new]) as engine:
        before = await head(engine, run)
        with pytest.raises(Gone):
            await engine.resume(run)
        assert await head(engine, run) == before
        await engine.resume(run, map={"mail.send": "mail.post"})
        assert (await engine.run(run).result()).output == "mail.post to ann"
    assert [key for _, key in calls] == keys


@pytest.mark.parametrize(("repeat", "asks"), [("safe", 0), ("keyed", 0), ("never", 1)])
async def test_who_only_hands_on_a_message_does_not_judge_what_a_crash_has_cut_off(db, repeat, asks):
    [run], _ = await cut_off(db, a_plan(SEND), repeat=repeat)
    async with Engine.open(db, idle=True) as engine:
        await engine.pause(run)
        assert not (await engine.host.runner(run)).state.questions
    async with Engine.open(db, tools=[made("mail.send", repeat=repeat)[0]]) as engine:
        await engine.resume(run)
        assert len((await engine.run(run).rested()).questions) == asks


@pytest.mark.parametrize("repeat", ["safe", "keyed", "never"])
async def test_what_a_stranger_has_cancelled_after_a_crash_can_still_be_taken_back(db, repeat):
    undone = []

    def take_back(to: str, key: str) -> None:
        undone.append((to, key))

    [run], keys = await cut_off(db, a_plan(SEND), repeat=repeat)
    async with Engine.open(db, idle=True) as engine:
        await engine.cancel(run)
        assert (await engine.result(run)).status == "cancelled"
    async with Engine.open(db, tools=[made("mail.send", repeat=repeat, undo=take_back)[0]]) as engine:
        await engine.rollback(run)
        assert (await engine.run(run).result()).status == "rolled_back"
        assert (await engine.redecide(run)).difference is None
    assert undone == [("ann", key) for key in keys]


async def test_what_the_old_tool_did_is_taken_back_by_the_new_one_under_its_key(db):
    undone = []

    def take_back(to: str, key: str) -> None:
        undone.append((to, key))

    old, calls = made("mail.send", undo=take_back)
    run = await begun(db, a_plan(SEND, ASK), [old])
    async with Engine.open(db, tools=[made("mail.post", undo=take_back)[0]]) as engine:
        await engine.resume(run, map={"mail.send": "mail.post"})
        await engine.rollback(run)
        assert (await engine.run(run).result()).status == "rolled_back"
    assert undone == calls


async def test_a_run_that_cannot_go_on_can_still_be_taken_back(db):
    undone = []

    def take_back(key: str) -> None:
        undone.append(key)

    first = {"id": "first", "tool": "mail.post", "with": {"to": "eve"}}
    kept, calls = made("mail.post", undo=take_back)
    run = await begun(db, a_plan(first, ASK, SEND), [kept, made("mail.send")[0]])
    async with Engine.open(db, tools=[kept]) as engine:
        with pytest.raises(Gone):
            await engine.resume(run)
        await engine.rollback(run)
        assert (await engine.run(run).result()).status == "rolled_back"
    assert undone == [key for _, key in calls]


@pytest.mark.parametrize(("wants", "is_there"), [("to", True), ("subject", False), ("output", True)])
async def test_a_way_back_must_have_been_told_what_it_wants(db, wants, is_there):
    def other(to: str, subject: str = "") -> str:
        return to + subject

    back = {"to": lambda to: None, "subject": lambda subject: None, "output": lambda output, more=1: None}[wants]
    run = await begun(db, a_plan(SEND, ASK), [made("mail.send", undo=lambda to: None)[0]])
    async with Engine.open(db, tools=[made("mail.send", other, undo=back)[0]]) as engine:
        if is_there:
            assert await engine.resume(run) == [run]
        else:
            with pytest.raises(Gone, match="wants subject, which was not kept"):
                await engine.resume(run)


async def test_names_of_a_run_that_is_over_can_be_mapped_to_take_it_back(db):
    undone = []

    def take_back(key: str) -> None:
        undone.append(key)

    old, calls = made("mail.send", undo=take_back)
    run = await begun(db, a_plan(SEND), [old])
    async with Engine.open(db, tools=[made("mail.post", undo=take_back)[0]]) as engine:
        with pytest.raises(Gone):
            await engine.rollback(run)
        await engine.resume(run, map={"mail.send": "mail.post"})
        assert (await engine.result(run)).status == "succeeded"
        await engine.rollback(run)
        assert (await engine.run(run).result()).status == "rolled_back"
        await assert_replays(engine.journal, run)
    assert undone == [key for _, key in calls]


@pytest.mark.parametrize(
    ("map_", "error", "why"),
    [
        ({"mail.send": "mail.pots"}, NotMapped, 'there is no tool "mail.pots"'),
        ({"mail.sent": "mail.post"}, NotMapped, "nothing that is left"),
        ({"mail.send": "mail.send"}, NotMapped, "itself already"),
        ({"mail.send": "mail.both"}, Gone, 'needs the argument "subject"'),
        ({"mail.send": "mail.count"}, Gone, "does not take what it is given"),
    ],
)
async def test_what_does_not_help_is_refused_with_the_reason_and_nothing_is_written(db, map_, error, why):
    def both(to: str, subject: str) -> str:
        return to + subject

    def count(to: int) -> int:
        return to

    run = await begun(db, a_plan(ASK, SEND), [made("mail.send")[0]])
    tools = [made("mail.post")[0], made("mail.both", both)[0], made("mail.count", count)[0]]
    async with Engine.open(db, tools=tools) as engine:
        before = await head(engine, run)
        with pytest.raises(error, match=why):
            await engine.resume(run, map=map_)
        assert await head(engine, run) == before


async def test_a_chain_of_names_leads_to_the_last_and_a_circle_is_refused(db):
    run = await begun(db, a_plan(ASK, SEND), [made("mail.send")[0]])
    async with Engine.open(db, tools=[made("mail.post")[0]]) as engine:
        await engine.resume(run, map={"mail.send": "mail.post"})
    async with Engine.open(db, tools=[made("post.letter")[0], made("mail.send")[0]]) as engine:
        with pytest.raises(Gone, match=r'no tool "mail.post", which "mail.send" stands for'):
            await engine.resume(run)
        with pytest.raises(NotMapped, match="circle"):
            await engine.resume(run, map={"mail.post": "mail.send"})
        await engine.resume(run, map={"mail.post": "post.letter"})
        await engine.answer(run, "q_ok_1", True)
        assert (await engine.run(run).result()).output == "post.letter to ann"


async def test_a_strategy_and_a_named_plan_are_found_by_their_new_names(db):
    def grow(view):
        if view.first:
            return Move(add=[{"ask": "Which?"}])
        return None if view.live else Finish(output="grown")

    inner = a_plan({"id": "i", "tool": "flow.echo", "with": {"value": "inner"}})
    plan = a_plan({"id": "ag", "agent": "writer", "strategy": "both"}, {"id": "p", "plan": "both"})
    run = await begun(db, plan, strategies={"both": grow}, plans={"both": inner})
    async with Engine.open(db, strategies={"grow": grow}, plans={"both": inner}) as engine:
        with pytest.raises(Gone, match='no strategy "both"'):
            await engine.resume(run)
        await engine.resume(run, map={"both": "grow"})
        assert (await engine.host.runner(run)).state.names.plans == {}
        await engine.pause(run)
    async with Engine.open(db, strategies={"grow": grow}, plans={"inner": inner}) as engine:
        with pytest.raises(Gone, match='no plan "both"'):
            await engine.resume(run)
        await engine.resume(run, map={"both": "inner"})
        [question] = (await engine.host.runner(run)).state.questions
        await engine.answer(run, question, True)
        assert (await engine.run(run).result()).output == "inner"


async def test_an_agent_with_another_name_goes_on_with_what_it_has_begun(db):
    def said(name, answer):
        model = ScriptedModel([calls("mail.send", to="ann"), answer])
        return {"agents": [Agent(name=name, tools=("mail.send",))], "models": {"default": model}}

    policy = {"tools": {"ask": ["mail.send"]}}
    send = made("mail.send")[0]
    run = await begun(
        db, a_plan({"id": "ag", "agent": "bob", "task": "Write."}, policy=policy), [send], **said("bob", "")
    )
    async with Engine.open(db, tools=[send], **said("rob", "I am rob.")) as engine:
        with pytest.raises(Gone, match='did you mean "agent:rob"'):
            await engine.resume(run)
        for none in ("agent:any", "react", "agent:nil"):
            with pytest.raises(NotMapped, match=f'"{none}" is none'):
                await engine.resume(run, map={"agent:bob": none})
        await engine.resume(run, map={"agent:bob": "agent:rob"})
        [question] = (await engine.host.runner(run)).state.questions
        await engine.answer(run, question, True)
        assert (await engine.run(run).result()).output == "I am rob."


async def test_who_has_the_skills_is_not_proposed_for_an_agent_that_is_gone(db):
    wait = {"id": "ag", "agent": "amy", "task": "Write."}
    model = {"default": ScriptedModel([calls("mail.send", to="ann")])}
    ask = {"tools": {"ask": ["mail.send"]}}
    send = made("mail.send")[0]
    run = await begun(db, a_plan(wait, policy=ask), [send], agents=[Agent(name="amy", tools=("mail.*",))], models=model)
    async with Engine.open(db, tools=[send], agents=[Agent(name="zacharias")]) as engine:
        with pytest.raises(Gone) as told:
            await engine.resume(run)
    assert "agent:any" not in told.value.message


async def test_a_step_that_grows_later_is_called_by_the_new_name_as_well(db):
    def grow(view):
        if view.first:
            return Move(add=[{"ask": "Which?"}])
        return (
            Move(add=[{"tool": "mail.send", "with": {"to": "eve"}}])
            if view.born == 1
            else Finish(output="${steps.s2.output}")
        )

    run = await begun(db, a_plan({"id": "ag", "agent": "writer"}), strategies={"agent:writer": grow})
    async with Engine.open(db, strategies={"agent:writer": grow}, tools=[made("mail.post")[0]]) as engine:
        with pytest.raises(NotMapped, match="no tool"):
            await engine.resume(run, map={"mail.send": "mail.nil"})
        await engine.resume(run, map={"mail.send": "mail.post"})
        [question] = (await engine.host.runner(run)).state.questions
        await engine.answer(run, question, True)
        assert (await engine.run(run).result()).output == "mail.post to eve"


async def test_an_approval_of_the_old_tool_is_asked_for_again_and_a_rule_about_it_still_holds(db):
    policy = {"tools": {"allow": ["mail.send"], "ask": ["mail.send"]}}
    run = await begun(db, a_plan(SEND, policy=policy), [made("mail.send")[0]])
    new, calls = made("mail.post")
    async with Engine.open(db, tools=[made("mail.send")[0]], idle=True) as engine:
        [question] = (await engine.host.runner(run)).state.questions
        await engine.answer(run, question, True)
    async with Engine.open(db, tools=[new], policy=Policy()) as engine:
        await engine.resume(run, map={"mail.send": "mail.post"})
        result = await engine.run(run).rested()
        assert (result.status, calls) == ("waiting", [])
        [question] = (await engine.host.runner(run)).state.questions
        await engine.answer(run, question, True)
        assert (await engine.run(run).result()).output == "mail.post to ann"

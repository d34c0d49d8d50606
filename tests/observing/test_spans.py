"""E11: spans follow from facts, the same ones whoever tells them."""

import random
from itertools import pairwise

import pytest
from told import NAMES, golden

from perdure.cli.observing import copied_in
from perdure.core import events as e
from perdure.journal import MemoryJournal
from perdure.observing.folding import Fold
from perdure.observing.following import Following
from perdure.observing.spans import activation_of, spans_of, trace_of
from perdure.ports import Entry


def told(plan, *facts):
    """The spans of facts, each a turn."""
    fold, found = Fold(lambda _: plan), []
    for seq, (at, event) in enumerate(facts, 1):
        entry = Entry("r_1", seq, event.type, at, e.encode(event))
        happenings = [*fold.take("r_1", [entry]), *fold.pause("r_1")]
        found += spans_of(fold.story("r_1"), happenings)
    return found


TOOL = b'{"name": "ship", "steps": [{"id": "a", "tool": "t.a"}]}'


def test_e11_a_run_is_a_trace_and_its_tries_are_spans_in_it():
    found = told(
        TOOL,
        (1_000, e.RunStarted(plan="p", session="s_1")),
        (1_000, e.AttemptStarted(step="a", call="c")),
        (3_000, e.AttemptEnded(step="a", exit="failure", failure=e.Failure("denied", "no"), to="fail")),
        (3_000, e.RunEnded(status="failed", failure=e.Failure("denied", "no"))),
    )
    # The first fact stands alone here, so that the run has rested after it.
    run = next(each for each in found if each.name == "invoke_workflow ship" and each.failure)
    call = next(each for each in found if each.name == "execute_tool t.a")
    assert {each.trace for each in found} == {trace_of("r_1")}
    assert (call.at, call.till, call.failure) == (1_000, 3_000, "denied")
    assert call.attributes["gen_ai.operation.name"] == "execute_tool"
    assert call.attributes["gen_ai.tool.name"] == "t.a"
    assert call.attributes["perdure.run.id"] == "r_1"
    assert run.attributes["gen_ai.operation.name"] == "invoke_workflow"
    assert run.attributes["gen_ai.conversation.id"] == "s_1"


def test_e11_who_was_cut_off_is_told_by_whoever_goes_on_and_is_linked():
    found = told(
        TOOL,
        (1_000, e.RunStarted(plan="p")),
        (1_000, e.AttemptStarted(step="a", call="c")),
        (90_000_000, e.AttemptLost(step="a")),
        (90_000_000, e.AttemptStarted(step="a", call="c", attempt=2)),
        (90_000_500, e.AttemptEnded(step="a", attempt=2, to="next")),
        (90_000_500, e.RunEnded(status="succeeded")),
    )
    runs = [each for each in found if each.name == "invoke_workflow ship"]
    assert [each.attributes["perdure.rest"] for each in runs] == ["rested", "lost", "rested", "rested", "rested"]
    lost = next(each for each in found if each.attributes.get("perdure.exit") == "lost")
    assert (lost.till, lost.failure) == (1_000, "in_doubt"), "nobody was at work for a day"
    assert all(each.till - each.at <= 1_000 for each in runs)
    assert all(each.links for each in runs[1:])
    for before, after in pairwise(runs):
        assert after.links == ((before.trace, before.id),)


def test_e11_models_and_agents_are_told_by_the_conventions():
    plan = b'{"name": "think", "steps": [{"id": "a", "agent": "writer"}]}'
    found = told(
        plan,
        (1, e.RunStarted(plan="p")),
        (1, e.StepEntered(step="a", strategy="agent:writer")),
        (1, e.StepsGrown(step="a", add=({"id": "s1", "model": "openai:gpt-5", "prompt": "x"},))),
        (1, e.AttemptStarted(step="a/1.1", call="c")),
        (5, e.AttemptEnded(step="a/1.1", usage=e.Usage(tokens=70, usd=0.5, calls=1), to="next")),
        (5, e.StepEnded(step="a")),
        (5, e.RunEnded(status="succeeded")),
    )
    chat = next(each for each in found if each.name == "chat openai:gpt-5")
    agents = [each for each in found if each.name == "invoke_agent writer"]
    assert chat.is_client
    assert chat.attributes["gen_ai.provider.name"] == "openai"
    assert chat.attributes["gen_ai.request.model"] == "gpt-5"
    assert chat.attributes["perdure.usage.tokens"] == 70
    assert chat.parent in {each.id for each in agents}
    assert agents[0].attributes["gen_ai.agent.name"] == "writer"


def test_an_agent_that_drafts_plans():
    plan = b'{"steps": [{"id": "a", "agent": "planner"}]}'
    found = told(
        plan, (1, e.RunStarted(plan="p")), (1, e.StepEntered(step="a", strategy="draft")), (2, e.StepEnded(step="a"))
    )
    assert "plan planner" in {each.name for each in found}


def test_a_run_that_another_one_started_is_linked_to_it():
    found = told(b"{}", (1, e.RunStarted(plan="p", parent="r_0")))
    assert found[0].links == ((trace_of("r_0"), activation_of("r_0", 1)),)


@pytest.mark.parametrize("name", NAMES)
async def test_e11_each_span_hangs_on_one_that_is_told_and_none_is_told_twice(name):
    journal, entries = await golden(name)
    found = await followed(journal)
    ids = [each.id for each in found]
    assert len(ids) == len(set(ids))
    copied = copied_in(await journal.run("@last"))
    ended = sum(each.type in {"attempt_ended", "attempt_lost"} for each in entries if each.seq > copied)
    assert sum("perdure.attempt" in each.attributes for each in found) == ended
    assert {each.parent for each in found} - {0} <= set(ids)
    assert all(each.at <= each.till for each in found)


async def followed(journal, after=0):
    return [
        each
        async for told in Following(journal, copied_in).after(after)
        for each in spans_of(told.story, told.happenings)
    ]


async def test_e11_whoever_begins_anywhere_tells_the_rest_of_the_same():
    journal = MemoryJournal()
    from told import GOLDEN

    for name in NAMES:
        await journal.take_in((GOLDEN / f"{name}.jsonl").read_bytes().splitlines(keepends=True))
    whole, last = await followed(journal), await journal.last_arrival()
    draw = random.Random(1)
    for _ in range(12):
        at = draw.randint(0, last)
        before, after = [], await followed(journal, at)
        async for told in Following(journal, copied_in).after(0):
            if told.turn.number > at:
                break
            before += spans_of(told.story, told.happenings)
        assert before + after == whole

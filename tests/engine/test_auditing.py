"""E14 A6: the audit of a run: what failed, by which rule, what was tried, what it cost, what helped."""

import json
from pathlib import Path

import pytest

from perdure import Context, Engine, Plan, Rule, ToolFailure, tool
from perdure.core.calls import Failure, Outcome, Usage
from perdure.engine.auditing import audit
from perdure.journal.parcel import unpack
from perdure.ports import Entry
from perdure.testing.clock import FakeClock
from perdure.testing.clock import run as in_time
from perdure.testing.scripted import Scripted

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.jsonl"))


def facts(*told):
    """Entries as a journal has them, a second apart."""
    return [
        Entry("r", seq, type_, 1_000 * seq, json.dumps(body).encode())
        for seq, (type_, body) in enumerate(told, start=1)
    ]


def failed(kind="transient", **more):
    return "attempt_ended", {"step": "a", "exit": "failure", "failure": {"kind": kind, "message": "no"}, **more}


async def audited(steps, script=None, **settings):
    async with Engine.open(clock=FakeClock(), performer=script and Scripted(script), **settings) as engine:
        run = await engine.start(Plan.from_steps(steps))
        await run.result()
        _, entries = await engine.journal.load(run.id)
        return audit(entries)


# ------------------------------------------------------------ runs


def test_retries_that_helped_and_what_they_cost():
    script = {
        "a": [
            Outcome(exit="failure", failure=Failure("rate_limited", "slow down", 60.0), usage=Usage(usd=0.5, tokens=7)),
            Failure("transient", "busy"),
            "done",
        ]
    }
    steps = [{"id": "a", "agent": "x", "retry": {"attempts": 3, "wait": "1s", "jitter": 0}}]
    (case,) = in_time(audited(steps, script))
    assert [each.kind for each in case.troubles] == ["rate_limited", "transient"]
    assert [(each.did, each.after) for each in case.remedies] == [("retry", 60), ("retry", 2)]
    assert case.troubles[0].retry_after == 60
    assert (case.exit, case.helped, case.failure) == ("success", "retry", None)
    assert (case.cost.usd, case.cost.tokens) == (0.5, 7)


@pytest.mark.parametrize(
    ("more", "did"),
    [
        ({"retry": {"attempts": 2}}, "retry"),
        ({"relaxed": ["output > 0"]}, "relax"),
        ({"simpler": {"agent": "s"}}, "simplify"),
        ({"alternates": [{"agent": "s"}]}, "alternate"),
        ({"recovery": {"unmet": ["ask"]}}, "ask"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_result_that_was_not_accepted_is_told_with_the_sentence_and_the_values(more, did):
    async def asked():
        async with Engine.open(clock=FakeClock(), performer=Scripted({"a": [1, 4]})) as engine:
            run = await engine.start(Plan.from_steps([{"id": "a", "agent": "x", "accept": ["output > 3"], **more}]))
            await run.rested()
            return audit((await engine.journal.load(run.id))[1])

    (case,) = in_time(asked())
    assert [(each.kind, each.message) for each in case.troubles] == [("unmet", "not met: output > 3 (output is 1)")]
    assert [each.did for each in case.remedies] == [did]


def test_a_group_that_was_done_again():
    retry = {"attempts": 3, "wait": "4s", "jitter": 0}
    steps = [{"id": "g", "retry": retry, "steps": [{"id": "a", "agent": "x", "retry": {"attempts": 1}}]}]
    cases = in_time(audited(steps, {"a": [Failure("timeout", "late"), Failure("logic", "no"), "done"]}))
    group = next(case for case in cases if case.step == "g")
    assert [(each.did, each.after, each.kind) for each in group.remedies] == [
        ("retry", 4, "timeout"),
        ("retry", 8, "logic"),
    ]
    assert [(each.attempt, each.kind) for each in group.troubles] == [(0, "timeout"), (0, "logic")]
    assert (group.exit, group.helped) == ("success", "retry")


def test_a_group_that_was_not_left_because_something_stays():
    @tool(name="shop.pay", repeat="never")
    def pay() -> int:
        """Pays, and nothing takes that back."""
        return 9

    inside = [{"id": "pay", "tool": "shop.pay"}, {"id": "send", "agent": "x"}]
    steps = [{"id": "order", "steps": inside, "alternates": [{"agent": "y"}]}]
    cases = in_time(audited(steps, {"x": Failure("logic", "no")}, tools=[pay]))
    (order,) = (case for case in cases if case.step == "order")
    assert (order.stays, order.exit, order.data()["stays"]) == (["pay"], "failure", ["pay"])


def test_a_group_that_went_another_way_and_a_tool_that_was_found():
    @tool(name="a.get", repeat="safe", effects=["network"])
    async def first() -> str:
        raise ConnectionRefusedError

    @tool(name="b.get", repeat="safe", effects=[], skills=["look"])
    async def second() -> str:
        return "here"

    group = {"id": "g", "steps": [{"id": "in_g", "agent": "x"}], "alternates": [{"agent": "y"}]}
    steps = [group, {"id": "a", "tool": "a.get", "skills": ["look"], "retry": {"attempts": 1}}]
    inner, case, found = in_time(audited(steps, {"x": Failure("logic", "no"), "y": 1}, tools=[first, second]))
    assert (inner.step, inner.helped) == ("in_g", "")
    assert (case.step, case.helped, [each.attempt for each in case.troubles]) == ("g", "alternate", [0])
    assert [(each.did, each.kind) for each in case.remedies] == [("alternate", "logic")]
    assert [(each.did, each.tool) for each in found.remedies] == [("alternate", "b.get")]


def test_what_helped_nothing():
    steps = [{"id": "g", "steps": [{"id": "a", "agent": "x"}]}]
    inner, group = in_time(audited(steps, {"a": [Failure("denied", "no key")]}))
    assert (inner.step, inner.exit, inner.helped, inner.failure["kind"]) == ("a", "failure", "", "denied")
    assert (group.step, group.cause, group.troubles) == ("g", "a", [])


def test_what_was_not_accepted_is_a_failure_too():
    steps = [{"id": "a", "agent": "x", "accept": ["output > 1"], "retry": {"attempts": 2, "jitter": 0}}]
    (case,) = in_time(audited(steps, {"a": [1, 2]}))
    assert [each.kind for each in case.troubles] == ["unmet"]
    assert case.helped == "retry"
    (case,) = in_time(audited(steps, {"a": [1, 1]}))
    assert [each.kind for each in case.troubles] == ["unmet", "unmet"]
    assert (case.helped, case.failure["kind"]) == ("", "unmet")


def test_the_rule_and_the_place_are_told():
    class BusyError(Exception):
        pass

    @tool(name="shop.order", failures=[Rule("transient", exception=BusyError)])
    async def order(context: Context):
        if context.attempt == 1:
            raise BusyError("later")
        raise ToolFailure("logic", "never")

    steps = [{"id": "a", "tool": "shop.order", "retry": {"attempts": 2}}]
    (case,) = in_time(audited(steps, tools=[order]))
    first, second = case.troubles
    assert first.rule.startswith("tool: exception=")
    assert (first.exception.rpartition(".")[2], first.where[-6:]) == ("BusyError", " order")
    assert (second.kind, second.rule) == ("logic", "")


def test_nothing_failed():
    assert in_time(audited([{"id": "a", "agent": "x"}], {"a": [1]})) == []


# ------------------------------------------------------------ facts


@pytest.mark.parametrize("rung", ["simplify", "relax", "alternate", "replan", "ask", "rollback", "continue", "fail"])
def test_rungs_are_told_by_their_word(rung):
    (case,) = audit(facts(failed(), ("rung_taken", {"step": "a", "rung": rung, "kind": "transient"})))
    assert [(each.did, each.kind) for each in case.remedies] == [(rung, "transient")]


def test_a_rung_that_helped():
    (case,) = audit(
        facts(
            failed(),
            ("retry_planned", {"step": "a", "due": 3_000}),
            failed("unavailable", attempt=2),
            ("rung_taken", {"step": "a", "rung": "alternate", "kind": "unavailable"}),
            ("retry_planned", {"step": "a", "attempt": 2, "due": 4_000}),
            ("attempt_ended", {"step": "a", "attempt": 3, "to": "next"}),
        )
    )
    assert [each.did for each in case.remedies] == ["retry", "alternate"]
    assert (case.helped, case.at) == ("alternate", 6_000)


def test_a_rung_and_the_question_that_comes_of_it_are_one_remedy():
    (case,) = audit(
        facts(
            failed("stalled"),
            ("rung_taken", {"step": "a", "rung": "ask", "kind": "stalled"}),
            ("question_asked", {"step": "a", "question": "q1", "answer": "choice", "about": "recovery", "text": "?"}),
            ("question_answered", {"question": "q1", "value": {"data": "again"}, "by": "anna"}),
        )
    )
    asked, answer = case.remedies
    assert (asked.did, asked.question, asked.kind) == ("ask", "q1", "stalled")
    assert (answer.did, answer.answer, answer.by) == ("answer", "again", "anna")


def test_what_goes_on_in_part_says_so():
    end = {"step": "a", "exit": "failure", "to": "next", "partial": True, "failure": {"kind": "x", "message": "no"}}
    (case,) = audit(facts(failed(), ("step_ended", end)))
    assert ([each.did for each in case.remedies], case.partial, case.helped) == (["continue"], True, "")


def test_a_lost_attempt_is_a_doubt():
    (case,) = audit(facts(("attempt_started", {"step": "a"}), ("attempt_lost", {"step": "a"})))
    assert (case.troubles[0].kind, case.troubles[0].seconds) == ("in_doubt", 1.0)


def test_a_pause_does_not_count_as_waiting():
    told = facts(("run_paused", {}), ("run_resumed", {}), failed(), ("retry_planned", {"step": "a", "due": 5_000}))
    assert audit(told)[0].remedies[0].after == 2.0


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"{}", b'{"step": 1, "visit": "x"}', b"[" * 100_000])
def test_facts_that_are_none_do_no_harm(body):
    types = (
        "attempt_ended",
        "attempt_lost",
        "rung_taken",
        "question_asked",
        "step_ended",
        "step_passed",
        "effect_kept",
    )
    audit([Entry("r", seq, type_, seq, body) for seq, type_ in enumerate(types, start=1)])


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_every_journal_can_be_audited(file):
    entries = [entry for turn in unpack(file.read_bytes().splitlines()) for entry in turn.entries]
    cases = audit(entries)
    json.dumps([case.data() for case in cases])
    lost = sum(entry.type == "attempt_lost" for entry in entries)
    failures = sum(entry.type == "attempt_ended" and b'"failure":{' in entry.body for entry in entries)
    assert sum(len(case.troubles) for case in cases) >= lost + failures

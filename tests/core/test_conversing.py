"""E9: a model call that goes on names the one before by its digest, and says what came since."""

import pytest
from driven import NO, driven, tool

from perdure.core import events as e
from perdure.core.growth import Finish, Move
from perdure.core.origins import origins

ASK = {"id": "a", "model": "default", "prompt": "One"}


def calls_of(world, id_):
    return [made.call.arguments for made in world.made if made.step == id_]


def test_a_call_that_goes_on_names_the_one_before_by_its_digest():
    world = driven([ASK, {"id": "b", "model": "default", "after": "a", "prompt": "Two"}], {"a": "first"})
    begun = [event.call for event in world.find(e.AttemptStarted)]
    assert calls_of(world, "b") == [{"prompt": "Two", "after": begun[0], "answer": {"data": "first"}}]


def test_a_long_answer_is_named_by_its_digest():
    world = driven([ASK, {"id": "b", "model": "default", "after": "a", "prompt": "Two"}], {"a": "x" * 10_000})
    [given] = calls_of(world, "b")
    assert set(given["answer"]) == {"sha256"}
    assert world.state.read(given["answer"]["sha256"]) == "x" * 10_000


def test_what_calls_came_to_is_told_in_their_order():
    steps = [
        ASK,
        tool("t"),
        tool("u", on={"failure": "next"}),
        {"id": "b", "model": "default", "after": "a", "results": ["u", {"error": "no ${inputs.what}"}, "t"]},
    ]
    world = driven(steps, {"t": 5, "u": NO}, {"what": "way"})
    [given] = calls_of(world, "b")
    assert given["results"] == [{"error": "logic: no"}, {"error": "no way"}, {"output": {"data": 5}}]


def test_what_was_undone_is_not_told():
    steps = [
        {"id": "c", "checkpoint": True},
        ASK,
        tool("t", undo={"tool": "un.do"}),
        {"id": "r", "rollback": "c"},
        {"id": "b", "model": "default", "after": "a", "results": ["t"]},
    ]
    [given] = calls_of(driven(steps, {"t": 5}), "b")
    assert given["results"] == [{"output": {"data": None}}]


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ({"model": "default", "after": "s1", "prompt": "x"}, '"s1" has asked no model'),
        ({"model": "default", "after": "s9", "prompt": "x"}, 'there is no result of "s9" yet'),
        ({"model": "default", "after": "s2", "results": ["s7"]}, 'there is no result of "s7" yet'),
    ],
)
def test_a_conversation_that_cannot_go_on_is_a_failure_that_says_why(step, told):
    def strategy(view):
        if view.first:
            return Move(add=[tool("x"), {"model": "default", "prompt": "One"}])
        if view.live:
            return None
        return Finish("failure", failure=view.child("s3").failure) if view.born > 2 else Move(add=[step])

    world = driven([{"id": "ag", "agent": "x"}], strategies={"agent:x": strategy})
    assert (world.failure.kind, told in world.failure.message) == ("invalid", True)


def test_a_conversation_has_an_origin_in_all_that_was_said():
    steps = [
        tool("read"),
        ASK,
        {"id": "b", "model": "default", "after": "a", "results": ["read", {"error": "e"}], "instructions": "Be brief"},
        tool("act", **{"with": {"value": "${steps.b.output}"}}),
    ]
    world = driven(steps, {"read": "outside"})
    found = origins(world.state.cells["act"], lambda name: "files" if name else "")
    assert [(each.argument, each.step) for each in found] == [("value", "read")]

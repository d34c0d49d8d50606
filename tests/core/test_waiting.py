"""T3 E2 E8: people, signals, clocks, and steps that are over at once."""

import pytest
from driven import driven, tool

from perdure.core import events as e
from perdure.core.accepting import MOST_SIGNALS
from perdure.core.refusing import Answered, BadAnswer, NoQuestion, Over, TooManySignals
from perdure.testing.worlds import NOON, Takes, World


def asking(**ask):
    return World({"steps": [{"id": "q", "ask": "Pay ${inputs.n}?", "on": {}, **ask}, tool("b")]}, forgetful=True).start(
        {"n": 5}
    )


# ------------------------------------------------------------------------------- rule 13: questions


@pytest.mark.parametrize(
    ("ask", "answer", "exit_"),
    [
        ({}, True, "approved"), ({}, "approved", "approved"), ({}, False, "rejected"), ({}, "rejected", "rejected"),
        ({"choices": ["red", "blue"]}, "blue", "blue"), ({"answer": "text"}, "some words", "success"),
        ({"form": {"type": "object", "required": ["n"]}}, {"n": 1}, "success"),
    ],
)  # fmt: skip
def test_rule_13_an_answer_ends_the_question(ask, answer, exit_):
    world = asking(**ask)
    [question] = world.state.questions.values()
    assert (question.question, question.text, world.status) == ("q_q_1", "Pay 5?", "waiting")
    world.answer(answer)
    assert world.exit_of("q") == exit_
    assert world.state.cells["q"].result.output.data == answer
    assert ("b" in world.state.cells) is (exit_ != "rejected")


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        ({}, 1), ({}, 0), ({}, "yes"), ({}, None), ({"choices": ["red"]}, "blue"), ({"choices": ["red"]}, ["red"]),
        ({"answer": "text"}, 3), ({"form": {"type": "object", "required": ["n"]}}, {}),
    ],
)  # fmt: skip
def test_an_answer_that_does_not_fit_is_refused_and_the_question_stays(ask, answer):
    world = asking(**ask)
    with pytest.raises(BadAnswer):
        world.answer(answer)
    assert len(world.state.questions) == 1


def test_rule_13_the_first_valid_answer_wins():
    world = asking()
    world.answer(True, by="ann")
    with pytest.raises(Answered, match="q_q_1 was answered by ann: true") as found:
        world.answer(False, "q_q_1", by="bob")
    assert found.value.same is False
    with pytest.raises(NoQuestion, match="never asked"):
        world.answer(False, "q_other")


def test_only_those_who_are_asked_may_answer():
    world = asking(to=["ann", "bob"])
    with pytest.raises(BadAnswer, match="only ann, bob"):
        world.answer(True, by="eve")
    world.answer(True, by="bob")
    assert world.exit_of("q") == "approved"


@pytest.mark.parametrize(
    ("more", "exit_"),
    [
        ({}, "expired"),
        ({"default": True}, "approved"),
        ({"default": "rejected"}, "rejected"),
        ({"choices": ["red"], "default": "red"}, "red"),
    ],
)
def test_rule_13_a_deadline_gives_the_default_or_expires(more, exit_):
    world = asking(deadline="1h", **more)
    world.run()
    assert (world.exit_of("q"), world.find(e.QuestionClosed)) == (
        exit_,
        [e.QuestionClosed(question="q_q_1", late=True)],
    )
    assert world.find(e.StepEnded)[0].failure is None or exit_ == "expired"


def test_a_question_may_be_late_at_once():
    assert driven([{"id": "q", "ask": "Well?", "deadline": 0, "on": {"expired": "next"}}]).exit_of("q") == "expired"


def test_a_question_whose_text_cannot_be_made_is_invalid():
    world = driven([{"id": "q", "ask": "Pay ${1 / 0}?"}])
    assert (world.failure.kind, world.find(e.QuestionAsked)) == ("invalid", [])


def test_a_question_is_closed_when_nobody_needs_it_any_more():
    plan = [{"id": "g", "parallel": [{"id": "q", "ask": "Well?"}, tool("a")], "join": "any"}]
    world = driven(plan, {"a": Takes(1)})
    assert world.exits() == [("a", "success"), ("q", "cancelled"), ("g", "success")]
    assert len(world.find(e.QuestionClosed)) == 1


def test_each_visit_asks_anew():
    world = World(
        {"steps": [{"id": "q", "ask": "Good?", "max_visits": 3, "on": {"rejected": "q"}}]}, forgetful=True
    ).run()
    world.answer(False)
    world.answer(True)
    assert [event.question for event in world.find(e.QuestionAsked)] == ["q_q_1", "q_q_2"]


# ------------------------------------------------------------------------------- rule 14: signals


def test_rule_14_a_signal_is_kept_until_it_is_taken():
    world = World(
        {"steps": [tool("a"), {"id": "w", "wait": {"signal": "ping"}}, {"id": "v", "wait": {"signal": "ping"}}]}
    ).start()
    for value in (1, 2):
        world.signal("ping", value)
    world.run()
    assert [world.state.cells[step].result.output.data for step in "wv"] == [1, 2]


def test_rule_14_the_oldest_wait_is_served_first():
    waits = [{"id": name, "wait": {"signal": "ping"}} for name in "abc"]
    world = World({"mode": "graph", "steps": waits}, forgetful=True).start()
    assert world.status == "waiting"
    for value in (1, 2, 3):
        world.signal("ping", value)
    assert world.output == {"a": 1, "b": 2, "c": 3}


def test_two_waits_that_come_late_take_what_is_there():
    waits = [{"id": name, "wait": {"signal": "ping"}} for name in "bc"]
    world = World({"steps": [tool("a"), {"id": "g", "parallel": waits}]}, forgetful=True).start()
    world.signal("ping", 1)
    world.signal("ping", 2)
    assert world.run().output == {"b": 1, "c": 2}


def test_rule_14_only_so_many_are_kept_and_none_after_the_end():
    world = World({"steps": [{"id": "q", "ask": "Well?"}]}).start()
    for _ in range(MOST_SIGNALS):
        world.signal("ping")
    with pytest.raises(TooManySignals):
        world.signal("ping")
    world.signal("pong")
    world.answer(True)
    with pytest.raises(Over):
        world.signal("pong")


def test_rule_2_the_signal_or_the_clock():
    plan = {"steps": [{"id": "w", "wait": {"signal": "ping", "for": "10s"}}]}
    world = World(plan, forgetful=True).start()
    world.signal("other")
    world.signal("ping", "hello")
    assert (world.exit_of("w"), world.output) == ("success", "hello")
    world = driven(plan)
    assert (world.exit_of("w"), world.output, world.now) == ("elapsed", None, NOON + 10_000)


def test_a_wait_that_was_stopped_takes_nothing():
    plan = {
        "mode": "graph",
        "join": "settled",
        "steps": [{"id": "a", "wait": {"signal": "ping"}}, {"id": "b", "wait": {"signal": "ping"}}],
    }
    world = World(plan, forgetful=True).start()
    world.cancel("a")
    world.signal("ping", 1)
    assert dict(world.exits()) == {"a": "cancelled", "b": "success"}


# ------------------------------------------------------------------------------- over at once


@pytest.mark.parametrize(
    ("decide", "exit_"),
    [
        ("'left'", "left"),
        ("inputs.n > 3 ? 'right' : 'left'", "right"),
        ("'up'", "failure"),
        ("inputs.n", "failure"),
        ("1 / 0", "failure"),
    ],
)
def test_t3_deciding_by_an_expression(decide, exit_):
    plan = [{"id": "d", "decide": decide, "choices": ["left", "right"], "on": {"left": "next", "right": "next"}}]
    world = driven(plan, inputs={"n": 5})
    assert world.exit_of("d") == exit_
    assert world.output == (exit_ if exit_ != "failure" else None)
    assert exit_ != "failure" or world.failure.kind == "invalid"


def test_in_a_graph_a_choice_is_only_a_value():
    plan = {
        "mode": "graph",
        "steps": [{"id": "d", "decide": "'a'", "choices": ["a", "b"]}, tool("a", needs=["d"]), tool("b", needs=["d"])],
    }
    assert driven(plan).done() == ["a", "b"]


def test_a_checkpoint_is_over_at_once():
    assert driven([{"id": "k", "checkpoint": True}, {"id": "f", "fail": "${1 / 0}"}]).failure.kind == "invalid"

"""E8 E16: a message that does not fit is refused, with a code, and changes nothing."""

import pytest
from driven import tool
from laws import snapshot

from perdure.core import events as e
from perdure.core.accepting import Look
from perdure.core.calls import Failure
from perdure.core.refusing import BadAnswer, NoQuestion, NoStep, Over, Refused, Stale
from perdure.core.state import State
from perdure.core.values import Value
from perdure.errors import page
from perdure.testing.worlds import HANGS, LOST, World

PLAN = {
    "steps": [
        {"id": "g", "parallel": [tool("a"), tool("b"), {"id": "q", "ask": "Well?"}], "join": "settled"},
        tool("z"),
    ]
}


def begun(**dials):
    return World(PLAN, {"a": HANGS, "b": HANGS}, **dials).run()


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (e.RunStarted(plan="x"), Refused),
        (e.RunResumed(), Refused),
        (e.RunReopened(step="a"), Refused),
        (e.AttemptEnded(step="a", visit=2), Stale),
        (e.AttemptEnded(step="a", attempt=2), Stale),
        (e.AttemptEnded(step="q"), Stale),
        (e.AttemptEnded(step="nowhere"), Stale),
        (e.AttemptEnded(step="a", deed="undo"), Stale),
        (e.AttemptLost(step="a", attempt=0), Stale),
        (e.AttemptProgressed(step="z", fraction=0.1), Stale),
        (e.QuestionAnswered(question="q_none", value=Value(data=True)), NoQuestion),
        (e.QuestionAnswered(question="q_q_1", value=Value(data=3)), BadAnswer),
        (e.StepStopping(step="z"), NoStep),
        (e.StepStopping(step=""), NoStep),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(message, error):
    world = begun()
    before = snapshot(world.state, world.now)
    with pytest.raises(error) as refused:
        world.send(message)
    assert type(refused.value) is error
    assert page(refused.value.code)
    assert snapshot(world.state, world.now) == before


def test_a_run_that_has_not_started_takes_nothing_else():
    world = World(PLAN)
    for message in (Look(), e.RunPaused(), e.RunStopping(exit="cancelled"), e.SignalReceived(name="x")):
        with pytest.raises(Refused, match="has not started"):
            world.send(message)
    assert world.facts == []
    assert State("r_1", world.rules).wake_at is None


def test_a_run_is_paused_and_stopped_once():
    world = begun()
    world.pause()
    with pytest.raises(Refused, match="paused already"):
        world.pause()
    world.cancel()
    for again, said in (
        (world.cancel, "stopping already"),
        (world.pause, "stopping already"),
        (world.resume, "not paused"),
    ):
        with pytest.raises(Refused, match=said):
            again()


def test_after_the_end_nothing_is_taken():
    world = begun()
    world.cancel()
    world.run()
    for message in (
        Look(),
        e.RunPaused(),
        e.SignalReceived(name="x"),
        e.AttemptEnded(step="a"),
        e.RunStopping(exit="cancelled"),
    ):
        with pytest.raises(Over, match="cancelled"):
            world.send(message)


def test_an_attempt_is_reported_once():
    world = begun(forgetful=True)
    world.send(e.AttemptEnded(step="a"))
    with pytest.raises(Stale):
        world.send(e.AttemptEnded(step="a"))
    with pytest.raises(Stale):
        world.send(e.AttemptLost(step="a"))


@pytest.mark.parametrize("answer", ["perhaps", {"choice": "perhaps"}, {}, None, 3])
def test_an_answer_to_a_doubt_must_be_one_of_three(answer):
    world = World({"steps": [tool("a")]}, {"a": LOST}, repeat="never").run()
    with pytest.raises(BadAnswer, match="happened"):
        world.answer(answer)


def test_whoever_cancels_says_only_which_step():
    world = begun()
    forged = e.StepStopping(step="a", visit=7, exit="success", to="z", undo=("g",), output=Value(data=1))
    world.send(forged)
    assert world.find(e.StepStopping) == [e.StepStopping(step="a", failure=Failure("cancelled", "it was cancelled"))]
    world.send(e.StepStopping(step="b", failure=Failure("cancelled", "not needed")))
    assert world.find(e.StepStopping)[1].failure.message == "not needed"

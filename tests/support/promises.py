"""Promises to whoever runs a plan, as questions to its facts while they come, and to its journal when it is over."""

from perdure.core import events as e
from perdure.core.calls import DOUBTFUL
from perdure.core.turn import pending
from perdure.engine.redeciding import redecide


class Promises:
    """What is known of a run by its facts alone."""

    def __init__(self):
        self._open, self._done, self._doubts, self._asked = set(), {}, {}, {}
        self._stopping = False

    def hold(self, state, events):
        """Hear some facts; each of them, and all of them together, must keep what was promised."""
        for event in events:
            self._hear(state, event)
        if state.ended is None:
            shown = {(each.step, each.visit, each.deed) for each in pending(state)}
            assert self._open == shown, f"I4: {self._open ^ shown}"

    def _hear(self, state, event):
        match event:
            case e.AttemptStarted():
                self._begin(state, event)
            case e.AttemptEnded() | e.AttemptLost():
                self._open.discard((event.step, event.visit, event.deed))
                self._doubt(event)
            case e.QuestionAsked():
                self._asked[event.question] = event.step
            case e.QuestionAnswered():
                self._settle(self._asked[event.question])
            case e.RunForked():
                self._lose()
            case e.RunStopping():
                self._stopping = True
            case e.RunReopened():
                self._stopping = False
                around = {(each.key, each.visit) for each in state.cells[event.step].around}
                self._done = {  # visits around it go on, and so do those that were cut off
                    about: exit_ for about, exit_ in self._done.items() if about not in around and exit_ != "cancelled"
                }
            case _:
                pass
        if e.ends_step(event) and not is_in_doubt(event) and not isinstance(event, e.StepPassed):
            self._done[event.step, event.visit] = event.exit

    def _begin(self, state, event):
        about = (event.step, event.visit)
        self._open.add((*about, event.deed))
        if event.deed != "do":
            return
        assert about not in self._done, f"I2: {about} was done, and is begun again"
        assert not self._stopping, f"I11: {about} is begun while the run stops"
        tool = state.cells[event.step].traits.tool
        repeat = (
            state.rules.repeat(state.cells[event.step].work.call) if tool and state.cells[event.step].work.call else ""
        )
        assert self._doubts.get(about) != "never", f"I3: {about} may have happened, and is done again"
        self._doubts[about] = f"?{repeat}"

    def _doubt(self, event):
        """Nobody knows whether it happened."""
        about = (event.step, event.visit)
        if event.deed == "probe" and isinstance(event, e.AttemptEnded) and event.failure is None:
            found = event.output.data if event.output is not None else None
            if isinstance(found, dict) and isinstance(found.get("happened"), bool):
                self._doubts.pop(about, None)
        elif event.deed == "do":
            failed = isinstance(event, e.AttemptLost) or (event.failure is not None and event.failure.kind in DOUBTFUL)
            known = self._doubts.pop(about, "")
            if failed:
                self._doubts[about] = known.removeprefix("?")

    def _settle(self, step):
        """A person has said what became of it, or what to do."""
        for about in [each for each in self._doubts if each[0] == step]:
            del self._doubts[about]

    def _lose(self):
        """Whatever was at work is another run's."""
        for step, visit, deed in self._open:
            if deed == "do":
                self._doubts[step, visit] = self._doubts.get((step, visit), "").removeprefix("?")
        self._open.clear()


def is_in_doubt(event):
    return isinstance(event, e.StepPassed) or (event.failure is not None and event.failure.kind == "in_doubt")


def check_fork(events, at, state):
    """No visit that was over is tried again, but one that was over in doubt; nothing is taken back that is another's."""
    over = {(each.step, each.visit) for each in events[:at] if e.ends_step(each) and not is_in_doubt(each)}
    begun = [each for each in events[at:] if isinstance(each, e.AttemptStarted)]
    assert not over & {(each.step, each.visit) for each in begun if each.deed != "undo"}
    assert not any(state.effects[each.step, each.visit].of for each in begun if each.deed == "undo")


def check_decisions(life):
    """I12: from its facts alone a run would be decided the same, and nothing is done for that."""
    facts = list(zip(life.events, (at for _, _, at in life.facts), strict=True))
    made = len(life.made)
    found = redecide(life.state.run, life.rules, facts)
    assert found.difference is None, f"I12: {found.difference}"
    assert found.facts == len(facts)
    assert len(life.made) == made

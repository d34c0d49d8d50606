"""A runner drives one run: messages in, turns, one commit for all of them, then the deeds that follow.

Nothing is believed before it is durable: an attempt begins after the commit that names it, and whoever sent a message
hears of it then. While a commit is under way messages gather; the next commit takes them all.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from perdure.collector import Undisturbed
from perdure.core import events as e
from perdure.core.accepting import Look, Mended, Message
from perdure.core.calls import Outcome
from perdure.core.origins import explained
from perdure.core.refusing import Over, Refused
from perdure.core.state import State
from perdure.core.turn import Command, StartAttempt, caused, pending, status_of, turn
from perdure.core.values import keep, well_formed
from perdure.errors import PerdureError
from perdure.ports import (
    Artifact,
    Attempt,
    Closed,
    DiskFull,
    Entry,
    JournalError,
    Locked,
    Malformed,
    OutOfOrder,
    ReadOnlyDisk,
    Summary,
    Turn,
    UnknownArtifact,
)
from perdure.runtime.attempts import Around, attempt_for
from perdure.runtime.remembering import lessons_of, outcome_of, tasks_of
from perdure.runtime.stage import NOT_BEGUN, Stage, countable, presentable
from perdure.runtime.summing import counters_of

if TYPE_CHECKING:
    from perdure.runtime.host import Host

MOST_MESSAGES: Final = 512
"""The most messages that one commit takes."""
PROGRESS_EVERY: Final = 1_000
"""Milliseconds between two facts about how far an attempt is."""
PASSING: Final = (DiskFull, ReadOnlyDisk, Locked)
"""Nothing was kept, and that can be mended while the process lives."""
OF_ONE_RUN: Final = (Malformed, OutOfOrder, UnknownArtifact)
"""What one run wrote cannot be kept; the others are not touched."""
REPORTS: Final = (e.AttemptEnded, e.AttemptLost)
"""What the world told once and will not tell again."""
Sent = tuple[Message | Mended, "asyncio.Future[None] | None"]
_log = logging.getLogger("perdure.runtime")


class Runner:
    """Drives one run."""

    def __init__(self, host: "Host", state: State, head: int) -> None:
        self.host = host
        self.run: Final = state.run
        self.state = state
        self.foreign: PerdureError | None = None
        """Why it cannot be carried on here: then it takes messages, and begins nothing."""
        self._is_left = False
        """Whether nobody has said yet what became of its attempts, because it cannot be carried on here."""
        self.head = head
        """The number of the last fact that is durable, or about to be."""
        self.stage = Stage(host.performer, self._told, host.grace)
        self._around = Around(host.secrets, host.layers, self.stage.note)
        self._loop = asyncio.get_running_loop()
        self._offset = max(0, state.at - host.clock.now())  # a clock that was set back must not stop the run's timers
        self._inbox: deque[Sent] = deque()
        self._committing: list[Sent] = []
        self._scheduled = False
        self._shown: tuple[Any, ...] = ()
        self._progressed: dict[str, int] = {}
        self._tools: dict[str, str] = {}
        """What each step at work takes a place of; what it would do next may be something else."""
        self._failed = 0
        """How many commits in a row were not kept."""
        self._reloading = False
        self.stuck: BaseException | None = None
        """Why it does not go on although it could. The next message makes it try again."""

    @property
    def is_writing(self) -> bool:
        """Whether what was decided last is not durable yet."""
        return bool(self._committing)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way that would be lost by letting go."""
        return not (self._inbox or self._committing or self._scheduled or self._reloading or self.stage.busy)

    def now(self) -> int:
        """The time, as this run sees it."""
        return max(self.host.clock.now() + self._offset, self.state.at)

    @property
    def deadline(self) -> int | None:
        """When something at work here has to be over, on the host's clock; None if nothing has, also while paused."""
        state = self.state
        if state.paused_at is not None or not state.flying:
            return None
        dues = [cell.work.until for cell in state.flying.values()]
        dues.append(state.started.due if state.started else None)
        found = [due for due in dues if due is not None]
        return min(found) + state.paused - self._offset if found else None

    # ------------------------------------------------------------ messages

    def post(self, message: Message) -> None:
        """Take a message; nobody waits for what becomes of it."""
        self._inbox.append((message, None))
        self._wake()

    def send(self, message: Message | Mended) -> "asyncio.Future[None]":
        """Take a message from outside. What is returned resolves when it is durable, or says why it was refused.

        `ValueError` if it could not be read again: records do not check what they are made with.
        """
        for event in _events_in(message):
            e.decode(event.type, e.encode(event))
        if self._is_left and not isinstance(message, e.NamesMapped):
            self.go_on()
        future: asyncio.Future[None] = self._loop.create_future()
        self._inbox.append((message, future))
        self._wake()
        return future

    def begin(self, started: e.RunStarted, artifacts: Sequence[Artifact]) -> "asyncio.Future[None]":
        """The first message of a run, with the values it names."""
        self.state.kept.update((each.digest, each.data) for each in artifacts if each.data is not None)
        return self.send(started)

    @property
    def is_foreign(self) -> bool:
        """Whether somebody else has to carry it on."""
        return self.foreign is not None

    def leave(self, why: PerdureError) -> None:
        """Leave a run that was loaded as it is, until somebody has something to say to it."""
        self.foreign, self._is_left = why, True

    def take_up(self) -> None:
        """Carry it on here after all."""
        self.foreign = None
        if self._is_left:
            self.go_on()
        else:
            self.post(Look())

    def go_on(self) -> None:
        """Pick up a run that was loaded: nobody saw how its attempts ended."""
        self._is_left = False
        for command in pending(self.state):
            self.post(e.AttemptLost(step=command.step, visit=command.visit, attempt=command.attempt, deed=command.deed))
        self.post(Look())

    def count_anew(self) -> None:
        """Tell the room what is at work and what is held, by the state alone."""
        room = self.host.room
        self._tools = self.state.tools_at_work
        room.recount(self.run, list(self._tools.values()))
        room.hold(self.run, self.state.locks, ())

    def _wake(self) -> None:
        if not self._scheduled and not self._committing and not self._reloading:
            self._scheduled = True
            self.host.stirring.add(self.run)
            self._loop.call_soon(self._pump)

    def _heard(self, message: Message) -> None:
        """Take what came of an attempt: at once if nothing else is at work, or else together with what comes soon."""
        self._inbox.append((message, None))
        if self.stage.busy or self._scheduled or self._committing or self._reloading:
            self._wake()
        else:
            self.host.stirring.add(self.run)
            self._pump()

    # ------------------------------------------------------------ turns

    def _pump(self) -> None:
        """Make turns of all messages that are there, and commit them at once."""
        self._scheduled = False
        if self._committing or self._reloading:
            return
        if self.host.failure is not None:
            self.fail(self.host.failure)
            return
        with Undisturbed():  # nearly all that is made stays, at the least until an attempt is over
            self._go_round()

    def _go_round(self) -> None:
        self.stuck = None
        events: list[e.Event] = []
        taken: list[Sent] = []
        at = self.now()
        try:
            while self._inbox and len(taken) < MOST_MESSAGES:
                taken.append(self._inbox.popleft())
                self._take(*taken[-1], at, events)
            made = self._turn(events, at) if events else None
        except Exception as error:  # noqa: BLE001  a bug, ours or a strategy's, must not leave a run hanging unseen
            _log.exception("the run %s cannot be decided on; it stands as its journal says", self.run)
            self._fall_back(error, taken, is_lasting=True)
            return
        if made is not None:
            self._commit(made, events, taken)
        else:
            self._settled(taken)

    def _take(
        self, message: Message | Mended, future: "asyncio.Future[None] | None", at: int, events: list[e.Event]
    ) -> None:
        try:
            moment = self.host.room.moment(self.run, at)
            made = turn(self.state, message, moment if self.foreign is None else replace(moment, slots=0, held=True))
        except Refused as refusal:
            _refuse(future, refusal)
            return
        events += made
        self._count(made)

    def _count(self, made: list[e.Event]) -> None:
        """Tell the room what began and what is over."""
        room, run, state = self.host.room, self.run, self.state
        for event in made:
            if isinstance(event, REPORTS) and event.deed == "do":
                room.give(run, self._tools.pop(event.step))
            elif isinstance(event, e.AttemptStarted) and event.deed == "do":
                tool = self._tools[event.step] = state.names.tool(state.cells[event.step].traits.tool)
                room.take(run, tool)
        if state.locks or state.parked or not room.is_unlocked:
            room.hold(run, state.locks, filter(None, state.parked))  # who only waits to be alone needs no lock
        room.want(run, () if self.is_foreign or state.paused_at is not None else state.hungry)  # as it holds now

    # ------------------------------------------------------------ commits

    def _commit(self, made: Turn, events: list[e.Event], taken: list[Sent]) -> None:
        self._committing = taken
        self.head += len(events)
        written = self.host.journal.append(made, alone=self.host.is_quiet)
        if not isinstance(written, asyncio.Future):
            written = asyncio.ensure_future(written)
        if written.done():
            self._committed(written, made, events)
        else:
            written.add_done_callback(lambda done: self._committed_by(done, made, events))

    def _committed_by(self, done: "asyncio.Future[None]", made: Turn, events: list[e.Event]) -> None:
        """Somebody else has written it meanwhile."""
        with Undisturbed():
            self._committed(done, made, events)

    def _turn(self, events: list[e.Event], at: int) -> Turn:
        first = self.head + 1
        entries = [Entry(self.run, seq, each.type, at, e.encode(each)) for seq, each in enumerate(events, first)]
        artifacts = [Artifact(digest, data) for digest, data in self.state.kept.items()] if self.state.kept else ()
        asked, answered = _questions_in(events) if self.state.asked else ((), ())
        ended = self.state.ended
        memories = () if ended is None else (outcome_of(self.state, ended, at),)
        if len(self.state.holders) > 1:  # there may be agents
            memories = (*memories, *tasks_of(self.state, events, at), *lessons_of(self.state, events, at))
        return Turn(self.run, first, entries, artifacts, self._summary(), asked, answered, memories)

    def _summary(self) -> Summary | None:
        """What a listing shows, if it changed."""
        state = self.state
        status = status_of(state)
        wake_at = state.wake_at if status == "waiting" else None
        shown = (status, wake_at, tuple(state.locks), len(state.questions))
        if shown == self._shown:
            return None
        self._shown = shown
        started = state.started
        assert started is not None  # noqa: S101  whatever is written comes after the start
        return Summary(
            status, started.goal, started.session, started.parent, wake_at, state.ended is not None, counters_of(state)
        )

    def _committed(self, done: "asyncio.Future[None]", made: Turn, events: list[e.Event]) -> None:
        taken, self._committing = self._committing, []
        error = Closed("the journal was closed") if done.cancelled() else done.exception()
        if error is not None:
            self._not_kept(error, taken)
            return
        self._failed = 0
        for artifact in made.artifacts:
            if artifact.data is not None and self.state.kept.pop(artifact.digest, None) is not None:
                self.host.shelf.put(artifact.digest, artifact.data)
        self._do(caused(self.state, events))
        self._settled(taken)

    def _settled(self, taken: list[Sent]) -> None:
        for _, future in taken:
            if future is not None and not future.done():
                future.set_result(None)
        if self.state.ended is not None:
            self._end()
            return
        wake_at = self.state.wake_at
        self.host.note_wake(self.run, None if wake_at is None else wake_at - self._offset)
        if self._inbox:
            self._wake()  # and not at once: what one run gives up another takes, and they must not call each other
        else:
            self.host.stirring.discard(self.run)
            if not self.stage.busy:
                self.host.rests(self)

    def _end(self) -> None:
        for _, future in self._inbox:
            _refuse(future, Over(f"the run {self.run} is over"))
        self._inbox.clear()
        self.host.room.leave(self.run)
        self.host.room.hold(self.run, (), ())
        self.host.ended(self)

    # ------------------------------------------------------------ when a commit fails

    def _not_kept(self, error: BaseException, taken: list[Sent]) -> None:
        """What was decided is not so. Some errors pass, some are about this run; after others nobody knows the file."""
        self._failed += 1
        if isinstance(error, PASSING):
            self._fall_back(error, taken, is_lasting=self._failed > 1)
        elif isinstance(error, OF_ONE_RUN):
            _log.error("the run %s cannot go on: %s", self.run, error)
            self._fall_back(error, taken, is_lasting=True)
        else:
            self.fail(error, taken)
            self.host.fail(error)

    def _fall_back(self, error: BaseException, taken: list[Sent], *, is_lasting: bool) -> None:
        """Go back to what is durable. What came of attempts is held on to; if it lasts, the rest is given back."""
        self._inbox.extendleft(reversed(taken))
        self.stuck = error if is_lasting else None
        if is_lasting:
            for _, future in self._inbox:
                _refuse(future, error)
            self._inbox = deque(sent for sent in self._inbox if isinstance(sent[0], REPORTS))
            self.host.room.want(self.run, ())  # else it would be woken by what it gave back itself, again and again
        self._reloading = True
        self.host.reload(self, error)

    def fail(self, error: BaseException, taken: Sequence[Sent] = ()) -> None:
        """Stop driving: the store cannot go on. The run stands as its journal says."""
        for _, future in (*taken, *self._inbox):
            _refuse(future, error)
        self._inbox.clear()
        self.host.room.leave(self.run)
        self.host.gave_up(self, error)

    def restart(self, state: State, head: int, error: BaseException) -> None:
        """Go on from what is durable: paused, with the messages that were not kept; or when the next message comes."""
        state.kept.update(self.state.kept)
        self.state, self.head, self._shown, self._reloading = state, head, (), False
        self.count_anew()
        if self.stuck is not None:
            self.host.stopped(self, self.stuck)
            if any(future is not None for _, future in self._inbox):  # somebody spoke meanwhile
                self._wake()
            return
        if state.paused_at is None and state.ended is None:
            told = f"{error.code}: {error.message}" if isinstance(error, PerdureError) else str(error)
            self._inbox.appendleft((e.RunPaused(reason=well_formed(told)), None))
        self._wake()

    # ------------------------------------------------------------ deeds

    def _do(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, StartAttempt):
                self._begin(command)
            elif not self._stop(command):
                self._tell_unbegun(command, NOT_BEGUN)  # intended and stopped in one commit

    def _stop(self, command: Command) -> bool:
        is_late = command.deed != "undo" and self.state.cells[command.step].work.is_late
        why = "timeout" if is_late else "cancelled"
        return self.stage.stop(command.step, command.visit, command.attempt, why, command.deed)

    def _begin(self, command: StartAttempt) -> None:
        if self.host.failure is not None:
            return  # closed while the intent was written: it is in doubt, as if the process had died here
        try:
            attempt = attempt_for(self.state, command, self._around, self.now, partial(self._report, command))
        except Exception as error:  # noqa: BLE001  a secret that is not there, a value that cannot be read: it never began
            self._tell_unbegun(command, Outcome.failed("invalid", f"it could not begin: {error}"))
        else:
            self.host.at_work += 1
            if attempt.seconds is not None:
                self.host.heart()
            self.stage.start(attempt, command.deed)

    def _tell_unbegun(self, command: Command, outcome: Outcome) -> None:
        """One that had ended already, and whose end waits to be heard, is not touched: only the first report counts."""
        about = {"step": command.step, "visit": command.visit, "attempt": command.attempt, "deed": command.deed}
        self.post(self._ended(outcome, about))

    def _outside(self, tool: str) -> str:
        return self.host.outside(self.state.names.tool(tool))

    def _report(self, command: StartAttempt, fraction: float, message: str = "") -> None:
        """Called from any thread."""
        share = float(fraction)
        told = (share if 0.0 <= share <= 1.0 else float(share > 1.0), str(message)[:200])  # NaN is no share
        with suppress(RuntimeError):  # the loop may be gone; the one who reports need not know
            self._loop.call_soon_threadsafe(self._progress, command, *told)

    def _progress(self, command: StartAttempt, fraction: float, message: str) -> None:
        """Make a fact of it, but not more often than people look."""
        now = self.now()
        if now - self._progressed.get(command.step, 0) < PROGRESS_EVERY:
            return
        self._progressed[command.step] = now
        about: dict[str, Any] = {"step": command.step, "visit": command.visit, "attempt": command.attempt}
        self.post(e.AttemptProgressed(fraction=fraction, message=well_formed(message), **about))

    def _told(self, attempt: Attempt, outcome: Outcome, deed: e.Deed) -> None:
        """An attempt has ended."""
        self.host.at_work -= 1
        self._progressed.pop(attempt.step, None)
        about: dict[str, Any] = {"step": attempt.step, "visit": attempt.visit, "attempt": attempt.number}
        if deed != "do":
            about["deed"] = deed
        self._heard(self._ended(outcome, about))

    def _ended(self, outcome: Outcome, about: dict[str, Any]) -> e.AttemptEnded:
        if outcome.usage is not None:
            about["usage"] = countable(outcome.usage)
        if outcome.judged:
            about["judged"] = outcome.judged
        if outcome.sandboxed:
            about["sandboxed"] = outcome.sandboxed
        if outcome.approval is not None:
            approval = outcome.approval
            if about.get("deed", "do") == "do":
                approval = explained(approval, self.state.cells[about["step"]], self._outside)
            return e.AttemptEnded(exit="failure", approval=approval, **about)
        if outcome.failure is None:
            try:
                return e.AttemptEnded(
                    exit=outcome.exit, output=keep(outcome.output, self.state.kept, outcome.text), **about
                )
            except ValueError as error:
                outcome = Outcome.failed("invalid", f"what it gave is not JSON: {error}")
        assert outcome.failure is not None  # noqa: S101  one of both
        return e.AttemptEnded(exit="failure", failure=presentable(outcome.failure), **about)


def _events_in(message: Message | Mended) -> Sequence[e.Event]:
    if isinstance(message, Mended):
        return message.reopened, message.revised
    return () if isinstance(message, Look) else (message,)


def _questions_in(events: Sequence[e.Event]) -> tuple[list[str], list[str]]:
    """Those that were asked, and those that need no answer any more."""
    asked = [each.question for each in events if isinstance(each, e.QuestionAsked)]
    closed = (e.QuestionAnswered, e.QuestionClosed)
    return asked, [each.question for each in events if isinstance(each, closed)]


def _refuse(future: "asyncio.Future[None] | None", error: BaseException) -> None:
    if future is not None and not future.done():
        future.set_exception(error)
    elif future is None and isinstance(error, JournalError) and not isinstance(error, Closed):
        _log.error("a message was not kept: %s", error)

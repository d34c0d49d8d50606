"""The seams: what the engine asks of its parts, and the small records that cross over.

A journal stores facts in order. It knows no event types: an entry's body is bytes that are handed on as they are.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, NamedTuple, Protocol, runtime_checkable

import msgspec

from perdure.core.calls import Call, Earlier, Failure, Outcome
from perdure.core.policy import Layer
from perdure.errors import PerdureError

LAST: Final = "@last"
"""The name of the run that was started last."""


class Entry(NamedTuple):
    """One fact of a run. Facts are numbered from one, without gaps."""

    run: str
    seq: int
    type: str
    """A stable word."""
    at: int
    """Wall time in milliseconds, as its writer saw it. Order comes from `seq`, never from here."""
    body: bytes
    """JSON."""


class Artifact(msgspec.Struct, frozen=True, gc=False):
    """A value under the SHA-256 of its bytes, in hex. Without bytes it names a value that is there already."""

    digest: str
    data: bytes | None = None


class Summary(msgspec.Struct, frozen=True):
    """What a listing shows of a run. It follows from the facts; it is kept so that nobody has to fold them."""

    status: str
    goal: str = ""
    session: str = ""
    parent: str = ""
    wake_at: int | None = None
    """When the run wants to be looked at again, in milliseconds."""
    over: bool = False
    """Nothing will follow; retention may take it."""
    counters: bytes = b"{}"
    """JSON."""


OUTCOME: Final = "outcome"
"""The kind of memory that tells how a run ended."""
TASK: Final = "task"
"""The kind that tells how an agent did with a piece of work: nothing to be read, only counted. No word finds it."""
OF_RUNS: Final = (OUTCOME, TASK)
"""Kinds that are forgotten with their run; all others stay."""


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is remembered beyond its run, and where it comes from."""

    id: str
    """The same id again is the same memory, said anew."""
    kind: str
    """A word: `outcome`, `lesson`, `fact`, `task`."""
    text: str
    about: str = ""
    """What it is about, in words that somebody may look for; of an outcome, the goal."""
    run: str = ""
    """The run that it comes from, which may be forgotten by now."""
    step: str = ""
    by: str = ""
    """Who said it: `run` for how a run ended, `step` for what a step noted, `agent` for what an agent learned or how it
    did, else the name of a person."""
    at: int = 0
    """When, in milliseconds."""
    number: int = 0
    """Its place in the order of remembering within this journal, which sets it; the cursor of a listing."""


class Turn(msgspec.Struct, frozen=True, gc=False):
    """What one decision wrote. It is kept whole or not at all."""

    run: str
    first_seq: int
    """The run's head plus one."""
    entries: Sequence[Entry]
    artifacts: Sequence[Artifact] = ()
    summary: Summary | None = None
    """None if nothing changed that a listing shows. The first turn of a run has one."""
    asked: Sequence[str] = ()
    """Ids of questions that were asked in this turn."""
    answered: Sequence[str] = ()
    """Ids of questions that need no answer any more."""
    memories: Sequence[Memory] = ()
    """What is to be remembered of it. No hash covers them, and if they cannot be kept the turn is kept without."""


class Arrived(msgspec.Struct, frozen=True, gc=False):
    """A turn that was kept, and its place in the order over all runs."""

    number: int
    """Later turns have higher numbers. One that is gone is never given again."""
    run: str
    entries: tuple[Entry, ...]
    """Empty if what is stored cannot be read: then `verify` says of the run what is wrong."""


class Run(msgspec.Struct, frozen=True):
    """A run as a listing shows it."""

    id: str
    number: int
    """Its place in the order of creation within this journal; the cursor of a listing."""
    head_seq: int
    head: str
    """A hash over all that is stored of the run. Noted elsewhere, it shows if anything was taken away."""
    created: int
    updated: int
    summary: Summary


class Question(msgspec.Struct, frozen=True):
    """Something a person is asked."""

    run: str
    id: str
    number: int
    """Its place in the order of asking within this journal; the cursor of a listing."""
    asked_at: int
    answered: bool


class Filter(msgspec.Struct, frozen=True):
    """Which runs to list. What is not said does not matter."""

    statuses: Sequence[str] = ()
    session: str | None = None
    parent: str | None = None
    since: int | None = None
    """Created at this time or later."""
    over: bool | None = None


class Verdict(msgspec.Struct, frozen=True):
    """What a verification found. `bad_seq` is the first entry that cannot be believed, None if all can."""

    run: str
    entries: int
    bad_seq: int | None = None
    reason: str = ""


class Swept(msgspec.Struct, frozen=True):
    """What retention took away."""

    runs: int
    artifacts: int


class Journal(Protocol):
    """Remembers runs. `perdure.testing.contracts` says what every journal must do."""

    def append(self, turn: Turn, *, alone: bool = False) -> Awaitable[None]:
        """Keep a turn. What is returned resolves when the turn is durable; turns are kept in the order of the calls.

        `alone`: nobody else needs the event loop meanwhile, so a quick disk may be waited for right here.
        """
        ...

    async def read(self, run: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """The entries after a seq, oldest first. Empty for a run that is not there."""
        ...

    async def load(self, run: str) -> tuple[Run, list[Entry]]:
        """A run with all its entries, verified first. `Corrupt` names the first entry that cannot be believed."""
        ...

    async def grown(self, run: str, after: int, timeout: float) -> bool:  # noqa: ASYNC109  a wait that may end is the point
        """Wait until the run has an entry after a seq, but no longer than `timeout` seconds; whether it has one."""
        ...

    async def arrived(self, after: int = 0, limit: int = 100, runs: Sequence[str] = ()) -> list[Arrived]:
        """The turns of all runs after a number, in the order in which they were kept; or of those that are named.

        Turns that are forgotten leave gaps. Nothing ever comes before something that was seen.
        """
        ...

    async def last_arrival(self) -> int:
        """The number of the turn that was kept last, also if it is forgotten by now; 0 if there was none."""
        ...

    async def arrives(self, after: int, timeout: float) -> bool:  # noqa: ASYNC109  as with `grown`
        """Wait until there is a turn after a number, but no longer than `timeout` seconds; whether there is one."""
        ...

    async def run(self, name: str) -> Run:
        """A run by its id, the unique beginning of its id, or `@last`."""
        ...

    async def runs(self, where: Filter | None = None, before: int | None = None, limit: int = 50) -> list[Run]:
        """Runs, newest first; `before` is the number of the last one seen."""
        ...

    async def due(self, now: int, limit: int = 100) -> list[Run]:
        """Runs whose time to be looked at has come, the longest overdue first."""
        ...

    async def questions(
        self, run: str | None = None, *, answered: bool = False, after: int = 0, limit: int = 50
    ) -> list[Question]:
        """Questions in the order of asking; `after` is the number of the last one seen."""
        ...

    async def artifact(self, digest: str) -> bytes:
        """The value with this digest; it is hashed again before it is handed out."""
        ...

    def fetch(self, digest: str) -> bytes:
        """As `artifact`, at once and without a thread: for a value that a decision waits for."""
        ...

    async def verify(self, run: str) -> Verdict:
        """Look at all that is stored of a run, also its artifacts."""
        ...

    def export(self, run: str) -> AsyncIterator[bytes]:
        """A run with its artifacts as lines of JSON that stand for themselves."""
        ...

    async def take_in(self, lines: Iterable[bytes]) -> Run:
        """Keep an exported run, whole or not at all."""
        ...

    async def begin(self, turns: Sequence[Turn]) -> Run:
        """Keep the first turns of a new run, whole or not at all. The first and the last have the summary."""
        ...

    async def sweep(self, before: int, keep: int = 0) -> Swept:
        """Forget runs that are over and were last touched before a time, except the newest `keep` of them."""
        ...

    async def close(self) -> None:
        """Keep what was handed over, then let go of everything."""
        ...


@runtime_checkable
class Memories(Protocol):
    """Remembers what runs have taught. A journal may do that too; `perdure.testing.memories` says how.

    `NoMemory` if it cannot: nothing else is touched by that, and no run is stopped.
    """

    async def remember(self, memory: Memory) -> None:
        """Keep a memory; it is durable when this returns."""
        ...

    async def search(self, text: str, kinds: Sequence[str] = (), limit: int = 10) -> list[Memory]:
        """The memories with words of a text, the best first. A text is only ever words, whatever is in it."""
        ...

    async def memories(self, kinds: Sequence[str] = (), before: int | None = None, limit: int = 50) -> list[Memory]:
        """Memories, newest first; `before` is the number of the last one seen. Tasks only if they are asked for."""
        ...

    async def forget(self, memory: str) -> None:
        """Forget a memory by its id. `UnknownMemory` if there is none."""
        ...


# ------------------------------------------------------------------------------- giving work to others


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is looked for to do."""

    skills: Sequence[str] = ()
    """What it must be able to do."""
    among: Sequence[str] = ()
    """Whom it may be, the first that can; empty: anybody with the skills, the best of them."""
    without: Sequence[str] = ()
    """Whom it may not be."""
    priority: int = 0
    """Of those who wait for the same agent, the higher one goes first."""


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """Who does it, and why."""

    agent: str
    seat: str = ""
    """The lock to hold meanwhile, of an agent that does only so many things at once."""
    why: Sequence[str] = ()
    """Reasons, for people."""
    considered: Sequence[Mapping[str, Any]] = ()
    """All who could, the best first: each with what is known of it."""


class Desk(Protocol):
    """Finds agents for work."""

    async def choose(self, wanted: Wanted, attempt: "Attempt") -> Chosen:
        """Find one for a step. The tool fails with `rate_limited` if all who could are at work."""
        ...


# ------------------------------------------------------------------------------- performing


def unheard(fraction: float, message: str = "") -> None:
    """Where reports of progress go when nobody listens."""


def unnoted(attempt: "Attempt", word: str, value: Any) -> None:
    """Where notes go when nobody keeps them."""


def nothing_before() -> Sequence[Call]:
    """The conversation of a call that begins one."""
    return ()


def nothing_earlier() -> Sequence[Earlier]:
    """What was called before a step that nobody has grown."""
    return ()


def unread(digest: str) -> Any:
    """Where there is nothing to look up."""
    raise UnknownArtifact(f"there is no value {digest}")


class Attempt(msgspec.Struct, frozen=True):
    """One try at a step, as its performer sees it."""

    run: str
    step: str
    visit: int
    number: int
    """Tries at this visit are numbered from one."""
    key: str
    """The same for every try at the same deed: what a far side can know a repetition by."""
    call: Call
    seconds: float | None = None
    """How long it may take; None: as long as it likes."""
    report: Callable[[float, str], None] = unheard
    """Tell watchers how far it is, from 0 to 1, and a line about it. May be called from any thread."""
    deed: Literal["do", "undo", "judge"] = "do"
    """Whether the step is done, or its effect taken back, or what it gave is judged."""
    by: Literal["call", "probe", "undo"] = "call"
    """Which function of the tool does it: the tool itself, the one that finds out, or the one that takes back."""
    output: Any = None
    """What the deed gave that is to be taken back."""
    layers: tuple[Layer, ...] = ()
    """What the user, the plan and the groups around the step allow."""
    digest: str = ""
    """SHA-256 of the call without the values of secrets, by which an approval knows it."""
    approved: frozenset[str] = frozenset()
    """Digests of what people have agreed to at this visit."""
    note: Callable[["Attempt", str, Any], None] = unnoted
    """Keep a field of its outcome that is known before its end, and holds however it ends. From any thread."""
    before: Callable[[], Sequence[Call]] = nothing_before
    """The calls of the conversation that this one goes on with, the oldest first."""
    earlier: Callable[[], Sequence[Earlier]] = nothing_earlier
    """What was called before in the same agent's work, and what it gave, the oldest first."""
    read: Callable[[str], Any] = unread
    """A value that the call names by its digest."""
    contained: tuple[str, ...] = ()
    """The groups around the step, from the outside in, that keep what is done on a branch's copy of the workspace."""


class Performer(Protocol):
    """Does what a step asks for. To stop it, its task is cancelled; it has a few seconds to put things in order."""

    def perform(self, attempt: Attempt) -> Coroutine[Any, Any, Outcome]:
        """Do it. What goes wrong is told in the outcome; an exception counts as the failure `unknown`."""
        ...


# ------------------------------------------------------------------------------- models


class Offer(msgspec.Struct, frozen=True):
    """A tool, as a model is told of it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of its arguments."""


class Wish(msgspec.Struct, frozen=True):
    """A call that a model asks for."""

    tool: str
    arguments: Any
    """What it wants to give; an object, if the model keeps to what it was told."""
    id: str = ""
    """The name that the model has for it."""


class Said(msgspec.Struct, frozen=True):
    """What a model is asked."""

    text: str


class Answered(msgspec.Struct, frozen=True):
    """What a model has answered."""

    text: str
    wishes: tuple[Wish, ...] = ()
    thoughts: Any = None
    """What its provider wants to hear again with it; JSON."""


class Returned(msgspec.Struct, frozen=True):
    """What came of a call that a model asked for."""

    wish: Wish
    text: str
    is_error: bool = False


Remark = Said | Answered | Returned
"""One thing that was said in a conversation."""


class Request(msgspec.Struct, frozen=True):
    """All that a model is asked at once."""

    model: str
    """A tier or `provider:model`, as the plan has it."""
    remarks: Sequence[Remark]
    """The conversation; the last of it is news."""
    instructions: str = ""
    offers: Sequence[Offer] = ()
    returns: Mapping[str, Any] | None = None
    """JSON Schema of the answer; None: text."""
    choices: Sequence[str] = ()
    tokens: int | None = None
    """The most it may answer with."""
    temperature: float | None = None
    seconds: float | None = None
    """How long it may take."""
    digest: str = ""
    """What it is known by: the same for the same conversation."""


class Answer(msgspec.Struct, frozen=True):
    """What a model says."""

    text: str = ""
    wishes: tuple[Wish, ...] = ()
    finish: str = "stop"
    """Why it ended: `stop`, `calls`, `length` (it was cut off), `refused`."""
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = None
    """What it cost; None: nobody knows."""
    model: str = ""
    """Who answered, by the provider's name."""
    chances: Mapping[str, float] | None = None
    """How likely each choice was, where the provider tells."""
    thoughts: Any = None
    """What the provider wants to hear again; JSON."""


class ModelFailed(Exception):
    """A model gave no answer."""

    def __init__(
        self,
        kind: str,
        message: str,
        retry_after: float | None = None,
        answer: Answer | None = None,
        *,
        begun: bool = False,
    ) -> None:
        super().__init__(message)
        self.failure: Final = Failure(kind, message, retry_after)
        self.answer: Final = answer
        """What it gave nevertheless, which has to be paid."""
        self.begun: Final = begun
        """Whether it had begun to answer. Then it is not for nothing, also where nobody knows what it took."""


SCRIPT: Final = "script:"
"""Before the path of a file with answers, where the name of a model could stand."""


class Model(Protocol):
    """A language model. It tries once: the engine tries again."""

    async def ask(self, request: Request, heard: Callable[[str], None]) -> Answer:
        """Answer. `heard` is called with each piece of text as it comes. `ModelFailed` if there is no answer."""
        ...

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        """What a call would cost, in US dollars; None: nobody knows."""
        ...


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> int:
        """Milliseconds since 1970. Never goes back while the process lives."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class JournalError(PerdureError):
    """The journal could not do what was asked."""


class OutOfOrder(JournalError):
    """The turn does not follow on the run's last entry."""

    code: ClassVar[str] = "PRD2001"


class UnknownRun(JournalError):
    """There is no such run."""

    code: ClassVar[str] = "PRD2002"
    exit_code: int = 3


class Ambiguous(JournalError):
    """More than one run begins like this."""

    code: ClassVar[str] = "PRD2003"
    exit_code: int = 3


class Malformed(JournalError):
    """The turn contradicts itself or what is stored."""

    code: ClassVar[str] = "PRD2004"


class UnknownArtifact(JournalError):
    """There is no value with this digest."""

    code: ClassVar[str] = "PRD2005"


class AlreadyThere(JournalError):
    """A run with this id exists."""

    code: ClassVar[str] = "PRD2006"


class BadExport(JournalError):
    """What should be an exported run is none, or is damaged."""

    code: ClassVar[str] = "PRD2007"


class Closed(JournalError):
    """The journal was closed, or opened for reading only."""

    code: ClassVar[str] = "PRD2008"


class UnknownMemory(JournalError):
    """There is no such memory."""

    code: ClassVar[str] = "PRD2009"
    exit_code: int = 3


class Locked(JournalError):
    """Another process writes this journal."""

    code: ClassVar[str] = "PRD2101"
    exit_code: int = 75  # EX_TEMPFAIL: the same command can succeed later


class Fenced(JournalError):
    """Another process has taken this journal over."""

    code: ClassVar[str] = "PRD2102"


class Newer(JournalError):
    """The file was written by a newer release."""

    code: ClassVar[str] = "PRD2103"


class NoJournal(JournalError):
    """The file is not a journal."""

    code: ClassVar[str] = "PRD2104"
    exit_code: int = 3


class Older(JournalError):
    """The file was written by an older release, which kept no order over its runs."""

    code: ClassVar[str] = "PRD2106"


class NetworkDisk(JournalError):
    """The file lies on a file system whose locks and syncs cannot be trusted."""

    code: ClassVar[str] = "PRD2105"


class DiskFull(JournalError):
    """There is no room; nothing of the turn was kept."""

    code: ClassVar[str] = "PRD2201"


class Suspect(JournalError):
    """The disk failed in a way that leaves doubt; the journal has to be opened again."""

    code: ClassVar[str] = "PRD2202"


class ReadOnlyDisk(JournalError):
    """The file or its directory cannot be written."""

    code: ClassVar[str] = "PRD2203"


class Corrupt(JournalError):
    """What is stored is not what was written."""

    code: ClassVar[str] = "PRD2204"


class NoMemory(JournalError):
    """What was learned cannot be kept or looked up now; runs are not touched by that."""

    code: ClassVar[str] = "PRD2205"

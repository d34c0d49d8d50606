"""A model that says what one has said in an earlier run: no key, no cost, and no other answer than the one of then.

    RecordedModel.from_journal("runs.db", "@last")      a run of a journal, which others may be writing
    RecordedModel.from_export("r_01JX.jsonl")           a run that `perdure export` has written

A request is known by its digest, which stands for the whole conversation up to it. Where the same was asked several
times, the answers come in their order, and the last one stays. A request that was never made fails, and says which one
was the nearest, and where the two differ.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, Self

from msgspec.structs import replace

from perdure.core import events as e
from perdure.core.calls import Call
from perdure.engine.recording import Deed, recorded
from perdure.engine.unlike import unlike
from perdure.journal.driver import connect
from perdure.journal.parcel import unpack
from perdure.journal.reader import Reader
from perdure.models.answering import Form, form_of, said_again
from perdure.models.conversation import Conversations, Thread
from perdure.plan.visible import visible
from perdure.ports import LAST, Answer, Attempt, Entry, ModelFailed, Remark, Request
from perdure.testing.replays import rules_from

__all__ = ["RecordedModel"]

FEW: Final = 3
"""Places that are told where two requests differ."""
LONG: Final = 200
"""Letters of a text that are told."""
HELD: Final = 2_000
"""Letters of a request that are held against those of another one: the last ones, as that is where they differ."""


@dataclass(frozen=True, slots=True)
class _Made:
    """A request that was made, and what came of it."""

    step: str
    told: e.AttemptEnded
    form: Form
    picture: Mapping[str, Any]


class RecordedModel:
    """Answers as it is recorded, and remembers every request in `asked`."""

    def __init__(self, run: str, entries: list[Entry], fetch: Callable[[str], bytes]) -> None:
        self.run: Final = run
        self.asked: Final[list[Request]] = []
        self._recording: Final = recorded(run, rules_from(fetch), entries)
        self._times: Final[dict[str, int]] = {}
        """How often each request was made here."""

    @classmethod
    def from_journal(cls, path: Path | str, run: str = LAST) -> Self:
        """What a run has recorded: its id, the beginning of that, or `@last`."""
        reader = Reader(Path(path).expanduser().resolve(), connect)
        reader.check()
        found, entries = reader.load(reader.run(run).id)
        return cls(found.id, entries, reader.artifact)

    @classmethod
    def from_export(cls, path: Path | str) -> Self:
        """What an exported run has recorded."""
        turns = unpack(Path(path).read_bytes().splitlines())
        values = {each.digest: each.data for turn in turns for each in turn.artifacts if each.data is not None}
        return cls(turns[0].run, [entry for turn in turns for entry in turn.entries], values.__getitem__)

    async def ask(self, request: Request, heard: Callable[[str], None]) -> Answer:
        """Answer as it was answered then."""
        self.asked.append(request)
        made = self._made.get(request.digest, [])
        if not made:
            raise ModelFailed("invalid", self._unknown(request))
        number = self._times[request.digest] = self._times.get(request.digest, -1) + 1
        answer = self._answer(made[min(number, len(made) - 1)])
        heard(answer.text)
        return answer

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        """Nobody knows: what a call took then is told with its answer."""
        del tokens_in, tokens_out

    # ------------------------------------------------------------ what was recorded

    @cached_property
    def _made(self) -> Mapping[str, list[_Made]]:
        """What was asked, by digest, in the order of the answers."""
        found: dict[str, list[_Made]] = {}
        talks = Conversations()
        for deed in self._recording.deeds:
            call, told = deed.call, deed.told
            if call is not None and call.kind != "tool" and isinstance(told, e.AttemptEnded):
                thread = self._thread(talks, deed, call)
                made = _Made(deed.start.step, told, thread.form, _pictured(call, thread))
                found.setdefault(deed.start.call, []).append(made)
        return found

    def _thread(self, talks: Conversations, deed: Deed, call: Call) -> Thread:
        """The conversation up to a call; an agent that was asked as a whole has none."""
        if call.kind == "agent":
            return Thread(form=form_of(call.arguments))
        start, read = deed.start, self._recording.state.read
        return talks.up_to(
            Attempt(self.run, start.step, start.visit, start.attempt, "", call, digest=start.call, read=read)
        )

    def _answer(self, made: _Made) -> Answer:
        used = made.told.usage
        spent = Answer() if used is None else Answer(tokens_in=used.tokens, usd=used.usd)
        if (failure := made.told.failure) is not None:
            paid = spent if used else None
            raise ModelFailed(failure.kind, failure.message, failure.retry_after, paid, begun=paid is None)
        output = made.told.output.load(self._recording.state.read)
        said = said_again(output, made.form)
        chances = output.get("probabilities") if made.form == "choice" else None
        about = {"finish": "calls" if said.wishes else "stop", "thoughts": said.thoughts, "chances": chances}
        return replace(spent, text=said.text, wishes=said.wishes, model="recorded", **about)

    # ------------------------------------------------------------ what was not

    def _unknown(self, request: Request) -> str:
        wanted = _picture(request.model, request.instructions, request.remarks, _asks(request))
        known = [each for made in self._made.values() for each in made[:1]]
        near = max(known, key=lambda each: _likeness(each.picture, wanted), default=None)
        if near is None:
            return f"the run {self.run} has asked no model"
        places = "; ".join(islice(_told(near.picture, wanted), FEW)) or "what it offers, or what was said before"
        return f"this was never asked in {self.run}. The nearest request is that of {near.step}. It differs in {places}"


def _pictured(call: Call, thread: Thread) -> Mapping[str, Any]:
    given = call.arguments
    instructions = str(thread.held.get("instructions", ""))
    return _picture(call.name, instructions, thread.remarks, {word: given[word] for word in _ASKS if word in given})


def _picture(model: str, instructions: str, remarks: Any, asks: Mapping[str, Any]) -> Mapping[str, Any]:
    """A request as people look at it."""
    said: list[Remark] = list(remarks)
    return {
        "model": model,
        "instructions": instructions,
        "said": {str(n): each.text for n, each in enumerate(said, 1)},
        **asks,
    }


_ASKS: Final = ("returns", "choices")


def _asks(request: Request) -> Mapping[str, Any]:
    asks = {"returns": request.returns, "choices": list(request.choices)}
    return {word: value for word, value in asks.items() if value}


def _likeness(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[bool, float]:
    """How much two requests are alike: as long a conversation first, then what was said last."""
    first, second = ("\n".join((each["instructions"], *each["said"].values()))[-HELD:] for each in (one, other))
    return len(one["said"]) == len(other["said"]), SequenceMatcher(None, first, second).ratio()


def _told(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for where, before, after in unlike(was, now):
        yield f"{where}: {visible(str(before), LONG)!r} then, {visible(str(after), LONG)!r} now"

"""The guard of one attempt: has each deed judged before it is done, and remembers what was said."""

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Final

import msgspec

from perdure.core.calls import Approval
from perdure.core.policy import Deed, Judgement, Layer, is_nothing, judge, names_host, strictest
from perdure.core.values import digest_of
from perdure.ports import Attempt
from perdure.tools.failure import ToolFailure

MOST_KEPT: Final = 200
"""Judgements of one attempt that are written down; the strict ones come first."""
MOST_NOTED: Final = 10_000
"""Judgements that are remembered meanwhile: a command can ask for a million connections."""
MOST_SHOWN: Final = 20
FEW: Final = 3


class Unapproved(Exception):
    """Nothing was done: a person has to agree first. Raised by `Guard.check`, heard by the performer."""

    def __init__(self, approval: Approval) -> None:
        super().__init__(approval.text)
        self.approval: Final = approval


class Guard:
    """Judges the deeds of one attempt. May be used from any thread, one at a time."""

    def __init__(self, attempt: Attempt, definition: Callable[[], str] = str, *, thorough: bool = False) -> None:
        self._attempt: Final = attempt
        self._definition: Final = definition
        self._thorough: Final = thorough
        self._judged: list[Judgement] = []

    @property
    def judged(self) -> tuple[Judgement, ...]:
        """What was said so far, the strict verdicts first. What nobody minded is no decision, unless all is wanted."""
        told = self._judged if self._thorough else [each for each in self._judged if not is_nothing(each)]
        return tuple(sorted(told, key=_is_mild)[:MOST_KEPT]) if told else ()

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The rules that are in force."""
        return self._attempt.layers

    def verdict(self, deed: Deed, also: tuple[Layer, ...] = ()) -> Judgement:
        """What is said about a deed, written down; nothing is refused. `also`: rules a tool has of its own."""
        return self.note(judge((*self._attempt.layers, *also), deed))

    def note(self, found: Judgement) -> Judgement:
        """Write down what somebody else has said about a deed of this attempt."""
        if len(self._judged) < MOST_NOTED:
            self._judged.append(found)
        return found

    def names(self, deed: Deed) -> bool:
        """Whether the outermost layer allows a connection by the very name of its host."""
        return names_host(self._attempt.layers, deed)

    def check(self, deeds: Iterable[Deed], shown: str = "", also: tuple[Layer, ...] = ()) -> None:
        """Go on only if all deeds may be done; else `ToolFailure` (denied), or `Unapproved` if a person has to agree.

        `shown` is what a person sees, such as a diff. An approval holds for exactly these deeds and this text.
        """
        self._decide([self.verdict(deed, also) for deed in deeds], shown)

    def ask(self, deed: Deed, why: str, shown: str) -> None:
        """Go on only if a person has agreed to this deed and text, even where no rule asks for it."""
        found = self.verdict(deed)
        if found.verdict == "allow":
            found = self.note(Judgement(deed, "ask", "perdure", why))
        self._decide([found], shown)

    def _decide(self, found: list[Judgement], shown: str) -> None:
        verdict = strictest(found)
        if verdict == "deny":
            raise ToolFailure("denied", _refusal(found), detail={"deeds": _plain(found, "deny")})
        if verdict == "ask":
            approval = Approval(self._digest(found, shown), _question(self._attempt, found, shown))
            if approval.digest not in self._attempt.approved:
                raise Unapproved(approval)

    def _digest(self, found: list[Judgement], shown: str) -> str:
        """What exactly is agreed to."""
        attempt = self._attempt
        return digest_of(
            {
                "step": attempt.step,
                "call": attempt.digest or digest_of(attempt.call.data),
                "deeds": [msgspec.to_builtins(each.deed) for each in found],
                "shown": sha256(shown.encode()).hexdigest(),
                "layers": [_as_agreed(each) for each in attempt.layers],
                "tool": self._definition(),
            }
        )


def _as_agreed(layer: Layer) -> dict[str, object]:
    """A layer as people agree under it. What was agreed to before there were branches holds on."""
    said: dict[str, object] = msgspec.to_builtins(layer)
    return said if layer.contained else {word: value for word, value in said.items() if word != "contained"}


def _is_mild(found: Judgement) -> bool:
    return found.verdict == "allow"


def _plain(found: list[Judgement], verdict: str) -> list[object]:
    return [msgspec.to_builtins(each) for each in found if each.verdict == verdict][:MOST_SHOWN]


def _refusal(found: list[Judgement]) -> str:
    return _told([each for each in found if each.verdict == "deny"])


def _question(attempt: Attempt, found: list[Judgement], shown: str) -> str:
    why = _told([each for each in found if each.verdict == "ask"])
    return f"{attempt.step} wants to call {attempt.call.name}: {why}." + (f"\n\n{shown}" if shown else "")


def _told(found: list[Judgement]) -> str:
    told = "; ".join(f"{each.why} (says {each.by})" for each in found[:FEW])
    return told + (f"; and {len(found) - FEW} more" if len(found) > FEW else "")

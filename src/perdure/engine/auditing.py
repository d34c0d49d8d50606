"""The audit of a run: what failed, how it was classified, what was tried next, what it cost, and what helped.

A pure function of the entries of a journal. Facts are looked at by their type words, so that what a release does not
know yet does not stand in the way.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import msgspec

from perdure.core.calls import Usage
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.ports import Entry

LOST: Final = {"kind": "in_doubt", "message": "its process is gone, and nobody saw the end"}
REJECTED: Final = {"kind": "unmet", "message": "it ended, and what it gave was not accepted"}
INSIDE: Final = "what it holds failed, or was not good enough"
_PASSES: Final = ("next", "done")
Body = Mapping[str, Raw]


@dataclass(slots=True)
class Remedy:
    """What was tried next."""

    did: str
    """A rung of the ladder; `answer`: a person said what to do; `reopen`: a person wanted it tried again."""
    at: int
    """When, in milliseconds."""
    after: float | None = None
    """Seconds until it may begin."""
    kind: str = ""
    """What kind of failure it was taken for."""
    tool: str = ""
    """The tool that was found by the skills of the step, if it is one."""
    question: str = ""
    answer: Any = None
    by: str = ""


@dataclass(slots=True)
class Trouble:
    """One attempt that failed."""

    attempt: int
    """0: it is a group, and not tried itself."""
    at: int
    """When it ended, in milliseconds."""
    kind: str
    message: str
    deed: str = "do"
    retry_after: float | None = None
    rule: str = ""
    """What it was classified by, if that is known."""
    exception: str = ""
    where: str = ""
    seconds: float = 0.0
    usage: Usage | None = None
    remedies: list[Remedy] = field(default_factory=list[Remedy])


@dataclass(slots=True)
class Case:
    """One visit of a step in which something failed."""

    step: str
    visit: int
    troubles: list[Trouble] = field(default_factory=list[Trouble])
    exit: str = ""
    """What the visit ended with; empty: it is not over."""
    to: str = ""
    at: int | None = None
    """When it ended."""
    partial: bool = False
    failure: Mapping[str, Any] | None = None
    cause: str = ""
    """The step inside whose failure this is."""
    stays: list[str] = field(default_factory=list[str])
    """Steps inside whose effects stay: for that it was not done again, or in another way that it has."""

    @property
    def remedies(self) -> list[Remedy]:
        """All that was tried, in order."""
        return [each for trouble in self.troubles for each in trouble.remedies]

    @property
    def helped(self) -> str:
        """What was tried last before it went well; empty if it did not."""
        went_well = bool(self.exit) and self.failure is None and self.to in _PASSES and not self.partial
        tried = [each.did for each in self.remedies if each.did not in ("answer", "fail")]
        return (tried[-1] if tried else "another way") if went_well and self.troubles else ""

    @property
    def cost(self) -> Usage:
        """What the attempts that failed took."""
        used = [each.usage for each in self.troubles if each.usage]
        priced = [each.usd for each in used if each.usd is not None]
        return Usage(
            seconds=round(sum(each.seconds for each in self.troubles), 3),
            tokens=sum(each.tokens for each in used),
            usd=sum(priced) if priced else None,
            calls=sum(each.calls for each in used),
        )

    def data(self) -> dict[str, Any]:
        """As JSON."""
        told: dict[str, Any] = asdict(self) | {"helped": self.helped, "cost": msgspec.structs.asdict(self.cost)}
        for trouble, shown in zip(self.troubles, told["troubles"], strict=True):
            shown["usage"] = msgspec.structs.asdict(trouble.usage) if trouble.usage else None
        return told


def audit(entries: Iterable[Entry]) -> list[Case]:
    """The visits in which something failed, in the order in which they first did."""
    auditor = _Auditor()
    for entry in entries:
        body: Raw = _read(entry.body)
        look = _LOOKS.get(entry.type)
        if look is not None and is_mapping(body):
            look(auditor, body, entry.at)
    return list(auditor.cases.values())


def _read(body: bytes) -> Raw:
    try:
        return msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return None  # whether the journal is whole, others look


class _Auditor:
    def __init__(self) -> None:
        self.cases: dict[tuple[str, int], Case] = {}
        self._began: dict[tuple[str, int, int, str], int] = {}
        self._ended: dict[tuple[str, int], Body] = {}
        """The last attempt of each visit that is not known to have failed, with when it ended."""
        self._asked: dict[str, Case] = {}
        self._paused = 0
        self._since: int | None = None

    # ------------------------------------------------------------ attempts

    def started(self, body: Body, at: int) -> None:
        self._began[_try(body)] = at

    def ended(self, body: Body, at: int) -> None:
        if is_mapping(body.get("failure")):
            self._failed(body, body["failure"], at)
        elif body.get("approval") is None and body.get("deed", "do") == "do":
            self._ended[_visit(body)] = {**body, "at": at}
        if body.get("to"):
            self.over(body, at)

    def lost(self, body: Body, at: int) -> None:
        self._failed(body, LOST, at)

    def _failed(self, body: Body, failure: Mapping[str, Any], at: int) -> None:
        began = self._began.get(_try(body), at)
        detail: Raw = failure.get("detail")
        seen: Body = detail if is_mapping(detail) else {}
        trouble = Trouble(
            attempt=body.get("attempt", 1),
            at=at,
            kind=str(failure.get("kind", "unknown")),
            message=str(failure.get("message", "")),
            deed=str(body.get("deed", "do")),
            retry_after=failure.get("retry_after"),
            rule=_text(seen.get("rule")),
            exception=_text(seen.get("exception")),
            where=_text(seen.get("at")),
            seconds=max(0, at - began) / 1000,
            usage=_usage(body.get("usage")),
        )
        self._case(body).troubles.append(trouble)
        self._ended.pop(_visit(body), None)

    def _case(self, body: Body) -> Case:
        step, visit = _visit(body)
        return self.cases.setdefault((step, visit), Case(step, visit))

    def _known(self, body: Body) -> Case | None:
        """The case of a visit. One whose attempt ended, and was tried again, was not accepted."""
        ended = self._ended.pop(_visit(body), None)
        if ended is not None:
            self._failed(ended, _rejected(body, REJECTED), ended["at"])
        return self.cases.get(_visit(body))

    # ------------------------------------------------------------ what was tried next

    def retried(self, body: Body, at: int) -> None:
        """Whoever goes another way begins at once, and that is told already."""
        due, known = body.get("due", at), self.cases.get(_visit(body))
        if known is not None and known.remedies and known.remedies[-1].did in {"simplify", "alternate"}:
            return
        self._remedy(self._known(body), Remedy("retry", at, max(0, due - (at - self._paused)) / 1000))

    def climbed(self, body: Body, at: int) -> None:
        """A rung was taken. A group is not tried itself: what is inside it failed, and that is its trouble too."""
        rung, kind = _text(body.get("rung")), _text(body.get("kind"))
        known = self._known(body)
        if known is None or not known.troubles or _was_done_again(known.troubles[-1]):
            self._failed({**body, "attempt": 0}, _rejected(body, {"message": INSIDE}), at)
        self._remedy(self._case(body), Remedy(rung, at, kind=kind, tool=_text(body.get("tool"))))

    def asked(self, body: Body, at: int) -> None:
        case = self._known(body) if body.get("about") in ("doubt", "recovery") else self.cases.get(_visit(body))
        if case is not None and case.troubles:
            self._remedy(case, Remedy("ask", at, question=_text(body.get("question"))))
            self._asked[_text(body.get("question"))] = case

    def answered(self, body: Body, at: int) -> None:
        case, value = self._asked.get(_text(body.get("question"))), body.get("value")
        answer: Raw = value.get("data") if is_mapping(value) else None
        question, by = _text(body.get("question")), _text(body.get("by"))
        self._remedy(case, Remedy("answer", at, question=question, answer=answer, by=by))

    def reopened(self, body: Body, at: int) -> None:
        self.resumed(body, at)
        found = [case for case in self.cases.values() if case.step == body.get("step")]
        self._remedy(found[-1] if found else None, Remedy("reopen", at, by=_text(body.get("by"))))

    def replanned(self, body: Body, at: int) -> None:
        """The rest of the plan has changed because of a failure."""
        step, kind = _text(body.get("after")), _text(body.get("kind"))
        visit = max((visit for known, visit in (*self._ended, *self.cases) if known == step), default=0)
        if kind:
            case = self._known({"step": step, "visit": visit, "kind": kind})
            self._remedy(case, Remedy("replan", at, kind=kind, by=_text(body.get("by"))))

    def _remedy(self, case: Case | None, remedy: Remedy) -> None:
        """A rung, and the fact that comes of it, are one remedy."""
        if case is None or not case.troubles:
            return
        remedies = case.troubles[-1].remedies
        if remedies and remedies[-1].did == remedy.did and not (remedies[-1].question or remedies[-1].after):
            remedy.kind = remedy.kind or remedies.pop().kind
        remedies.append(remedy)

    # ------------------------------------------------------------ how it ended

    def over(self, body: Body, at: int) -> None:
        failure: Raw = body.get("failure")
        ended = self._ended.pop(_visit(body), None)
        case = self._case(body) if is_mapping(failure) else self.cases.get(_visit(body))
        if case is None:
            return
        if is_mapping(failure) and not body.get("cause") and (ended is not None or not case.troubles):
            self._failed(ended or body, failure, at)
        case.exit, case.to, case.at = _text(body.get("exit", "success")), _text(body.get("to", "next")), at
        case.partial, case.cause = body.get("partial") is True, _text(body.get("cause"))
        case.failure = failure if is_mapping(failure) else None
        stays: Raw = body.get("stays")
        case.stays = [each for each in stays if isinstance(each, str)] if is_list(stays) else []
        if case.partial and not any(each.did in {"continue", "replan"} for each in case.remedies):
            self._remedy(case, Remedy("continue", at))

    def kept(self, body: Body, at: int) -> None:
        case, failure = self._case(body), body.get("failure")
        if not any(each.deed == "undo" for each in case.troubles) and is_mapping(failure):
            self._failed({**body, "deed": "undo"}, failure, at)

    # ------------------------------------------------------------ the clock of the run

    def paused(self, _: Body, at: int) -> None:
        self._since = at if self._since is None else self._since

    def resumed(self, _: Body, at: int) -> None:
        self._paused += 0 if self._since is None else at - self._since
        self._since = None


_LOOKS: Final[dict[str, Callable[[_Auditor, Body, int], None]]] = {
    "attempt_started": _Auditor.started,
    "attempt_ended": _Auditor.ended,
    "attempt_lost": _Auditor.lost,
    "retry_planned": _Auditor.retried,
    "rung_taken": _Auditor.climbed,
    "question_asked": _Auditor.asked,
    "question_answered": _Auditor.answered,
    "run_reopened": _Auditor.reopened,
    "run_revised": _Auditor.replanned,
    "step_ended": _Auditor.over,
    "step_passed": _Auditor.over,
    "effect_kept": _Auditor.kept,
    "run_paused": _Auditor.paused,
    "run_resumed": _Auditor.resumed,
    "run_stopping": _Auditor.resumed,
    "run_ended": _Auditor.paused,
}


def _was_done_again(trouble: Trouble) -> bool:
    """Whether a group was done again after it: if something is tried after that, it has failed once more."""
    return not trouble.attempt and any(each.did == "retry" for each in trouble.remedies)


def _visit(body: Body) -> tuple[str, int]:
    return _text(body.get("step")), body.get("visit", 1)


def _try(body: Body) -> tuple[str, int, int, str]:
    return (*_visit(body), body.get("attempt", 1), _text(body.get("deed", "do")))


def _rejected(body: Body, otherwise: Mapping[str, str]) -> Mapping[str, Any]:
    """What was wrong with a result or a group, which earlier releases did not say."""
    told: Raw = body.get("rejected")
    kind = body.get("kind") or otherwise.get("kind", "unknown")
    return told if is_mapping(told) else {**otherwise, "kind": kind}


def _text(value: Raw) -> str:
    return value if isinstance(value, str) else ""


def _usage(value: Raw) -> Usage | None:
    try:
        return msgspec.convert(value, Usage) if is_mapping(value) else None
    except ValueError:
        return None

"""Criteria that a tool or an agent judges: they are asked about what a step gave, in the order of the plan.

A judge says `true` or `false`, or `{"met": …, "why": …, "fixes": […]}`. It is a look, not a try: it takes no place and
leaves the attempt it is about as it was. A judge that cannot be reached is asked a few times more.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from perdure.core import events as e
from perdure.core.affording import Wish, afford, deadline
from perdure.core.calls import NOTHING, Approval, Call, Failure, is_yes
from perdure.core.cells import Cell, Look
from perdure.core.chance import drawn, pause_before
from perdure.core.consulting import answered
from perdure.core.deciding import Deciding
from perdure.core.patience import terms
from perdure.core.seeing import filled, refusal
from perdure.core.state import State
from perdure.core.trying import LOOK_SECONDS, LOOKING
from perdure.core.values import digest_of
from perdure.plan.expr import ExpressionError
from perdure.plan.model.parts import Criterion
from perdure.plan.raw import is_list, is_mapping

PASSING = frozenset({"transient", "rate_limited", "timeout", "unavailable"})
"""Failures of a judge after which it is asked again."""


VERDICT: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["met", "why"],
    "properties": {
        "met": {"type": "boolean"},
        "why": {"type": "string"},
        "fixes": {"type": "array", "items": {"type": "string"}},
        "score": {"type": "number"},
    },
}
"""What an agent says that judges."""


def name_of(judge: Criterion) -> str:
    """Who judges."""
    return str(judge.tool or judge.agent)


def is_judged(turn: Deciding, cell: Cell, exit_: str) -> tuple[bool, Failure | None]:
    """Whether the judges have had their say, and what they object to. Who is missing is asked."""
    judges, work = cell.traits.judges, cell.work
    if exit_ != "success" or work.met == len(judges):
        return True, None
    verdict, judge = work.verdict, judges[work.met]
    if verdict is None or verdict.found is True:
        return _ask(turn, cell, judge)
    if verdict.told is None or _may_pass(verdict, verdict.told.failure):
        return _ask_again(turn, cell, judge, verdict)
    if verdict.told.approval is not None:
        return _settle_approval(turn, cell, verdict, verdict.told.approval)
    return True, objection(judge, verdict.told.failure, verdict.told.output.load(turn.read))


def _may_pass(verdict: Look, failure: Failure | None) -> bool:
    """Whether it is worth asking again: it took too long, or failed in a way that may be over soon."""
    return failure is not None and (verdict.stopping or failure.kind in PASSING)


def objection(judge: Criterion, failure: Failure | None, said: Any) -> Failure | None:
    """What a judge objects to, by how it failed or what it said; None: it is content."""
    title = judge.title or name_of(judge)
    if failure is not None:
        return Failure(failure.kind, f"{name_of(judge)}, which judges it, failed: {failure.message}")
    met = said.get("met") if is_mapping(said) else said
    if met is True:
        return None
    if met is not False:
        return Failure(
            "invalid", f"{title}: {name_of(judge)} says {said!r:.80}; a judge says true, false or {{met, why}}"
        )
    return Failure("unmet", ": ".join((f"not met: {title}", *_words(said))))


def _words(said: Any) -> Iterator[str]:
    """Why a judge is not content, and what would mend it: whoever tries again is told."""
    if not is_mapping(said):
        return
    if said.get("why"):
        yield str(said["why"])
    if is_list(fixes := said.get("fixes")) and fixes:
        yield f"to mend it: {'; '.join(map(str, fixes))}"


def _settle_approval(turn: Deciding, cell: Cell, verdict: Look, approval: Approval) -> tuple[bool, Failure | None]:
    """A person has to agree to what a judge is about to do: ask once, and go on if somebody does."""
    judge, answer = cell.traits.judges[cell.work.met], turn.state.answers.get(verdict.question)
    if not verdict.question:
        _ask_person(turn, cell, judge, approval)
    elif verdict.question in turn.state.questions:
        return False, None
    elif answer is not None and is_yes(answer.load(turn.read)):
        return _ask(turn, cell, judge, (*verdict.approved, approval.digest))
    else:
        told = refusal(turn.state, verdict.question)
        return True, Failure("denied", f"{name_of(judge)}, which judges it, was not allowed: {told.message}")
    return False, None


def _ask_person(turn: Deciding, cell: Cell, judge: Criterion, approval: Approval) -> None:
    number = cell.work.looks
    text = f"To judge {cell.key} by {name_of(judge)}: {approval.text}"
    about: dict[str, Any] = {
        "step": cell.key,
        "visit": cell.visit,
        "question": f"q_{cell.key}_{cell.visit}_judge{number}",
    }
    about |= terms(turn, cell)
    turn.record(
        e.QuestionAsked(**about, answer="approval", about="policy", text=text, approves=approval.digest, deed="judge")
    )


def _ask(turn: Deciding, cell: Cell, judge: Criterion, approved: tuple[str, ...] = ()) -> tuple[bool, Failure | None]:
    try:
        call = judging_call(turn.state, cell)
    except ExpressionError as error:
        return True, Failure("invalid", f"{judge.title or name_of(judge)}: {error.message}")
    due: int | None = turn.now + round((turn.state.rules.seconds(call) or LOOK_SECONDS) * 1000)
    promised = None
    if cell.ledgers:
        promised = afford(turn, cell, Wish(call, {}, int(judge.agent is not None), 0, judges=True))
        if promised is None:
            return False, None
        due = deadline(turn, cell, due)
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "attempt": cell.work.looks + 1, "deed": "judge"}
    about["reserved"] = None if promised == NOTHING else promised
    turn.record_start(cell, e.AttemptStarted(**about, call=digest_of(call.data), due=due, approved=approved))
    return False, None


def _ask_again(turn: Deciding, cell: Cell, judge: Criterion, verdict: Look) -> tuple[bool, Failure | None]:
    failure = verdict.told.failure if verdict.told else None
    if verdict.tries >= LOOKING.attempts:
        why = failure.message if failure else "its process died"
        return True, Failure("unavailable", f"{name_of(judge)}, which judges it, failed: {why}")
    if verdict.due is not None:
        return _ask(turn, cell, judge, verdict.approved) if verdict.due <= turn.now else (False, None)
    draw = drawn(turn.state, f"{cell.key}~", cell.visit, verdict.number)
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "attempt": verdict.number, "deed": "judge"}
    turn.record(e.RetryPlanned(**about, due=turn.now + pause_before(draw, verdict.tries, LOOKING, failure)))
    return False, None


def judging_call(state: State, cell: Cell, secrets: Mapping[str, Any] | None = None) -> Call:
    """What the next judge is asked. Without secrets, each is a note of its name."""
    judge = cell.traits.judges[cell.work.met]
    seen: dict[str, Any] = {"output": _given(state, cell), "exit": "success"}
    if secrets is not None:
        seen["secrets"] = secrets
    given = filled(state, cell.scope, judge.with_, **seen)
    if judge.agent is None:
        return Call("tool", str(judge.tool), given)
    task = judge.title or "Judge whether this is good enough."
    return Call("agent", judge.agent, {"task": task, "with": {"output": seen["output"], **given}, "returns": VERDICT})


def _given(state: State, cell: Cell) -> Any:
    """What the step gave: as its attempt told, or as a probe or a person found out, or as a person has done it."""
    work = cell.work
    if cell.is_asking:
        return answered(state.answers[cell.question].load(state.read))[1]
    if work.outcome is not None and work.outcome.failure is None:
        return work.outcome.output.load(state.read)
    if work.probe is not None and work.probe.told is not None and work.probe.found is True:
        return work.probe.told.output.load(state.read).get("output")
    return answered(state.answers[cell.question].load(state.read))[1]

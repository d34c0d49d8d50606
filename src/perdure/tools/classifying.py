"""Classifying: every failure gets a kind by a table of rules. The user's count first, then the tool's, then ours.

Two things no rule can do by itself. A doubt stays one: where nobody knows whether a call was done that may not be
repeated, only a rule that says so (`effect = "none"`) makes a plain failure of it. And what the engine itself refuses,
by policy, budget or because somebody wanted it to stop, is not for rules to call otherwise.
"""

from collections.abc import Sequence
from typing import Any, Final

from perdure.core.calls import DOUBTFUL, Failure, Repeat
from perdure.plan.model.parts import FailureKind as Kind
from perdure.plan.raw import is_mapping
from perdure.tools.failure import ToolFailure, failure_of
from perdure.tools.rulebook import OURS
from perdure.tools.rules import Rule
from perdure.tools.signs import Signs, Told

REFUSALS: Final = frozenset({"denied", "budget", "cancelled"})
"""Kinds that the engine itself fails a call with."""


def told_by(
    signs: Signs, message: str, *, repeat: Repeat = "never", otherwise: Kind = "unknown", **more: Any
) -> ToolFailure:
    """A failure of a tool of ours that has seen signs. `more`: `retry_after` and `detail`."""
    rule = first(OURS, signs, "")
    return ToolFailure(_kind(rule, repeat) if rule else otherwise, message, signs=signs, **more)


def classified_error(error: BaseException, tool: str, repeat: Repeat, rules: Sequence[Rule] = ()) -> Failure:
    """What an exception means."""
    told = failure_of(error)
    return classified(told, tool, repeat, rules) if isinstance(told, Told) else told


def classified(
    told: Told, tool: str, repeat: Repeat, users: Sequence[Rule] = (), tools: Sequence[Rule] = ()
) -> Failure:
    """What a failure is, by all rules there are."""
    signs = told.signs
    ours = first(OURS, signs, tool) if not told.kind or _is_of_another(signs) else None
    kind = told.kind or (_kind(ours, repeat) if ours else "unknown")
    of_user, of_tool = (None, None) if _is_refusal(told) else (first(users, signs, tool), first(tools, signs, tool))
    given = of_user or of_tool
    if given is not None and not _hides_a_doubt(given, kind, repeat):
        kind = _kind(given, repeat)
    pause = told.retry_after if told.retry_after is not None or given is None else given.retry_after
    who = "user" if of_user else "tool" if of_tool else ""
    return Failure(kind, told.message, pause, _detail(told, given or ours, who))


def first(rules: Sequence[Rule], signs: Signs, tool: str) -> Rule | None:
    """The first rule that fits a failure; if none does, the first that fits what lies behind it."""
    return next((rule for each in signs.chain() for rule in rules if rule.fits(each, tool)), None)


def _kind(rule: Rule, repeat: Repeat) -> Kind:
    return "in_doubt" if rule.effect == "unknown" and repeat == "never" else rule.kind


def _is_refusal(told: Told) -> bool:
    """Whether the engine itself has said no."""
    return told.kind in REFUSALS and not _is_of_another(told.signs)


def _is_of_another(signs: Signs) -> bool:
    """Whether another side has left its signs."""
    return bool(signs.status or signs.errors or signs.rpc or signs.exit_code)


def _hides_a_doubt(rule: Rule, kind: str, repeat: Repeat) -> bool:
    return kind in DOUBTFUL and repeat != "safe" and rule.kind not in DOUBTFUL and rule.effect != "none"


def _detail(told: Told, rule: Rule | None, who: str) -> Any:
    """What is kept beside the message: where an exception came from, and the rule it was classified by."""
    said: Any = told.detail
    if (said is not None and not is_mapping(said)) or (told.kind and rule is None):
        return said
    signs, by = told.signs, "" if rule is None else f"{who}: {rule.name}" if who else rule.name
    seen = {} if told.kind else {"exception": next(iter(signs.exceptions), ""), "at": signs.at}
    return {**(said or {}), **{word: text for word, text in {**seen, "rule": by}.items() if text}} or None

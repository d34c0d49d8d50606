"""Whether what a tool says about itself can be so: told while the tool is written, not when a run needs it."""

import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, get_args

from perdure.core.calls import Repeat
from perdure.core.deeds import Deed, DeedKind, flaw_of
from perdure.plan.facts import fact_of
from perdure.plan.facts import flaw_of as fact_flaw_of
from perdure.plan.model.parts import NAME_PATTERN
from perdure.plan.problems import did_you_mean
from perdure.plan.raw import Raw
from perdure.tools.declaring import WORDS, Declaration
from perdure.tools.errors import BadDeclaration
from perdure.tools.signature import Signature

_BRACES: Final = re.compile(r"\{([^{}]*)\}|[{}]")
_WILD: Final = re.compile(r"[*?]")
_LISTS: Final[dict[str, DeedKind]] = {"reads": "read", "writes": "write", "hosts": "connect", "resources": "use"}
_HANDED: Final = ("key", "output", "context")
"""What a probe or an undo may have besides the arguments."""
AMOUNTS: Final = ("seconds", "usd", "tokens", "calls", "megabytes")
Flaw = tuple[str, str]
"""What is wrong, and what to write instead."""


def vet(
    name: str, signature: Signature, repeat: Repeat | Callable[..., Repeat], declared: Declaration, *, isolate: bool
) -> None:
    """`BadDeclaration` with the first thing that cannot be so."""
    for flaw, hint in (*_flaws(signature, repeat, declared), *(_apart_flaws(declared) if isolate else ())):
        raise BadDeclaration(f'"{name}": {flaw}', hint)


def _flaws(signature: Signature, repeat: Repeat | Callable[..., Repeat], declared: Declaration) -> Iterator[Flaw]:
    arguments = list(signature.names.values())
    yield from _repeat_flaws(repeat, arguments)
    yield from _effect_flaws(declared)
    for word, kind in _LISTS.items():
        yield from _list_flaws(word, kind, getattr(declared, word), arguments)
    for word in ("probe", "undo", "foresee"):
        yield from _function_flaws(word, getattr(declared, word), [*arguments, *_HANDED, *_one(signature.context)])
    yield from _rule_flaws(declared.failures)
    yield from _skill_flaws(declared.skills)
    for word in ("requires", "achieves"):
        yield from _fact_flaws(word, getattr(declared, word), arguments)
    if declared.requires and not declared.achieves:
        yield "it says what it requires, but not what it achieves", "add achieves=[…]: no planner would call it else"
    if callable(declared.staged):
        yield from _function_flaws("staged", declared.staged, [*arguments, "hands"])
    yield from _estimate_flaws(declared.estimate or {})
    if declared.foresee is not None and not declared.judges:
        yield "it foresees deeds that it does not have judged", "add judges=True; or leave foresee out"
    if declared.judges and signature.context is None:
        yield "it judges its deeds itself, but has no context to do it with", "add a parameter `context: Context`"


def _rule_flaws(rules: Raw) -> Iterator[Flaw]:
    if not rules:
        return
    from perdure.tools.rules import Rule  # noqa: PLC0415  few tools have any

    listed: list[object] = [*rules] if type(rules) in (list, tuple) else [rules]
    if isinstance(rules, Rule) or not all(isinstance(each, Rule) for each in listed):
        yield f"failures: {repr(listed)[:60]} is no list of rules", "write [Rule(…)], imported from perdure"


def _skill_flaws(skills: Raw) -> Iterator[Flaw]:
    if isinstance(skills, str):
        yield "skills is a text", f'write ["{skills}"]'
        return
    for each in skills:
        if not isinstance(each, str) or not re.fullmatch(NAME_PATTERN, each):
            yield f"{each!r} is no name of a skill", "write letters, digits, _, . and -, beginning with a letter"


def _apart_flaws(declared: Declaration) -> Iterator[Flaw]:
    """What a tool cannot do from a process of its own."""
    hint = "leave isolate out; or leave this out, and say what it touches in reads, writes and hosts"
    if declared.judges:
        yield "it judges its deeds itself, but with isolate=True it has no guard to ask", hint
    if declared.staged:
        yield "it is staged, but with isolate=True it has no hands to find its workspace by", hint


def _one(name: str | None) -> list[str]:
    return [name] if name else []


def _repeat_flaws(repeat: Repeat | Callable[..., Repeat], arguments: list[str]) -> Iterator[Flaw]:
    if callable(repeat):
        yield from _function_flaws("repeat", repeat, arguments)
    elif repeat not in get_args(Repeat):
        yield f"there is no repeat {repeat!r}", did_you_mean(str(repeat), get_args(Repeat))


def _effect_flaws(declared: Declaration) -> Iterator[Flaw]:
    if isinstance(declared.effects, str):
        yield "effects is a text", f'write ["{declared.effects}"]'
    for word in declared.effects or ():
        if word not in WORDS:
            yield f'there is no effect "{word}"', did_you_mean(str(word), WORDS)


def _fact_flaws(word: str, facts: Raw, arguments: list[str]) -> Iterator[Flaw]:
    if isinstance(facts, str):
        yield f"{word} is a text", f'write ["{facts}"]'
        return
    for each in facts:
        flaw = fact_flaw_of(each) if isinstance(each, str) else (f"{each!r} is no fact", "write a text, as in tested")
        if flaw is not None:
            yield f"{word}: {flaw[0]}", flaw[1]
            return
        for variable in fact_of(each).variables:
            if variable.name not in arguments:
                hint = did_you_mean(variable.name, arguments) or "?argument stands for what the call is given"
                yield f'{word}: there is no argument ?{variable.name} in "{each}"', hint


def _list_flaws(word: str, kind: DeedKind, patterns: Iterable[str], arguments: list[str]) -> Iterator[Flaw]:
    if isinstance(patterns, str):
        yield f"{word} is a text", f'write ["{patterns}"]'
        return
    for pattern in patterns:
        yield from _pattern_flaws(word, kind, pattern, arguments)


def _pattern_flaws(word: str, kind: DeedKind, pattern: str, arguments: list[str]) -> Iterator[Flaw]:
    """A declaration names what is touched. Gaps would be compared with patterns of a policy, which nobody can."""
    for found in _BRACES.finditer(pattern):
        if found[1] is None or found[1] not in arguments:
            hint = did_you_mean(found[1] or "", arguments) or "{argument} stands for what the call is given"
            yield f'{word}: there is no argument {found[0]} in "{pattern}"', hint
    if _WILD.search(pattern):
        hint = "name it; a tool that finds out later what it touches says judges=True, and asks context.guard"
        yield f'{word}: "{pattern}" stands for many things', hint
    elif "{" not in pattern and (flaw := flaw_of(Deed(kind, pattern))):
        yield f"{word}: {flaw}", "write it as a policy would: src/a.py, example.com:443"


def _function_flaws(word: str, function: Callable[..., Any] | None, known: list[str]) -> Iterator[Flaw]:
    if function is None:
        return
    if not callable(function):
        yield f"{word} is no function", "hand the function itself over"
        return
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.POSITIONAL_ONLY or (_is_needed(each) and each.name not in known):
            hint = did_you_mean(each.name, known) or "it is called with what the tool is called with, by name"
            yield f'nobody fills the parameter "{each.name}" of its {word} function', hint


def _is_needed(parameter: inspect.Parameter) -> bool:
    gathers = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not gathers


def _estimate_flaws(estimate: Mapping[str, float]) -> Iterator[Flaw]:
    for word, amount in estimate.items():
        if word not in AMOUNTS:
            yield f'an estimate has no "{word}"', did_you_mean(word, AMOUNTS)
        elif not 0 <= amount < math.inf:
            yield f"an estimate of {amount} {word} makes no sense", "write a number, not negative"

"""Reading contracts, from a file, a text or plain data: strictly, and with every problem at once."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from perdure.agents.contracts.document import Action, Contracts
from perdure.agents.contracts.errors import ContractsError
from perdure.plan.facts import Fact, fact_of, kinds_of
from perdure.plan.limits import Limits
from perdure.plan.model.meaning import meanings
from perdure.plan.model.parts import TOOL_PATTERN, Budget, Estimate, Policy
from perdure.plan.problems import Path, Problem, did_you_mean, errors_in
from perdure.plan.raw import Raw
from perdure.plan.reading.json_text import find_in_json, read_json
from perdure.plan.reading.source import Finder, Unreadable
from perdure.plan.reading.yaml_text import find_in_yaml, read_yaml
from perdure.plan.sayings import saying

CODE: Final = ContractsError.code
LARGEST: Final = 4 * 1024 * 1024
"""Bytes of a file."""
LIMITS: Final = Limits(bytes=LARGEST)
_RECORDS: Final[dict[str, type[BaseModel]]] = {"estimate": Estimate, "budget": Budget, "policy": Policy}


def load_contracts(path: str | FilePath) -> Contracts:
    """Read a YAML or JSON file; raise `ContractsError` with every problem in it."""
    try:
        with FilePath(path).open("rb") as file:
            text = file.read(LARGEST + 1).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        message = f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        raise ContractsError(
            [Problem(CODE, message, (), "check the name, the permissions, and that it is UTF-8")]
        ) from None
    return read_contracts(text, str(path))


def read_contracts(text: str, name: str = "") -> Contracts:
    """Read a YAML or JSON text; raise `ContractsError` with every problem in it."""
    if len(text) > LARGEST:
        raise ContractsError([Problem(CODE, f"the text has more than {LARGEST:,} characters", (), "leave objects out")])
    is_json = text.lstrip()[:1] == "{" and name.endswith(".json")
    try:
        raw, problems = (read_json if is_json else read_yaml)(text, LIMITS)
    except Unreadable as stop:
        raise ContractsError([stop.problem.at(name, stop.problem.line, stop.problem.column, ())]) from None
    if found := errors_in(problems):
        raise ContractsError([each.at(name, each.line, each.column, each.path) for each in found])
    try:
        return contracts_of(raw)
    except ContractsError as error:
        raise ContractsError(_located(error.problems, text, name, is_json=is_json)) from None


def contracts_of(raw: Raw) -> Contracts:
    """Read plain data; raise `ContractsError` with every problem in it."""
    try:
        found = Contracts.model_validate(raw)
    except ValidationError as error:
        raise ContractsError([_problem_of(each) for each in error.errors(include_url=False)]) from None
    if problems := list(_problems_in(found)):
        raise ContractsError(problems)
    return found


def _located(problems: Iterable[Problem], text: str, name: str, *, is_json: bool) -> list[Problem]:
    listed = list(problems)
    finder = Finder([each.path for each in listed])
    (find_in_json if is_json else find_in_yaml)(text, finder, LIMITS)
    placed = [each.at(name, *finder.position(each.path), each.path) for each in listed]
    return sorted(placed, key=lambda problem: (problem.line, problem.column))


# ------------------------------------------------------------------------------- what the models refuse


def _problem_of(error: ErrorDetails) -> Problem:
    path: Path = tuple(each for each in error["loc"] if each != "[key]")
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            hint = did_you_mean(str(path[-1]), _fields_at(path[:-1]))
            return Problem(CODE, f"there is no field `{path[-1]}` here", path, hint or "leave it out")
        case "fact":
            return Problem(CODE, error["msg"], path, str(context.get("hint", "")))
        case "missing":
            return Problem(CODE, f"`{path[-1]}` is missing", path[:-1], "write it as a list of facts")
        case "tuple_type" if isinstance(error["input"], str):
            return Problem(CODE, f"`{path[-1]}` must be a list", path, f'write ["{error["input"][:60]}"]')
        case _:
            return Problem(CODE, f"`{path[-1] if path else 'contracts'}` {saying(error)}", path, _meaning(path))


def _model_at(path: Path) -> type[BaseModel]:
    for word, model in _RECORDS.items():
        if word in path:
            return model
    return Action if path[:1] == ("actions",) and path[1:] else Contracts


def _fields_at(path: Path) -> list[str]:
    return [info.alias or name for name, info in _model_at(path).model_fields.items()]


def _meaning(path: Path) -> str:
    """What a field is for."""
    words = [each for each in path if isinstance(each, str)]
    if not words:
        return "write a mapping, as in {wanted: [...], actions: {...}}"
    found = {info.alias or name: name for name, info in _model_at(path).model_fields.items()}
    word = next((each for each in reversed(words) if each in found), "")
    return meanings(_model_at(path)).get(found.get(word, ""), "").replace("\n", " ")


# ------------------------------------------------------------------------------- what does not fit together


def _problems_in(contracts: Contracts) -> Iterator[Problem]:
    yield from _arity_problems(contracts)
    for name, action in contracts.actions.items():
        yield from _action_problems(name, action, contracts)
    yield from _name_problems(contracts)


def _each_fact(contracts: Contracts) -> Iterator[tuple[Fact, Path]]:
    yield from ((fact_of(text), ("given", n)) for n, text in enumerate(contracts.given))
    yield from ((fact_of(text), ("wanted", n)) for n, text in enumerate(contracts.wanted))
    for name, action in contracts.actions.items():
        for word, texts in (("requires", action.requires), ("effects", action.effects)):
            yield from ((fact_of(text), ("actions", name, word, n)) for n, text in enumerate(texts))


def _arity_problems(contracts: Contracts) -> Iterator[Problem]:
    """One name is one fact: it speaks of the same number of objects everywhere."""
    known: dict[str, int] = {}
    for fact, path in _each_fact(contracts):
        count = known.setdefault(fact.name, len(fact.terms))
        if count != len(fact.terms):
            message = f'"{fact.name}" speaks of {len(fact.terms)} objects here, and of {count} above'
            yield Problem(CODE, message, path, "give one of them another name")


def _action_problems(name: str, action: Action, contracts: Contracts) -> Iterator[Problem]:
    path: Path = ("actions", name)
    if action.step is None and action.tool is None and not _is_tool(name):
        hint = "write `tool: domain.name`, or a `step`, or call the action by the tool's name"
        yield Problem(CODE, f'"{name}" does not say how it is done', path, hint)
    if not action.effects and (action.requires or action.step is not None):
        yield Problem(CODE, f'"{name}" changes nothing', path, "write `effects`: what holds once it is done")
    for variable, kind in kinds_of(map(fact_of, (*action.requires, *action.effects))).items():
        if kind not in contracts.objects:
            hint = did_you_mean(kind, contracts.objects) or f"write `objects: {{{kind}: [...]}}`"
            yield Problem(
                CODE, f'?{variable} stands for a "{kind}", and there are none', path, f"{hint}; or ?{variable}:kind"
            )


def _is_tool(name: str) -> bool:
    return re.fullmatch(TOOL_PATTERN, name) is not None


def _name_problems(contracts: Contracts) -> Iterator[Problem]:
    """Where objects are declared, no others are spoken of."""
    known = {each for listed in contracts.objects.values() for each in listed}
    for fact, path in _each_fact(contracts) if known else ():
        for term in fact.terms:
            if isinstance(term, str) and term not in known:
                hint = did_you_mean(term, known) or "add it to `objects`; a variable begins with ?"
                yield Problem(CODE, f'there is no object "{term}"', path, hint)

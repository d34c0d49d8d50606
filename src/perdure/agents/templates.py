"""Plans from templates (A2): plan files with inputs, one of which fits the request, and says why.

A template is a plan like any other. Its `meta.template` says what it is about, which words belong to it, and how people
ask for it. It is chosen by how much of the request it speaks of, how near the request is to one of its examples, and
how much of what it needs the request says. Below a threshold, or where two fit alike, none is chosen.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from perdure.agents.requests.extracting import FOUND, Request, Taken, formed, named
from perdure.agents.requests.searching import stem, words_of
from perdure.agents.requests.wanting import Want, wants_of
from perdure.errors import PerdureError
from perdure.plan.expr import escaped
from perdure.plan.index import Index
from perdure.plan.limits import Limits
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import Line, Many
from perdure.plan.raw import Raw
from perdure.plan.reading import read_bytes
from perdure.plan.sayings import sentence

THRESHOLD: Final = 0.5
"""A template that fits less is not chosen."""
CLEARLY: Final = 0.05
"""How much better than all others the best one has to fit."""
LARGEST: Final = 256 * 1024
"""Bytes of a template."""
MOST: Final = 1_000
"""Templates in a directory."""
PLANNER: Final = "template"
_ENDINGS: Final = (".yaml", ".yml", ".json")
_MARKS: Final = (b"perdure:", b'"perdure"')


class Head(BaseModel):
    """What `meta.template` of a plan says."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    about: Line
    """What it does, in a sentence."""
    words: Many[Line] = ()
    """Words that a request for it may have."""
    examples: Annotated[Many[Line], Field(min_length=1)]
    """Requests for it, as people write them."""


@dataclass(frozen=True)
class Template:
    """A plan that can be chosen for a request."""

    name: str
    plan: Plan
    head: Head
    origin: str
    """Where it came from, for people."""

    @property
    def wants(self) -> tuple[Want, ...]:
        """Its inputs."""
        known = self.plan.inputs
        required = [name for name, schema in known.items() if "default" not in schema]
        return wants_of({"properties": known, "required": required})


@dataclass(frozen=True)
class Rated:
    """How well a template fits a request, from 0 to 1, and why."""

    template: Template
    score: float
    why: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """The template for a request, or why there is none."""

    rated: tuple[Rated, ...]
    """All templates, the best first."""

    @property
    def chosen(self) -> Rated | None:
        """The one that fits, and fits better than all others."""
        alike = [each for each in self.rated if self.rated[0].score - each.score < CLEARLY]
        return alike[0] if len(alike) == 1 and alike[0].score >= THRESHOLD else None

    @property
    def why(self) -> str:
        """Why it was chosen, or why none was."""
        if self.chosen:
            return f"{self.chosen.template.name} fits {self.chosen.score:.2f}: {'; '.join(self.chosen.why)}"
        if not self.rated:
            return "there are no templates"
        alike = [each for each in self.rated if self.rated[0].score - each.score < CLEARLY]
        if self.rated[0].score >= THRESHOLD:
            return f"several templates fit alike: {', '.join(each.template.name for each in alike)}"
        best = self.rated[0]
        if not best.score:
            return "no template fits"
        return f"no template fits; the nearest is {best.template.name} with {best.score:.2f} of {THRESHOLD} needed"


@dataclass(frozen=True)
class Filled:
    """A template with values from a request."""

    plan: Plan
    taken: Mapping[str, Taken] = field(default_factory=dict[str, Taken])
    missing: tuple[str, ...] = ()
    """Inputs that somebody is asked for."""
    unused: tuple[str, ...] = ()
    """Values of the request that it does not take."""


class BadTemplate(PerdureError):
    """A template cannot be used."""

    code: ClassVar[str] = "PRD4204"
    exit_code: int = 6


# ------------------------------------------------------------------------------- choosing


def classify(request: str, templates: Iterable[Template]) -> Verdict:
    """Which template fits a request."""
    read = Request(request)
    rated = [_rate(read, each) for each in templates]
    return Verdict(tuple(sorted(rated, key=lambda each: (-each.score, each.template.name))))


def _rate(request: Request, template: Template) -> Rated:
    said = _stems(request)
    known = {stem(word) for word in template.head.words}
    examples = [_stems(Request(each)) for each in template.head.examples]
    covered = said & known.union(*examples)
    near = max((2 * len(said & each) / (len(said) + len(each)) for each in examples if said or each), default=0.0)
    taken, unused = _found(request, template.wants, {})
    needed = [want.name for want in template.wants if want.required]
    told, used = _share([name for name in needed if name in taken], needed), _share(taken, [*taken, *unused])
    likeness = (_share(covered, said) + near) / 2 if said else 0.0
    score = round(likeness * (0.3 + 0.45 * told + 0.25 * used), 4)
    why = (f"{len(covered)} of {len(said)} words", f"{near:.0%} like an example", _inputs_told(needed, taken, unused))
    return Rated(template, score, tuple(filter(None, why)))


def _stems(request: Request) -> frozenset[str]:
    return frozenset(map(stem, words_of(request.bare)))


def _share(part: Sequence[Any] | frozenset[str] | Mapping[str, Any], whole: Sequence[Any] | frozenset[str]) -> float:
    return len(part) / len(whole) if whole else 1.0


def _inputs_told(needed: Sequence[str], taken: Mapping[str, Taken], unused: Sequence[str]) -> str:
    lacking = [name for name in needed if name not in taken]
    told = f"it needs {', '.join(lacking)}" if lacking else "all that it needs is said" if needed else ""
    return "; ".join(filter(None, [told, f"it does not take {', '.join(unused)}" if unused else ""]))


# ------------------------------------------------------------------------------- filling


def fill(
    template: Template, request: str, given: Mapping[str, Raw] | None = None, found: Mapping[str, Raw] | None = None
) -> Filled:
    """The plan of a template with what was given and what the request says; what is missing is asked for first.

    `found` is what a model has found in the request of what would be asked for: all else is read as without it.
    """
    read, known = Request(request), dict(given or {})
    taken, unused = _found(read, template.wants, known)
    values = {**{name: each.value for name, each in taken.items()}, **known}
    more = {want.name: value for want, value in _open(template, found or {}, values) if want.fits(value)}
    values |= more
    missing = tuple(want.name for want in template.wants if want.required and want.name not in values)
    inputs = {
        name: {**schema, "default": values[name]} if name in values else schema
        for name, schema in template.plan.inputs.items()
    }
    origins = {name: {"from": "request", "how": each.how, "at": [each.start, each.end]} for name, each in taken.items()}
    origins |= {name: {"from": "model", "how": FOUND} for name in more}
    meta = {"planner": PLANNER, "template": template.name, "request": request, "parameters": origins}
    plan = template.plan.model_copy(update={"inputs": inputs, "meta": meta})
    return Filled(_asking(plan, missing, request) if missing else plan, taken, missing, unused)


def _open(template: Template, found: Mapping[str, Raw], values: Mapping[str, Raw]) -> Iterator[tuple[Want, Raw]]:
    """What a model has found, where nothing else is known."""
    return ((want, found[want.name]) for want in template.wants if want.name in found and want.name not in values)


def _found(
    request: Request, wants: Sequence[Want], given: Mapping[str, Raw]
) -> tuple[dict[str, Taken], tuple[str, ...]]:
    """What the request says of inputs that nobody has given, and its values that none of them takes."""
    open_ = [want for want in wants if want.name not in given]
    values = named(request, open_)
    formed(request, open_, values, request.pieces, request.pieces)
    left = [piece.text for piece in request.pieces if not values.holds(piece.start, piece.end)]
    return values.taken, tuple(left)


def _asking(plan: Plan, missing: Sequence[str], request: str) -> Plan:
    """A plan that asks for what is missing, and then does the other one."""
    known = {node.id for node in Index(plan).nodes}
    ask, work = _free("ask", known), _free(plan.name or "work", known | {"ask"})
    form = {
        "type": "object",
        "properties": {name: plan.inputs[name] for name in missing},
        "required": list(missing),
        "additionalProperties": False,
    }
    inner = plan.model_copy(update={"meta": {}})
    given = {name: f"${{steps.{ask}.output.{name}}}" for name in missing}
    steps = [
        {"id": ask, "ask": f"To go on, this has to be known: {', '.join(missing)}.", "form": form},
        {"id": work, "plan": inner, "with": given},
    ]
    output = f"${{steps.{work}.output}}"
    return Plan.model_validate({"goal": escaped(request), "meta": plan.meta, "steps": steps, "output": output})


def _free(name: str, known: set[str]) -> str:
    return next(each for each in (name + "_" * n for n in range(len(known) + 1)) if each not in known)


# ------------------------------------------------------------------------------- reading


def stock() -> list[Template]:
    """The templates that come with it."""
    found = sorted(
        resources.files("perdure.agents").joinpath("stock", "templates").iterdir(), key=lambda each: each.name
    )
    return [template_of(each.read_bytes(), each.name, "built in") for each in found if each.name.endswith(_ENDINGS)]


def templates_in(directory: Path) -> Iterator[Template | BadTemplate]:
    """The templates in a directory. A file that is no plan is none of ours; one that is broken is told, not raised."""
    for each in _files(directory):
        yield from _read(each)


def templates_of(root: Path, *place: str) -> Iterator[Template | BadTemplate]:
    """The same of a project, which may be a stranger's: a link would make a plan of any file that you can read."""
    real = Path(os.path.realpath(root)).joinpath(*place)
    for each in _files(root.joinpath(*place)):
        if Path(os.path.realpath(each)).is_relative_to(real):
            yield from _read(each)
        else:
            told = f"the template {each} is a link, or in one, that leads out of {real}"
            yield BadTemplate(told, "put the file itself there")


def _files(directory: Path) -> list[Path]:
    try:
        return sorted(each for each in directory.iterdir() if each.suffix in _ENDINGS and each.is_file())[:MOST]
    except OSError:
        return []


def _read(file: Path) -> Iterator[Template | BadTemplate]:
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError:
        return
    if any(mark in data for mark in _MARKS):
        yield from _told(data, file)


def _told(data: bytes, file: Path) -> Iterator[Template | BadTemplate]:
    try:
        yield template_of(data, file.name, str(file))
    except BadTemplate as error:
        yield error


def template_of(data: bytes, name: str, origin: str) -> Template:
    """Read a template. `BadTemplate` tells all that is wrong with it."""
    kind = "json" if name.endswith(".json") else "yaml"
    reading = read_bytes(data, origin, kind, Limits(bytes=LARGEST))
    if reading.plan is None or reading.errors:
        raise _broken(origin, [str(problem) for problem in reading.errors])
    try:
        head = Head.model_validate(reading.plan.meta.get("template"))
    except ValidationError as error:
        raise _broken(
            origin, [f"meta.template: {sentence(each)}" for each in error.errors(include_url=False)]
        ) from None
    return Template(reading.plan.name or Path(name).stem, reading.plan, head, origin)


def _broken(origin: str, problems: Sequence[str]) -> BadTemplate:
    hint = "a template is a plan with `meta: {template: {about: …, examples: […]}}`"
    return BadTemplate(f"the template {origin} cannot be used: {'; '.join(problems[:5])}", hint)

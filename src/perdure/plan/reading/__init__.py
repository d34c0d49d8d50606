"""Reading: a file, a text or plain data becomes a plan, or a list of everything that is wrong with it."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Final

from perdure.collector import Undisturbed
from perdure.plan.checks import check
from perdure.plan.limits import Limits
from perdure.plan.model.document import Plan
from perdure.plan.problems import Path, PlanError, Problem, errors_in, first_of
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.plan.reading.dialects import Translation, translate
from perdure.plan.reading.json_text import find_in_json, read_json
from perdure.plan.reading.labels import LabelStep, record_of
from perdure.plan.reading.shape import shape
from perdure.plan.reading.source import Finder, Format, Source, Unreadable
from perdure.plan.reading.yaml_text import find_in_yaml, read_yaml
from perdure.plan.toolbox import Toolbox

__all__ = ["LabelStep", "Reading", "from_steps", "load", "read_data", "read_file", "read_text"]

DEFAULT_LIMITS: Final = Limits()
LARGE: Final = 200_000
"""From this many characters on, reading is done without the collector."""
UNDEFINED: Final = frozenset({"PRD1301", "PRD1308", "PRD1311"})


@dataclass(frozen=True)
class Reading:
    """What came out of a document. With errors among the problems, `plan` is not to be used."""

    plan: Plan | None
    problems: list[Problem] = field(default_factory=list[Problem])
    dialect: str = "current"
    place: Callable[[Iterable[Problem]], list[Problem]] = field(default=list[Problem], compare=False, repr=False)
    """Finds where problems of the plan stand in the document."""

    def with_more(self, problems: Iterable[Problem]) -> "Reading":
        """The same with what somebody else has found wrong with the plan."""
        return replace(self, problems=[*self.problems, *self.place(problems)])

    @property
    def errors(self) -> list[Problem]:
        """The problems that make the plan unusable."""
        return errors_in(self.problems)

    def usable(self) -> Plan:
        """The plan, or `PlanError` with every problem."""
        if self.plan is None or self.errors:
            raise PlanError(self.errors)
        return self.plan


def load(path: FilePath, limits: Limits = DEFAULT_LIMITS) -> Plan:
    """Read a plan from a file; raise `PlanError` when it cannot be used."""
    return read_file(path, limits).usable()


def from_steps(steps: Iterable[object], goal: str = "") -> Plan:
    """Make a plan of label steps; raise `PlanError` when it cannot be used."""
    try:
        document: dict[str, Raw] = {"steps": [record_of(step) for step in steps]}
    except RecursionError:
        raise PlanError([Problem("PRD1004", "the steps are nested too deep", help="flatten them")]) from None
    return read_data({"goal": goal, **document} if goal else document).usable()


def read_file(path: FilePath, limits: Limits = DEFAULT_LIMITS, toolbox: Toolbox | None = None) -> Reading:
    """Read a YAML or JSON file."""
    name = str(path)
    try:
        with path.open("rb") as file:
            data = file.read(limits.bytes + 1)  # never more: a device has no end
    except (OSError, ValueError) as error:
        message = f"cannot read {name}: {getattr(error, 'strerror', None) or error}"
        return Reading(None, [Problem("PRD1001", message, help="check the name and the permissions", file=name)])
    return read_bytes(data, name, _format_of(path), limits, toolbox)


def read_bytes(
    data: bytes, name: str, kind: Format | None, limits: Limits = DEFAULT_LIMITS, toolbox: Toolbox | None = None
) -> Reading:
    """Read UTF-8 bytes."""
    if len(data) > limits.bytes:
        return Reading(None, [_too_large(limits, name)])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = data[: error.start].count(b"\n") + 1, error.start - data.rfind(b"\n", 0, error.start)
        code = "PRD1003" if kind == "json" else "PRD1002"
        problem = Problem(code, "the file is not UTF-8", (), "save it as UTF-8", "error", name, line, column)
        return Reading(None, [problem])
    return read_text(text, name, kind, limits, toolbox)


def read_text(
    text: str,
    name: str = "",
    kind: Format | None = None,
    limits: Limits = DEFAULT_LIMITS,
    toolbox: Toolbox | None = None,
) -> Reading:
    """Read a YAML or JSON text."""
    if len(text) > limits.bytes:
        return Reading(None, [_too_large(limits, name)])
    source = Source(name, text, kind or _told_format(text, limits))
    try:
        raw, problems = (read_json if source.format == "json" else read_yaml)(text, limits)
    except Unreadable as stop:
        return Reading(None, [replace(stop.problem, file=name)])
    problems = [replace(problem, file=name) for problem in problems]
    if errors_in(problems) and raw is None:
        return Reading(None, problems)
    with Undisturbed() if len(text) > LARGE else nullcontext():
        result = _read(raw, source, limits, toolbox)
    return replace(result, problems=_joined(problems, result.problems))


def _joined(of_the_text: list[Problem], of_the_plan: list[Problem]) -> list[Problem]:
    """What is wrong with the text, and what is wrong with the plan elsewhere than there."""
    known = {(problem.line, problem.column) for problem in of_the_text}
    found = [problem for problem in of_the_plan if (problem.line, problem.column) not in known]
    return sorted([*of_the_text, *found], key=lambda problem: (problem.line, problem.column))


def read_data(raw: Raw, limits: Limits = DEFAULT_LIMITS, toolbox: Toolbox | None = None) -> Reading:
    """Read plain data: what a YAML or JSON parser would have given."""
    if _is_deeper(raw, limits.nesting):
        message = f"the data is nested more than {limits.nesting} deep"
        return Reading(None, [Problem("PRD1004", message, help="flatten it")])
    return _read(raw, Source(), limits, toolbox)


def _is_deeper(raw: Raw, most: int) -> bool:
    """Whether lists and mappings are nested deeper than this; found without following them down."""
    level = [raw]
    for _ in range(most + 1):
        level = list({id(inner): inner for item in level for inner in _inside(item)}.values())  # shared parts once
        if not level:
            return False
    return True


def _inside(item: Raw) -> Iterable[Raw]:
    return item.values() if is_mapping(item) else item if is_list(item) else ()


# ------------------------------------------------------------------------------- inside


def _read(raw: Raw, source: Source, limits: Limits, toolbox: Toolbox | None) -> Reading:
    translation = translate(raw)
    problems = list(translation.problems)
    plan: Plan | None = None
    if translation.document is not None:
        found = shape(translation.document, limits)
        plan = found.plan
        problems += [_placed(problem, translation) for problem in found.problems]
        if plan is not None:
            checked = [_in_document(problem, translation.document) for problem in check(plan, toolbox)]
            news = [each for each in checked if found.is_news(each) and _is_news(each, problems)]
            problems += [_placed(each, translation) for each in news]
        elif not problems:
            problems.append(
                Problem("PRD1103", "this cannot be read as a plan", (), "write `steps` as a list of mappings")
            )

    def place(more: Iterable[Problem]) -> list[Problem]:
        found = [_placed(_in_document(each, translation.document), translation) for each in more]
        return _located(first_of(found), source, limits, raw)

    return Reading(plan, _located(first_of(problems), source, limits, raw), translation.dialect, place)


def _is_news(problem: Problem, said: list[Problem]) -> bool:
    """Undefined labels were all named in one refusal; what follows from them is no news."""
    return problem.code not in UNDEFINED or not any(each.code == "PRD1601" for each in said)


def _in_document(problem: Problem, document: Raw) -> Problem:
    """The model writes everything out; the document may say `parallel`, or use a short form."""
    path: Path = ()
    item: Raw = document
    for segment in problem.path:
        if segment == "from" and is_list(item):
            continue
        if not is_mapping(item) and not is_list(item):
            break
        word = "parallel" if segment == "steps" and is_mapping(item) and "parallel" in item else segment
        path = (*path, word)
        item = _inner(item, word)
    return replace(problem, path=path)


def _inner(item: Raw, segment: str | int) -> Raw:
    try:
        return item[segment]
    except (KeyError, IndexError, TypeError):
        return None


RENAMED: Final[dict[Path, Path]] = {
    ("on", "success"): ("on_success",),
    ("on", "failure"): ("on_fail",),
    ("agent",): ("agent_key",),
    ("id",): ("label",),
}


def _placed(problem: Problem, translation: Translation) -> Problem:
    """Where the problem stands in the document as it was written, if that was in an older dialect."""
    if not translation.origins:
        return problem
    item: Raw = translation.document
    origin, rest = (), problem.path
    for length, segment in enumerate(problem.path, 1):
        item = _inner(item, segment)
        name = item.get("id") if is_mapping(item) else None
        if isinstance(name, str) and name in translation.origins:
            origin, rest = translation.origins[name], problem.path[length:]
    return replace(problem, path=(*origin, *RENAMED.get(rest, rest))) if origin else problem


def _located(problems: list[Problem], source: Source, limits: Limits, raw: Raw) -> list[Problem]:
    if source.format is None or not problems:
        return problems
    paths = [problem.path if is_mapping(raw) else _unlisted(problem.path) for problem in problems]
    finder = Finder(paths)
    (find_in_json if source.format == "json" else find_in_yaml)(source.text, finder, limits)
    found = [each.at(source.name, *finder.position(path), path) for each, path in zip(problems, paths, strict=True)]
    return sorted(found, key=lambda problem: (problem.line, problem.column))


def _unlisted(path: Path) -> Path:
    return path[1:] if path[:1] == ("steps",) else path


def _told_format(text: str, limits: Limits) -> Format:
    """What begins like JSON and can be read as JSON is JSON; all else is YAML."""
    if text.lstrip()[:1] not in ("{", "["):
        return "yaml"
    try:
        read_json(text, limits)
    except Unreadable as stop:
        return "yaml" if stop.problem.code == "PRD1003" else "json"
    return "json"


def _format_of(path: FilePath) -> Format | None:
    formats: dict[str, Format] = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}
    return formats.get(path.suffix.lower())


def _too_large(limits: Limits, name: str) -> Problem:
    message = f"the document has more than {limits.bytes:,} bytes"
    return Problem("PRD1004", message, help="keep large data in files of its own, or raise the limit", file=name)

"""What a user can write into a policy, and what is said about what does not fit."""

from typing import Annotated, Final, Literal, cast

from pydantic import BaseModel, PlainValidator, WithJsonSchema
from pydantic_core import ErrorDetails, PydanticCustomError

from perdure.plan.model import parts
from perdure.plan.problems import Problem, did_you_mean
from perdure.plan.raw import Raw, is_list
from perdure.plan.sayings import saying

_TAGS: Final = frozenset({"hosts", "terms"})
Tier = Literal["bwrap", "landlock", "none"]


def _distributions(value: Raw) -> bool | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    if is_list(value) and all(isinstance(each, str) and each for each in value):
        return tuple(cast("list[str]", value))
    raise PydanticCustomError("distributions", "must be true, false, or a list of distributions")


class Tools(parts.Terms):
    """Which tools may be called, and whose are loaded."""

    entry_points: Annotated[
        bool | tuple[str, ...],
        PlainValidator(_distributions),
        WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "string"}}]}),
    ] = True
    """Whether installed distributions may offer tools; or the names of those that may."""


class Sandbox(parts.Part):
    """What commands are kept in."""

    tier: Tier = "bwrap"
    """`bwrap`: the whole sandbox. `landlock`: files and ports alone. `none`: each command is asked about, unless
    `commands.allow` is written."""
    binds: parts.Many[parts.Line] = ()
    """Directories outside the workspace that commands may read, such as toolchains."""


class Secrets(parts.Part):
    """Where secrets are."""

    source: parts.Line | None = None
    """The file that `${secrets.NAME}` is looked up in."""


class Rules(parts.Policy):
    """What a user can say: the words of a plan's policy, and those that are nobody else's."""

    tools: Tools | None = None  # pyright: ignore[reportIncompatibleVariableOverride]  records are frozen
    """Tools, as in `files.*`, and whose are loaded."""
    sandbox: Sandbox = Sandbox.model_construct()
    """What commands are kept in."""
    secrets: Secrets = Secrets.model_construct()
    """Where secrets are."""


# ------------------------------------------------------------------------------- wording

TABLES: Final[dict[str, type[BaseModel]]] = {
    "files": parts.Files,
    "network": parts.Terms,
    "commands": parts.Commands,
    "tools": Tools,
    "resources": parts.Terms,
    "sandbox": Sandbox,
    "secrets": Secrets,
}


def problem_of(detail: ErrorDetails) -> Problem:
    """What the models refused, in our words."""
    path = tuple(each for each in detail["loc"] if each not in _TAGS)
    if detail["type"] == "extra_forbidden":
        model = TABLES.get(str(path[0]), Rules) if path[1:] else Rules
        hint = did_you_mean(str(path[-1]), model.model_fields)
        return Problem("PRD1706", "there is no such word here", path, hint or "leave it out")
    return Problem("PRD1706", saying(detail).removeprefix("is wrong: "), path, _hint(detail))


def _hint(detail: ErrorDetails) -> str:
    return f"write [{detail['input']!r}]" if detail["type"] == "tuple_type" else "correct the value"

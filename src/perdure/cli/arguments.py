"""Arguments and options that several commands share."""

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import click
from pydantic import ValidationError

from perdure.cli.codes import INVALID_PLAN, NOT_FOUND
from perdure.cli.erring import say_error
from perdure.cli.printing import STANDARD_STREAM, print_problems
from perdure.errors import PerdureError
from perdure.plan.limits import DEEPEST, Limits
from perdure.plan.model.document import Plan
from perdure.plan.problems import PlanError, Problem
from perdure.plan.reading import Reading, read_bytes, read_file
from perdure.plan.sayings import sentence
from perdure.plan.toolbox import Toolbox
from perdure.plan.visible import number_of

F = TypeVar("F", bound=Callable[..., Any])
_RUN: Final = re.compile(r"@last|r_[0-9A-Za-z_]*")


def is_run(name: str) -> bool:
    """Whether a word is the name of a run, and not of a file."""
    return _RUN.fullmatch(name) is not None


def is_goal(name: str) -> bool:
    """Whether it is a goal, and no plan: several words, and no file is called so."""
    return len(name.split()) > 1 and not os.path.lexists(name)


def limit_options(command: F) -> F:
    """`--max-steps`, `--max-depth` and `--max-bytes`."""
    for name, kept, most, what in (
        ("--max-bytes", Limits.bytes, None, "Largest document that is read."),
        ("--max-depth", Limits.depth, DEEPEST, "Deepest nesting of groups."),
        ("--max-steps", Limits.steps, None, "Most steps in a plan."),
    ):
        allowed = click.IntRange(1, most)
        command = click.option(name, type=allowed, default=kept, show_default=True, help=what)(command)
    return command


def limits_from(settings: dict[str, int]) -> Limits:
    """The limits that the options gave."""
    return Limits(settings["max_steps"], settings["max_depth"], settings["max_bytes"])


def read(name: str, limits: Limits, toolbox: Toolbox | None = None) -> Reading:
    """Read a plan from a file, or from standard input for `-`."""
    if name == STANDARD_STREAM:
        return read_bytes(sys.stdin.buffer.read(limits.bytes + 1), name_of(name), None, limits, toolbox)
    return read_file(Path(name), limits, toolbox)


def name_of(name: str) -> str:
    """What a plan is called in messages."""
    return "<stdin>" if name == STANDARD_STREAM else name


def usable(name: str, limits: Limits, toolbox: Toolbox | None = None, *, as_json: bool = False) -> Plan:
    """The plan in a file; where it cannot be used, say why and leave."""
    return readable(name, limits, toolbox, as_json=as_json).usable()


def readable(name: str, limits: Limits, toolbox: Toolbox | None = None, *, as_json: bool = False) -> Reading:
    """The same, with what is known of the places in the file."""
    reading = read(name, limits, toolbox)
    if reading.plan is None or reading.errors:
        refuse(reading.errors, as_json=as_json)
    return reading


def refuse(problems: Sequence[Problem], *, as_json: bool = False) -> NoReturn:
    """Say why a plan cannot be used, and leave."""
    if as_json:
        found = [problem.as_json() for problem in problems]
        say_error(PlanError.code, f"the plan cannot be used: {number_of(len(found), 'problem')}", problems=found)
    else:
        print_problems(problems, err=True)
    leave(problems)


def leave(problems: Sequence[Problem]) -> NoReturn:
    """End with the exit code that fits the problems."""
    click.get_current_context().exit(NOT_FOUND if any(each.code == "PRD1001" for each in problems) else INVALID_PLAN)
    raise AssertionError  # click has left


def toolbox_from(path: Path | None) -> Toolbox | None:
    """The toolbox in a JSON file."""
    if path is None:
        return None
    try:
        return Toolbox.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ToolboxError(f"cannot read the toolbox {path}: {error.strerror}", NOT_FOUND) from error
    except ValidationError as error:
        told = sentence(error.errors(include_url=False)[0])
        raise ToolboxError(f"the toolbox {path} is none: {told}", INVALID_PLAN) from error
    except (ValueError, RecursionError) as error:
        raise ToolboxError(f"the toolbox {path} is none: {error}", INVALID_PLAN) from error


class ToolboxError(PerdureError):
    """A toolbox file is not one."""

    code = "PRD1412"

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message, 'write {"tools": {"domain.tool": {}}, "agents": ["name"]}')
        self.exit_code = exit_code


def length_of_time(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """An option that takes a length of time, written as in a plan, in seconds."""
    from pydantic_core import PydanticCustomError  # noqa: PLC0415  only when it is given

    from perdure.plan.model.parts import seconds_of  # noqa: PLC0415  as above

    try:
        return None if value is None else float(seconds_of(value))
    except PydanticCustomError as error:
        raise click.BadParameter(error.message(), ctx, param) from error

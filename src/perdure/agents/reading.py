"""Agents as files: a head of fields between lines of `---`, and below it what the agent is told.

---
name: critic
model: strong
strategy: single
---
You judge the work of others …
"""

import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import ValidationError

from perdure.agents.agent import Agent
from perdure.agents.roster import BadAgent
from perdure.plan.limits import Limits
from perdure.plan.reading.source import Unreadable
from perdure.plan.reading.yaml_text import read_yaml

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

FENCE: Final = "---"
SUFFIX: Final = ".md"
LARGEST: Final = 256 * 1024
"""Bytes of a file."""


def read_agent(text: str, file: str) -> Agent:
    """An agent from the text of its file. `BadAgent` says what is wrong with it."""
    head, told = _parted(text, file)
    fields = _fields(head, file)
    if "instructions" in fields:
        raise BadAgent(f"{file}: the instructions stand below the head", "move them there")
    named = {"name": Path(file).stem, **fields, "instructions": told.strip()}
    try:
        return Agent.model_validate(named)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadAgent(f"{file}: `{where}`: {first['msg']}", f"an agent has {', '.join(Agent.model_fields)}") from None


def _parted(text: str, file: str) -> tuple[str, str]:
    first, _, rest = text.removeprefix("\ufeff").partition("\n")
    head, fence, told = rest.partition(f"\n{FENCE}")
    if first.strip() != FENCE or not fence:
        hint = f"begin with a line {FENCE}, then fields such as `skills: [python]`, then {FENCE}"
        raise BadAgent(f"{file} has no head", hint)
    return head, told.partition("\n")[2]


def _fields(head: str, file: str) -> Mapping[str, Any]:
    try:
        read, problems = read_yaml(head, Limits())
    except Unreadable as stop:
        raise BadAgent(f"{file}: {stop.problem.message}", stop.problem.help) from None
    if problems:
        raise BadAgent(f"{file}: {problems[0].message}", problems[0].help)
    if not isinstance(read, (Mapping, type(None))):
        raise BadAgent(f"{file}: its head is no mapping", "write fields, such as `skills: [python]`")
    return cast("Mapping[str, Any]", read or {})


def agents_in(directory: "Path | Traversable") -> Iterator[Agent]:
    """The agents whose files are in a directory, by name. One that is not there has none."""
    if not directory.is_dir():
        return
    for each in sorted(directory.iterdir(), key=lambda each: each.name):
        if each.name.endswith(SUFFIX) and each.is_file():
            data = each.read_bytes()
            if len(data) > LARGEST:
                raise BadAgent(f"{each.name} has more than {LARGEST} bytes", "say it in fewer words")
            yield read_agent(data.decode("utf-8", "replace"), each.name)


def agents_of(root: Path, *place: str) -> Iterator[Agent]:
    """The same of a project, which may be a stranger's: a link would show models any file that you can read."""
    directory = root.joinpath(*place)
    real = Path(os.path.realpath(root)).joinpath(*place)
    for each in sorted(directory.glob(f"*{SUFFIX}")):
        if not Path(os.path.realpath(each)).is_relative_to(real):
            raise BadAgent(f"{each} is a link, or in one, that leads out of {real}", "put the file itself there")
    yield from agents_in(directory)


@cache
def stock() -> tuple[Agent, ...]:
    """The agents that come with it."""
    from importlib import resources  # noqa: PLC0415  few ask for it

    return tuple(agents_in(resources.files("perdure.agents").joinpath("stock")))

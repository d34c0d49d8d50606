"""The agents that there are here: the user's own, those of the project, and those that come with it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perdure.config.places import find_project, home_in, user_file

if TYPE_CHECKING:
    from perdure.agents.roster import Roster
    from perdure.documents.agents import Known

OURS: Final = "perdure"
"""The directory of a project with what is meant for us."""
AGENTS: Final = "agents"
"""The directory with their files, in that one and beside the user's settings."""


def known_agents(place: Path) -> "list[Known]":
    """Every agent that plans may name from a directory, by name; of two with one name the user's counts first."""
    found: dict[str, Known] = {}
    for each in _all(place):
        found.setdefault(each.agent.name, each)
    return [found[name] for name in sorted(found)]


def roster_here(place: Path) -> "Roster":
    """The same, as they work together. `BadAgent` or `OptionsError` if one of them cannot be what it says."""
    from perdure.agents.roster import Roster  # noqa: PLC0415  as below

    return Roster(each.agent for each in known_agents(place))


def _all(place: Path) -> "Iterator[Known]":
    from perdure.agents.reading import agents_in, agents_of, stock  # noqa: PLC0415  most commands ask for nobody
    from perdure.cli.kits import kit_agents  # noqa: PLC0415  as above
    from perdure.documents.agents import Known  # noqa: PLC0415  as above

    home = home_in(os.environ)
    project = find_project(place, home)
    own, brought = user_file(os.environ, home).parent / AGENTS, project.root / OURS / AGENTS
    yield from (Known(each, str(own)) for each in agents_in(own))
    yield from (Known(each, str(brought)) for each in agents_of(project.root, OURS, AGENTS))
    yield from (Known(each, "coding kit") for each in kit_agents())
    yield from (Known(each, "built in") for each in stock())

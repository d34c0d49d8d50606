"""What stands in the way of a plan here: what there is, as far as it can be told before anything begins."""

from collections.abc import Container, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perdure.cli.heads import roster_here
from perdure.config import Settings
from perdure.config.heads import models_of
from perdure.config.policy import load_policy
from perdure.config.secrets import load_secrets
from perdure.plan.problems import Problem
from perdure.plan.reading import Reading
from perdure.tools import AnyTool

if TYPE_CHECKING:
    from perdure.agents.agent import Agent
    from perdure.agents.feasibility import Means
    from perdure.models import Models


TELLING: Final = (b'"model":', b'"agent":', b'"skills":', b'"budget":', b"secrets", b'"planner":')
"""One of these is in every plan that could lack something here, tools and inputs aside."""


def lacks_here(
    read: Reading, settings: Settings, tools: Iterable[AnyTool], workspace: Path | None = None
) -> list[Problem]:
    """What stands in the way of a plan here, with the places in its file. Most need nothing, and are told fast."""
    plan = read.usable()
    if not any(word in plan.canonical_json() for word in TELLING):
        return []
    from perdure.agents.feasibility import lacking  # noqa: PLC0415  see above

    return read.place(lacking(plan, means_here(settings, tools, workspace)))


def means_here(settings: Settings, tools: Iterable[AnyTool], workspace: Path | None = None) -> "Means":
    """What runs that are begun here are carried out with. Inputs are looked at when a run begins."""
    from perdure.agents.feasibility import Means  # noqa: PLC0415  see above

    root = (workspace or Path.cwd()).resolve()

    @lru_cache(maxsize=1)
    def agents() -> "Mapping[str, Agent]":
        return {each.name: each for each in roster_here(root).agents}

    @lru_cache(maxsize=1)
    def models() -> "Models":
        return models_of(settings.heads)

    return Means(
        {each.name: each for each in tools},
        inputs=None,
        secrets=load_secrets(source=load_policy(root).secrets) or {},
        agents=agents,
        strategies=_ways,
        models=lambda name: models().find(name),
    )


def _ways() -> Container[str]:
    from perdure.agents.roster import WAYS  # noqa: PLC0415  few plans say how an agent is to work

    return WAYS

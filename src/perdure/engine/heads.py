"""What an engine thinks with: the models it may ask, and the tools that they are told of."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from perdure.core.policy import Layer, judge
from perdure.ports import Model, Offer
from perdure.tools import AnyTool

if TYPE_CHECKING:
    from perdure.agents.agent import Agent
    from perdure.models import ModelPerformer, Models


def asking_of(
    models: "Models | Mapping[str, Model | str] | None", tools: Mapping[str, AnyTool], layers: tuple[Layer, ...]
) -> "ModelPerformer | None":
    """Whoever asks the models; None if there are none."""
    if models is None:
        return None
    from perdure.models import ModelPerformer, Models  # noqa: PLC0415  most engines ask no model

    def offers(names: Sequence[str], inner: tuple[Layer, ...]) -> Sequence[Offer]:
        return offered(tools, names, (*layers, *inner))

    return ModelPerformer(models if isinstance(models, Models) else Models(models), offers)


def strategies_of(agents: "Iterable[Agent]", own: Mapping[str, Any], tools: Iterable[str] | None) -> Mapping[str, Any]:
    """Strategies by name: those of the agents, and the user's own, which come first. `tools`: all that there are."""
    listed = tuple(agents)
    if not listed:
        return own
    from perdure.agents.roster import Roster  # noqa: PLC0415  most engines have no agents

    return {**Roster(listed, tools=tools).strategies(), **own}


def offered(tools: Mapping[str, AnyTool], names: Sequence[str], layers: tuple[Layer, ...]) -> list[Offer]:
    """The tools that are meant by some names, by name; but for those that no rule lets be called."""
    meant = [tools[each] for each in sorted(tools) if any(fnmatchcase(each, name) for name in names)]
    return [_offer(each) for each in meant if judge(layers, each.called).verdict != "deny"]


def _offer(tool: AnyTool) -> Offer:
    return Offer(tool.name, tool.summary, tool.signature.inputs)

"""Parameters of several tools, each with where its value comes from: the request, what is known, an output, a person.

What the request names counts first, then what is known already, then what another of the tools gives, then what has
the right form. What is left and has to be there is asked for. A secret is never taken from a request and never asked
for: it is named, and whoever runs the plan has it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from perdure.agents.requests.extracting import FORMS, Request, Values, formed, named
from perdure.agents.requests.feeding import is_lookup, path_to
from perdure.agents.requests.pieces import Piece
from perdure.agents.requests.selecting import Span
from perdure.agents.requests.wanting import Want, wants_of
from perdure.plan.expr import escaped
from perdure.plan.raw import Raw
from perdure.tools.tool import AnyTool

From = Literal["request", "context", "output", "secret"]


@dataclass(frozen=True)
class Bound:
    """Where the value of a parameter comes from, and what a plan writes for it."""

    source: From
    written: Raw
    how: str
    span: Span | None = None
    """Where it stands in the request."""
    giver: int | None = None
    """Which of the tools gives it, by position."""
    looked_up: bool = False


@dataclass
class Binding:
    """A tool with its parameters as far as they are known."""

    tool: AnyTool
    wants: tuple[Want, ...]
    bound: dict[str, Bound] = field(default_factory=dict[str, Bound])

    @property
    def missing(self) -> list[Want]:
        """What has to be there and is not."""
        return [want for want in self.wants if want.required and want.name not in self.bound]

    @property
    def givers(self) -> set[int]:
        """The tools whose outputs it takes, by position."""
        return {each.giver for each in self.bound.values() if each.giver is not None}


class Binder:
    """Finds values for all parameters of all tools."""

    def __init__(
        self, request: Request, tools: Sequence[AnyTool], context: Mapping[str, Raw], spans: Sequence[Span] = ()
    ) -> None:
        self.request = request
        self.bindings = [Binding(tool, wants_of(tool.facts().inputs)) for tool in tools]
        self._context = context
        self._spans = spans if len(spans) == len(tools) else ()
        self._values = [Values() for _ in tools]
        self._names = frozenset(tool.name for tool in tools)

    def bind(self) -> list[Binding]:
        """All tools with their parameters; what is still missing has to be asked for."""
        for place, binding in enumerate(self.bindings):
            self._values[place] = named(self.request, binding.wants)
            self._keep(place)
        for binding in self.bindings:
            self._know(binding)
        for place in range(len(self.bindings)):
            self._form(place, self._own(place), FORMS)
        for place in range(len(self.bindings)):
            self._feed(place)
        for place in range(len(self.bindings)):
            self._form(place, self._free(place))
        return self.bindings

    def unused(self) -> list[Piece]:
        """The values of the request that nothing takes."""
        return [piece for piece in self.request.pieces if not self._is_used(piece) and piece.text not in self._names]

    def _keep(self, place: int) -> None:
        bound = self.bindings[place].bound
        for name, taken in self._values[place].taken.items():
            if name not in bound:
                bound[name] = Bound("request", escaped(taken.value), taken.how, (taken.start, taken.end))

    def _form(self, place: int, free: Sequence[Piece], sorts: Sequence[str] = ()) -> None:
        """By form: an address or a path that stands where the request speaks of the tool needs no other giver."""
        bound = self.bindings[place].bound
        wants = [want for want in self.bindings[place].wants if not sorts or want.sort in sorts]
        open_ = [want for want in wants if want.name not in bound]
        formed(self.request, open_, self._values[place], free, self._own(place))
        self._keep(place)

    def _know(self, binding: Binding) -> None:
        for want in binding.wants:
            known = want.name in self._context and want.name not in binding.bound
            if known and want.fits(self._context[want.name]):
                binding.bound[want.name] = Bound("context", escaped(self._context[want.name]), "known already")
            elif want.required and want.sort == "secret" and want.name not in binding.bound:
                name = "_".join(want.words).upper()
                binding.bound[want.name] = Bound("secret", f"${{secrets.{name}}}", f"the secret {name}")

    def _feed(self, place: int) -> None:
        """What another tool gives: the nearest one before it, else the first one after it."""
        binding = self.bindings[place]
        for want in binding.missing:
            for giver, path in self._givers(place, want):
                told = f"what {self.bindings[giver].tool.name} gives"
                binding.bound[want.name] = Bound("output", path, told, giver=giver, looked_up=is_lookup(want))
                break

    def _givers(self, place: int, want: Want) -> Iterator[tuple[int, str]]:
        for giver in (*reversed(range(place)), *range(place + 1, len(self.bindings))):
            path = path_to(self.bindings[giver].tool, want)
            if path is not None and not self._leads(giver, place):
                yield giver, path

    def _leads(self, place: int, target: int) -> bool:
        """Whether a tool takes, perhaps by way of others, what the target gives."""
        seen = [place]
        for each in seen:  # which gets longer by those that it takes from
            seen += self.bindings[each].givers.difference(seen)
        return target in seen

    def _is_used(self, piece: Piece) -> bool:
        spans = [each.span for binding in self.bindings for each in binding.bound.values() if each.span]
        return any(start < piece.end and piece.start < end for start, end in spans)

    def _free(self, place: int) -> list[Piece]:
        """Values that nobody has taken and that do not stand where the request speaks of another tool."""
        others = [span for n, span in enumerate(self._spans) if n != place and span != self._spans[place]]
        return [piece for piece in self.unused() if not any(start <= piece.start < end for start, end in others)]

    def _own(self, place: int) -> list[Piece]:
        if not self._spans:
            return []
        start, end = self._spans[place]
        return [piece for piece in self.unused() if start <= piece.start < end]

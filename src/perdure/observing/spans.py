"""Spans: what a run did, as traces have it, by the conventions for generative AI. They follow from facts alone.

A run is one trace, whoever carried it on and however often that was begun: its number is made of the run's id, and that
of each span of the fact that it begins with. Whoever tells a span twice has told the same one.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from perdure.observing.happenings import Happening
from perdure.observing.metrics import DRAFT
from perdure.observing.story import Story

CONVENTIONS: Final = "https://opentelemetry.io/schemas/1.38.0"
"""What the words of the attributes are taken from."""


class Span(msgspec.Struct, frozen=True):
    """A piece of work."""

    trace: int
    id: int
    parent: int
    """0: it begins the trace."""
    name: str
    at: int
    """In milliseconds."""
    till: int
    attributes: dict[str, Any]
    failure: str = ""
    """The kind of failure; empty: it did not fail."""
    links: tuple[tuple[int, int], ...] = ()
    """Traces and spans that it goes on from."""
    seq: int = 0
    """The fact that has told its end."""
    is_client: bool = False


def trace_of(run: str) -> int:
    """The trace of a run."""
    return _number(16, "run", run)


def activation_of(run: str, seq: int) -> int:
    """The span of a run at work, from a fact on until it rests."""
    return _number(8, run, "activation", seq)


def _number(size: int, *words: Any) -> int:
    digest = hashlib.sha256("\0".join(map(str, words)).encode("utf-8", "backslashreplace")).digest()
    return int.from_bytes(digest[:size], "big") or 1


def spans_of(story: Story, happenings: Iterable[Happening]) -> Iterator[Span]:
    """The spans that are over with some happenings of a run."""
    for each in happenings:
        match each.what:
            case "activation":
                yield _activation(story, each)
            case "worked":
                yield _agent(each)
            case "attempt":
                yield _attempt(each)
            case _:
                pass


def _activation(story: Story, of: Happening) -> Span:
    links: tuple[tuple[int, int], ...] = ()
    if of.number:
        links = ((trace_of(of.run), activation_of(of.run, of.number)),)
    elif story.parent:
        links = ((trace_of(story.parent), activation_of(story.parent, 1)),)
    name = of.name or "plan"
    about: dict[str, Any] = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": name,
        "perdure.plan.revision": story.revisions,
        "perdure.planner": of.planner,
        "perdure.rest": of.exit,
    }
    if story.session:
        about["gen_ai.conversation.id"] = story.session
    failure = story.failure if of.exit != "lost" else "in_doubt"
    return _span(of, activation_of(of.run, of.first), f"invoke_workflow {name}", about, links=links, failure=failure)


def _agent(of: Happening) -> Span:
    """An agent whose steps are its children. One whose result is a plan plans."""
    word = "plan" if of.strategy == DRAFT else "invoke_agent"
    about: dict[str, Any] = {
        "gen_ai.operation.name": word,
        "gen_ai.agent.name": of.name,
        "perdure.strategy": of.strategy,
    }
    return _span(of, _agent_id(of.run, of.step, of.visit, of.within), f"{word} {of.name}", about)


def _agent_id(run: str, step: str, visit: int, within: int) -> int:
    return _number(8, run, "agent", step, visit, within)


_OPERATIONS: Final = {"tool": "execute_tool", "model": "chat", "agent": "invoke_agent"}


def _attempt(of: Happening) -> Span:
    operation = _OPERATIONS.get(of.kind, of.kind)
    about: dict[str, Any] = {"perdure.attempt": of.attempt, "perdure.deed": of.deed, "perdure.exit": of.exit}
    if of.kind in _OPERATIONS:
        about["gen_ai.operation.name"] = operation
    if of.kind == "tool":
        about |= {"gen_ai.tool.name": of.name, "gen_ai.tool.type": "function", "gen_ai.tool.call.id": _call_id(of)}
    if of.kind == "agent":
        about["gen_ai.agent.name"] = of.name
    if of.kind == "model":
        provider, _, model = of.name.rpartition(":")
        about |= {"gen_ai.request.model": model, **({"gen_ai.provider.name": provider} if provider else {})}
    about |= {f"perdure.usage.{word}": each for word in ("tokens", "calls", "usd") if (each := getattr(of, word))}
    id_ = _number(8, of.run, "attempt", of.first, of.step, of.deed)
    return _span(of, id_, f"{operation} {of.name or of.step}", about, is_client=of.kind == "model")


def _call_id(of: Happening) -> str:
    return f"{of.step}:{of.visit}"


def _span(of: Happening, id_: int, name: str, about: dict[str, Any], **more: Any) -> Span:
    step, visit = of.inside
    parent = 0 if of.what == "activation" else activation_of(of.run, of.within)
    if step:
        parent = _agent_id(of.run, step, visit, of.within)
    about["perdure.run.id"] = of.run
    if of.step:
        about |= {"perdure.step.id": of.step, "perdure.visit": of.visit}
    told: dict[str, Any] = {"failure": of.failure, "seq": of.seq, **more}
    return Span(trace_of(of.run), id_, parent, name, of.at, of.till, about, **told)

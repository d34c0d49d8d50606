"""What is to be done with a run: begin it, go on with it, take it back; here, or by asking the owner of the journal."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from perdure.engine import Engine
from perdure.plan import Plan


class Job(Protocol):
    """A run to begin, or to go on with."""

    async def begin(self, engine: Engine) -> str:
        """Do it with an engine of our own; the run's id."""
        ...

    def request(self) -> Mapping[str, Any]:
        """What to ask of the owner."""
        ...


@dataclass(frozen=True, slots=True)
class Start:
    """A new run."""

    plan: Plan
    inputs: Mapping[str, Any]
    session: str = ""
    seed: int | None = None
    workspace: str = ""
    models: Mapping[str, str] | None = None
    """Whom it shall be answered by, by tier, if it asks anybody; None: by whoever the owner has."""

    async def begin(self, engine: Engine) -> str:
        """Start it here."""
        return (await engine.start(self.plan, self.inputs, session=self.session, seed=self.seed)).id

    def request(self) -> Mapping[str, Any]:
        """Have it started."""
        plan = json.loads(self.plan.canonical_json())
        about = {"session": self.session, "seed": self.seed, "workspace": self.workspace}
        return {"do": "start", "plan": plan, "inputs": dict(self.inputs), **about, "models": self.models}


@dataclass(frozen=True, slots=True)
class Retry:
    """A run that is over, and goes on after all."""

    run: str
    step: str = ""
    by: str = ""
    revised: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What is to be different in its plan: `edits`, and what is said about them."""

    async def begin(self, engine: Engine) -> str:
        """Open it again here."""
        await engine.retry(self.run, self.step, self.by, **self.revised)
        return self.run

    def request(self) -> Mapping[str, Any]:
        """Have it opened again."""
        return {"do": "retry", "run": self.run, "step": self.step, "by": self.by, **self.revised}


@dataclass(frozen=True, slots=True)
class Fork:
    """A new run that goes its own way from where another one stood."""

    run: str
    at: int | None = None
    step: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    by: str = ""
    plan: Mapping[str, Any] | None = None
    """What the plan is to be from there on, as JSON."""

    async def begin(self, engine: Engine) -> str:
        """Begin it here."""
        plan = None if self.plan is None else Plan.model_validate(self.plan)
        wish: dict[str, Any] = {"at": self.at, "step": self.step, "inputs": self.inputs, "by": self.by, "plan": plan}
        return (await engine.fork(self.run, **wish)).id

    def request(self) -> Mapping[str, Any]:
        """Have it begun."""
        return {"do": "fork", **asdict(self)}


@dataclass(frozen=True, slots=True)
class Rollback:
    """A run that is to be taken back."""

    run: str
    to: str = ""
    reason: str = ""
    by: str = ""

    async def begin(self, engine: Engine) -> str:
        """Take it back here."""
        await engine.rollback(self.run, self.to, self.reason, self.by)
        return self.run

    def request(self) -> Mapping[str, Any]:
        """Have it taken back."""
        return {"do": "rollback", "run": self.run, "to": self.to, "reason": self.reason, "by": self.by}


@dataclass(frozen=True, slots=True)
class Resume:
    """A run that is there."""

    run: str
    by: str = ""
    map: Mapping[str, str] = field(default_factory=dict[str, str])
    """What is called otherwise now."""

    async def begin(self, engine: Engine) -> str:
        """Go on with it here."""
        await engine.resume(self.run, self.by, self.map)
        return self.run

    def request(self) -> Mapping[str, Any]:
        """Have it carried on."""
        return {"do": "resume", **asdict(self)}


def job_of(request: Mapping[str, Any]) -> Job:
    """The job of which this is the request."""
    said = {name: each for name, each in request.items() if name != "do"}
    match request["do"]:
        case "start":
            return Start(Plan.model_validate(said.pop("plan")), **said)
        case "fork":
            return Fork(**said)
        case "resume":
            return Resume(**said)
        case "rollback":
            return Rollback(**said)
        case _:
            about = {name: said.pop(name) for name in ("run", "step", "by") if name in said}
            return Retry(**about, revised=said)

"""What a performer is asked to do, and what comes of it. Plain records that every room may hold."""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

CallKind = Literal["tool", "model", "agent"]
CALL_KINDS: Final[tuple[CallKind, ...]] = ("tool", "model", "agent")
Repeat = Literal["safe", "keyed", "never"]
"""What may be done with an attempt of which nobody knows how it ended: `safe`, do it again; `keyed`, do it again under
the same key, by which the other side knows it; `never`, ask a person."""

DOUBTFUL: Final = frozenset({"timeout", "cancelled", "in_doubt"})
"""Failures after which nobody knows whether the deed was done."""


class Call(msgspec.Struct, frozen=True, gc=False):
    """A piece of work: a tool, a model or an agent, by name, and what it is given."""

    kind: CallKind
    name: str
    arguments: Mapping[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        """The call as JSON, in the form that is hashed."""
        return {self.kind: self.name, "with": self.arguments}


class Earlier(msgspec.Struct, frozen=True):
    """A call that was made before, and what it gave."""

    step: str
    call: Call
    output: Any


class Approval(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What a person has to agree to before it is done. Whatever changes in it is another thing to agree to."""

    digest: str
    """SHA-256 of the step, its resolved arguments, what it is about to do, the rules and the tool's definition."""
    text: str
    """What is about to be done, for people."""


def is_yes(value: Any) -> bool:
    """Whether an answer to an approval agrees."""
    return value in (True, "approved")


class Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Why something did not work. Failures are data: what follows from one is decided by its kind."""

    kind: str
    message: str
    retry_after: float | None = None
    """Seconds the other side asked us to stay away."""
    detail: Any = None
    """JSON."""


class Usage(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What an attempt took, or may take."""

    seconds: float | None = None
    """How long it worked, where whoever did it knows."""
    tokens: int = 0
    """Of models, in and out."""
    usd: float | None = None
    """What it cost; None: nobody knows the price, which is not nothing."""
    calls: int = 0
    """Of models."""


FREE: Final = Usage(usd=0.0)
"""What was taken by somebody who only asked."""
NOTHING: Final = Usage()
"""What is promised to somebody who needs nothing, or does not say."""


class Outcome(msgspec.Struct, frozen=True):
    """What came of an attempt."""

    output: Any = None
    """JSON."""
    exit: str = "success"
    """`success`, or a word the step declared."""
    failure: Failure | None = None
    text: bytes = b""
    """The output as JSON, if it was read from there: then it need not be written again."""
    approval: Approval | None = None
    """Nothing was done yet: a person has to agree first."""
    judged: tuple[Any, ...] = ()
    """What was said about its deeds, as `core.policy.Judgement`."""
    usage: Usage | None = None
    """What it took; None: nobody says, so it counts as what it was expected to take."""
    sandboxed: str = ""
    """The tier that its commands were kept in, if the user's settings have lowered it."""

    @classmethod
    def failed(cls, kind: str, message: str, retry_after: float | None = None, detail: Any = None) -> "Outcome":
        """The outcome of something that did not work."""
        return cls(exit="failure", failure=Failure(kind, message, retry_after, detail))

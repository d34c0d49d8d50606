"""A signature that somebody else has written: the JSON Schema of a tool that is no Python function."""

from collections.abc import Mapping
from typing import Any, Final

from perdure.plan.conforming import flaws
from perdure.plan.problems import did_you_mean
from perdure.plan.raw import is_mapping
from perdure.tools.failure import ToolFailure
from perdure.tools.values import NotJson, as_json

FEW: Final = 5
"""Flaws that are told of one call."""


class Given:
    """How a function `(arguments, context)` is called on behalf of a tool whose schema was given."""

    context: Final = "context"
    """The parameter that takes the context."""

    def __init__(
        self, inputs: Mapping[str, Any], returns: Mapping[str, Any] | None = None, promise: Any = None
    ) -> None:
        self.inputs: Final = dict(inputs)
        """JSON Schema of the arguments."""
        self.returns: Final = None if returns is None else dict(returns)
        """JSON Schema of what is returned, as far as anybody says."""
        self.promise: Final = self.inputs if promise is None else promise
        """What an approval of a call is bound to."""

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as they are, in fresh values. `ToolFailure` if they are not what the schema asks for."""
        try:
            plain = as_json(arguments)
        except NotJson as error:
            raise ToolFailure("invalid", f"an argument is not JSON: {error}") from None
        if found := flaws(plain, self.inputs, FEW, ("arguments",)):
            raise ToolFailure("invalid", "; ".join(found) + self._hint(plain))
        return {"arguments": plain}

    def _hint(self, arguments: Mapping[str, Any]) -> str:
        """The nearest known name for each that is not known."""
        known = self.inputs.get("properties")
        names = list(known) if is_mapping(known) else []
        hints = [did_you_mean(name, names) for name in arguments if names and name not in names]
        return f" ({'; '.join(hints[:FEW])})" if any(hints) else ""

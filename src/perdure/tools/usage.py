"""What a call took, as its tool says it: amounts that add up."""

from typing import Any, Final

from perdure.core.calls import Usage
from perdure.tools.failure import ToolFailure

MOST: Final = 2**53
"""What a call can be said to have taken, of anything."""
DIGITS: Final = 12
"""Of a dollar, after the point: what adding up leaves behind them is no money."""


def more(before: Usage | None, usd: Any, tokens: Any, calls: Any) -> Usage:
    """What was taken before, and this. `ToolFailure` if some of it is no amount."""
    so_far = before or Usage()
    paid = so_far.usd if usd is None else round((so_far.usd or 0.0) + _amount("usd", usd, (int, float)), DIGITS)
    found = Usage(
        tokens=so_far.tokens + _amount("tokens", tokens, (int,)),
        usd=paid,
        calls=so_far.calls + _amount("calls", calls, (int,)),
    )
    for word, amount in (("usd", found.usd or 0.0), ("tokens", found.tokens), ("calls", found.calls)):
        if amount >= MOST:
            raise ToolFailure("invalid", f"spend: {word} adds up to {amount:g}, which nobody can have taken")
    return found


def _amount(word: str, given: Any, types: tuple[type, ...]) -> Any:
    if isinstance(given, types) and not isinstance(given, bool) and 0 <= given < MOST:
        return given
    kind = "a number" if float in types else "a whole number"
    raise ToolFailure("invalid", f"spend: {word}={repr(given)[:60]} is no amount; write {kind}, not negative")

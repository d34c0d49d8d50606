"""How much the built-in tools take and give. What is larger belongs into a tool of one's own."""

from typing import Annotated, Any, Final

from pydantic import Field

from perdure.tools.failure import ToolFailure

LETTERS: Final = 1_000_000
"""Of a text that is taken or given."""
ITEMS: Final = 100_000
"""Of a list that is taken."""

Text = Annotated[str, Field(max_length=LETTERS)]
Short = Annotated[str, Field(max_length=1_000)]
Items = Annotated[list[Any], Field(max_length=ITEMS)]


def refuse_long(letters: int) -> None:
    """Before a text is made, because a short call can ask for a very long one."""
    if letters > LETTERS:
        raise ToolFailure("invalid", f"the result would have more than {LETTERS:,} letters")

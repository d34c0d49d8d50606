"""What is answered of the journal itself."""

from typing import Any, Literal

from typing_extensions import TypedDict

from perdure.server.answers.told import told


@told
class Records(TypedDict):
    """Records, as a journal has them."""

    schema: Literal["perdure.journal/1"]
    items: list[Any]


@told
class Owned(TypedDict):
    """The process that has the journal."""

    journal: Literal["perdure.journal/1"]
    """How its records are written."""
    version: str
    """Of Perdure."""
    owner: str
    """A word that is another one when another process has it."""
    driven: bool
    """Whether it carries runs on."""
    writer: str
    """Who that is, for people; empty: nobody carries runs on."""

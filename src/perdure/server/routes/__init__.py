"""Routes, each noun in a file of its own."""

from typing import Final

from perdure.server.routes import (
    artifacts,
    events,
    house,
    journal,
    memory,
    messages,
    plans,
    questions,
    runs,
    world,
)

ALL: Final = tuple(
    each.routes for each in (runs, events, messages, questions, plans, artifacts, world, memory, house, journal)
)
"""In the order in which they are told of."""

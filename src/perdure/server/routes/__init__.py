"""Routes, each noun in a file of its own."""

from typing import Final

from perdure.server.routes import (
    artifacts,
    events,
    house,
    journal,
    memory,
    messages,
    metrics,
    plans,
    questions,
    runs,
    world,
)

ALL: Final = tuple(
    each.routes
    for each in (runs, events, messages, questions, plans, artifacts, world, memory, house, metrics, journal)
)
"""In the order in which they are told of."""

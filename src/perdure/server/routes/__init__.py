"""Routes, each noun in a file of its own."""

from typing import Final

from perdure.server.routes import messages, runs

ALL: Final = (runs.routes, messages.routes)
"""In the order in which they are told of."""

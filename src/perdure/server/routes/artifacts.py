"""Artifacts: large values, by their digest."""

import asyncio
from typing import Final

from starlette.responses import Response

from perdure.core.values import from_json
from perdure.server.here import Serving
from perdure.server.routing import Routes

routes: Final = Routes("artifacts")
INERT: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}
"""No browser takes a value for a page."""
KEPT: Final = {**INERT, "Content-Disposition": "attachment"}
_BYTES: Final = {
    200: {
        "description": "The value.",
        "content": {
            "application/json": {},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


@routes.get("/v1/artifacts/{digest}", "read", None, (404,), answers=_BYTES)
async def show_artifact(here: Serving, digest: str) -> Response:
    """Give a value as it is stored."""
    data = await here.journal.artifact(digest)
    if await asyncio.to_thread(_is_json, data):
        return Response(data, headers=INERT, media_type="application/json")
    return Response(data, headers=KEPT, media_type="application/octet-stream")


def _is_json(data: bytes) -> bool:
    try:
        from_json(data.decode())
    except ValueError:
        return False
    return True

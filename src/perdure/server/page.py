"""The page: its files, as they were built. They are the same for everybody; what they show is asked for at `/v1`.

Wherever somebody goes in the page is an address, and behind each of them is the same file, which finds out by itself
where it is. Files with a hash in their names never change, so a browser asks for them once.
"""

from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.responses import FileResponse, Response

from perdure.server.errors import NoPage, NoRoute
from perdure.server.scopes import OPEN, WORD

BUILT: Final = Path(__file__).parents[1] / "web" / "static"
PLACES: Final = (
    "/", "/runs/{run}", "/questions", "/new", "/tools", "/agents", "/templates", "/memory",
)  # fmt: skip
"""Where somebody can be in the page."""
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_ANEW: Final = "no-cache"
_FOR_EVER: Final = "public, max-age=31536000, immutable"


def add_page(app: FastAPI, built: Path = BUILT) -> None:
    """Have an app serve the page."""

    async def index() -> Response:
        if not (built / "index.html").is_file():
            raise NoPage("the web page was not built", "run `make page`, or install a released package")
        return _file(built / "index.html", _ANEW)

    async def icon() -> Response:
        return _file(built / "icon.svg", _ANEW)

    async def notices() -> Response:
        return _file(built / "licenses.md", _ANEW)

    async def asset(name: str) -> Response:
        return _file(built / "assets" / Path(name).name, _FOR_EVER)

    files = {"/icon.svg": icon, "/licenses.md": notices, "/assets/{name}": asset}
    for path, endpoint in {**dict.fromkeys(PLACES, index), **files}.items():
        app.router.add_api_route(
            path, endpoint, methods=["GET", "HEAD"], include_in_schema=False, openapi_extra={WORD: OPEN}
        )


def _file(path: Path, kept: str) -> Response:
    if not path.is_file():
        raise NoRoute(f"the page has no file {path.name[:100]}", "load the page anew")
    return FileResponse(path, headers={**_HEADERS, "Cache-Control": kept})

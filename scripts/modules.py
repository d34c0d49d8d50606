"""Every room and module with what it says of itself, from the top to the bottom: for `docs.py`.

The order inside a room is that of its contract in `pyproject.toml`, so that the page is read as the code depends.
"""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
SOURCE: Final = ROOT / "src/perdure"


def says(path: Path) -> str:
    """The first paragraph of what a file says of itself, on one line that may stand in a table."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(doc.split("\n\n")[0].split()).replace("|", "\\|")


def layers() -> dict[str, list[str]]:
    """The modules of each room that has a contract, top to bottom."""
    settings: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    inside = [each for each in settings["tool"]["importlinter"]["contracts"] if each["type"] == "layers"]
    return {
        each["containers"][0]: [name.strip() for layer in each["layers"] for name in layer.split("|")]
        for each in inside
    }


def rooms() -> list[Path]:
    """Every directory of modules, and after each what is in it; as the rooms of `ARCHITECTURE.md`, top to bottom."""
    return [each.parent for top in layers()["perdure"] for each in sorted((SOURCE / top).rglob("__init__.py"))]


def inner() -> Iterator[str]:
    """Rooms within rooms, each with its sentence."""
    yield "| within | what is in it |\n|---|---|\n"
    for room in rooms():
        if room.parent != SOURCE:
            yield f"| `{room.relative_to(SOURCE).as_posix()}` | {says(room / '__init__.py')} |\n"


def modules() -> Iterator[str]:
    """Every module, room by room."""
    ordered = layers()
    for room in (SOURCE, *rooms()):
        name = room.relative_to(SOURCE.parent).as_posix()
        yield f"## {name.removeprefix('perdure/')}\n\n{says(room / '__init__.py')}\n\n"
        yield from _table(room, ordered.get(name.replace("/", "."), []))


def _table(room: Path, order: list[str]) -> Iterator[str]:
    """A row for each file; a room that has none but its own has no table."""
    files = sorted(_files(room), key=lambda path: _place(order, path.stem))
    if files:
        yield "| module | what it is |\n|---|---|\n"
        for path in files:
            yield f"| [{path.stem}](../../{path.relative_to(ROOT).as_posix()}) | {says(path)} |\n"
        yield "\n"


def testing() -> Iterator[str]:
    """What `perdure.testing` offers, by module."""
    yield "| module | offers | what it is |\n|---|---|---|\n"
    for path in sorted(_files(SOURCE / "testing")):
        offered = ", ".join(f"`{name}`" for name in _offered(path))
        yield f"| `perdure.testing.{path.stem}` | {offered} | {says(path)} |\n"


def _offered(path: Path) -> list[str]:
    """The names that a module offers: `__all__`, as it is written."""
    written = (each for each in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(each, ast.Assign))
    found = [ast.literal_eval(each.value) for each in written if ast.unparse(each.targets[0]) == "__all__"]
    return found[0] if found else []


def _files(room: Path) -> Iterator[Path]:
    return (path for path in room.glob("*.py") if path.stem != "__init__")


def _place(order: list[str], name: str) -> tuple[int, str]:
    return (order.index(name) if name in order else len(order), name)

"""The architecture tells of what is there: each room, each module it names, and the ring, by a message that goes round it."""

import ast
import asyncio
import re
import sys
import threading
from pathlib import Path

import modules
import pytest

from perdure import Engine, Plan, tool
from perdure.cli import COMMANDS

SOURCE = Path(__file__).parents[2] / "src/perdure"
PAGE = (Path(__file__).parents[2] / "ARCHITECTURE.md").read_text(encoding="utf-8")
RING = re.findall(r"^\| \d+ \| `([^`]+)` \| `([^`]+)` \|", PAGE, re.MULTILINE)
NAMED = re.findall(r"`([a-z_/]+\.py)` (?:asks )?`([A-Za-z_.]+)`", PAGE)


def section(name):
    return re.split(r"^## ", PAGE.partition(f"## Inside `{name}`")[2], maxsplit=1, flags=re.MULTILINE)[0]


@tool(name="shop.pack", repeat="safe")
async def pack() -> str:
    """Pack it."""
    return "packed"


async def answered(place):
    """A run that asks, and packs when somebody has said yes: what it gives, and all that was called on the way."""
    plan = Plan.model_validate({"steps": [{"id": "may", "ask": "Pack?"}, {"id": "pack", "tool": "shop.pack"}]})
    called = []

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(SOURCE)):
            called.append((Path(code.co_filename).relative_to(SOURCE).as_posix(), code.co_qualname))

    threading.setprofile(note)  # the thread that writes is begun with the journal
    try:
        async with Engine.open(place / "runs.db", tools=[pack]) as engine:
            run = await engine.start(plan)
            [question] = (await run.rested()).questions
            called.clear()
            sys.setprofile(note)
            await run.answer(question, "approved")
            output = (await run.result()).output
            sys.setprofile(None)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return output, called


def test_a_message_goes_round_the_ring_as_it_is_told(tmp_path):
    """Every function of the table is called, in the order of the table, and then the ring begins again."""
    output, called = asyncio.run(answered(tmp_path))
    assert output == "packed"
    assert len(RING) > 20
    on_the_way = iter(called)
    for n, step in enumerate([*RING, ("runtime/runner.py", "Runner._pump"), ("core/turn.py", "turn")], 1):
        assert step in on_the_way, f"{n}: {step} was not called after those before it"


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_every_function_that_is_named_is_there(file, name):
    tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
    for part in name.split("."):
        defined = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        [tree] = [each for each in tree.body if isinstance(each, defined) and each.name == part]


def test_functions_are_named_beside_the_ring():
    assert len(NAMED) >= 6


def test_every_room_is_told_of():
    named = set(re.findall(r"`([a-z_/]+)`", PAGE))
    rooms = {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*") if path.is_file()}
    rooms = {room for room in rooms if "__pycache__" not in room and room != "."}
    assert len(rooms) > 30
    assert sorted(rooms - named) == []


@pytest.mark.parametrize("room", ["core", "engine"])
def test_every_module_has_one_place_among_those_like_it(room):
    """In rooms of many modules one finds them by what they are about."""
    rows = re.findall(r"^\| [^|`]+ \| (`.*`) \|$", section(room), re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([a-z_]+)`", row)]
    there = [path.stem for path in (SOURCE / room).glob("*.py") if path.stem != "__init__"]
    assert sorted(named) == sorted(there)


def test_what_commands_share_knows_no_command():
    commands = {name.replace("import", "import_") for name in COMMANDS}
    shared = [path for path in (SOURCE / "cli").glob("*.py") if path.stem not in commands]
    assert len(shared) > 30
    for path in shared:
        known = re.findall(r"^\s*from perdure\.cli\.(\w+) import", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert commands.isdisjoint(known), path.name


def test_nothing_is_called_by_a_word_that_says_nothing():
    empty = re.compile(r"(?i)(?<![a-z])(?:utils?|helpers?|managers?|handlers?)(?![a-z])")
    defined = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    names = [
        (path.relative_to(SOURCE).as_posix(), name)
        for path in SOURCE.rglob("*.py")
        for name in [*path.relative_to(SOURCE).with_suffix("").parts]
        + [each.name for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(each, defined)]
    ]
    assert len(names) > 5_000
    found = {each[1] for each in names if empty.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", each[1]))}
    assert found == {"get_route_handler"}, "FastAPI calls it so"


def test_every_module_says_what_it_is():
    assert [path.name for room in modules.rooms() for path in room.glob("*.py") if not modules.says(path)] == []

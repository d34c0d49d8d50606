"""What a client makes of owners that are not there, say nothing, or say something strange."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest

from perdure.control import Garbled, NoAnswer, NoOwner, OtherVersion, OwnerRefused, ask
from perdure.control.listener import listening


@asynccontextmanager
async def says(path, answer, *, listens=True):
    """An owner that has one answer to everything."""

    async def meet(reader, writer):
        if listens:
            await reader.readline()
        writer.write(answer)
        writer.close()

    with listening(path) as listener:
        async with await asyncio.start_unix_server(meet, sock=listener):
            yield


async def test_without_an_owner(path):
    with pytest.raises(NoOwner):
        await ask(path, {})
    path.write_text("a file")
    with pytest.raises(NoOwner):
        await ask(path, {})
    with pytest.raises(NoOwner):
        await ask(path / "below", {})
    assert path.read_text() == "a file"


async def test_an_owner_that_hangs_up(path):
    for answer in (b"", b'{"control":1,"reply":{}}'):
        async with says(path, answer):
            with pytest.raises(NoAnswer, match="hung up"):
                await ask(path, {})


async def test_an_owner_that_hangs_up_before_all_is_said_is_heard(path):
    async with says(path, b'{"control":1,"error":{"message":"not you"}}\n', listens=False):
        with pytest.raises(OwnerRefused, match="not you"):
            await ask(path, {"x": "x" * 1_900_000})


async def test_an_owner_of_another_version(path):
    async with says(path, b'{"control":3,"error":{"kind":"unheard of"}}\n'):
        with pytest.raises(OtherVersion, match=r"owner speaks version 3 .* this process speaks version 1"):
            await ask(path, {})


@pytest.mark.parametrize("answer", [b"\n", b"hello\n", b"{}\n", b'{"control":1}\n', b"x" * 3_000_000])
async def test_an_owner_that_talks_nonsense(path, answer):
    async with says(path, answer):
        with pytest.raises(Garbled):
            await ask(path, {})


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, ("PRD2301", "the owner did not do it", "", 1)),
        ({"code": 5, "message": ["x"], "help": None, "exit_code": "3"}, ("5", "['x']", "", 1)),
        ({"code": "PRD2002", "message": "m", "help": "h", "exit_code": 0}, ("PRD2002", "m", "h", 1)),
        ({"code": "PRD2002", "message": "m", "help": "h", "exit_code": 300}, ("PRD2002", "m", "h", 1)),
        ({"code": "PRD2002", "message": "m", "help": "h", "exit_code": 3}, ("PRD2002", "m", "h", 3)),
    ],
)
async def test_an_error_is_an_error_whatever_it_says(path, told, expected):
    async with says(path, json.dumps({"control": 1, "error": told}).encode() + b"\n"):
        with pytest.raises(OwnerRefused) as caught:
            await ask(path, {})
    error = caught.value
    assert (error.code, error.message, error.help, error.exit_code) == expected

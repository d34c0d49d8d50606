"""One owner and its clients, in one process: what is answered, what is refused, and that nobody holds up anybody."""

import asyncio
import errno
import json
import os
import socket

import pytest

from perdure.control import Garbled, Limits, NoAnswer, NoOwner, OtherVersion, OwnerRefused, ask, serve, server
from perdure.control.address import address_of
from perdure.control.wire import LONGEST_LINE, Lines, request_line
from perdure.errors import PerdureError

LIMIT = 30
"""Seconds after which a test that hangs is given up; none of them comes near."""


async def echo(request):
    return {"echo": request.body}


async def send(connection, data):
    await asyncio.get_running_loop().sock_sendall(connection, data)


async def heard(lines):
    async with asyncio.timeout(LIMIT):
        line = await lines.next()
    return None if line is None else json.loads(line)


async def drip(connection):
    while True:
        await send(connection, b" ")
        await asyncio.sleep(0.01)


async def hung_up(connection):
    """Whether the owner has closed the connection without another word."""
    async with asyncio.timeout(LIMIT):
        try:
            return await asyncio.get_running_loop().sock_recv(connection, 1) == b""
        except ConnectionError:
            return True


async def test_a_request_gets_its_answer(path):
    async with serve(path, echo):
        for body in ({}, {"do": "answer", "text": "ja, »gern« 😀 \ud800\n", "n": [1, 2.5, None, True]}):
            assert await ask(path, body) == {"echo": body}


async def test_the_owner_knows_who_asks(path):
    async def who(request):
        return {"pid": request.pid, "uid": request.uid}

    async with serve(path, who):
        assert await ask(path, {}) == {"pid": os.getpid(), "uid": os.getuid()}


async def test_many_clients_are_served_at_once(path):
    waiting = 0
    everybody = asyncio.Event()

    async def meet(request):
        nonlocal waiting
        waiting += 1
        if waiting == 40:
            everybody.set()
        await everybody.wait()  # would never come, if one request had to wait for another
        return request.body

    async with serve(path, meet):
        answers = await asyncio.gather(*(ask(path, {"n": n}, LIMIT) for n in range(40)))
    assert answers == [{"n": n} for n in range(40)]


async def test_a_long_request_holds_up_nobody(path):
    go = asyncio.Event()

    async def handle(request):
        if request.body["wait"]:
            await go.wait()
        return request.body

    async with serve(path, handle):
        slow = asyncio.create_task(ask(path, {"wait": True}, LIMIT))
        for _ in range(20):
            assert await ask(path, {"wait": False}) == {"wait": False}
        assert not slow.done()
        go.set()
        assert await slow == {"wait": True}


async def test_more_clients_than_places_wait_for_theirs(path, connect):
    async with serve(path, echo, Limits(connections=2)):
        first, second = connect(), connect()
        for connection in (first, second):
            await send(connection, request_line({}))
            assert await heard(Lines(connection)) is not None
        with pytest.raises(NoAnswer):
            await ask(path, {}, 0.1)
        third = asyncio.create_task(ask(path, {"n": 3}, LIMIT))
        first.close()
        assert await third == {"echo": {"n": 3}}
        answers = await asyncio.gather(*(ask(path, {"n": n}, LIMIT) for n in range(50)))
        assert answers == [{"echo": {"n": n}} for n in range(50)]


async def test_when_even_the_queue_is_full_a_client_waits(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, address_of(path) as address:
        listener.bind(address)
        listener.listen(0)
        with pytest.raises(NoAnswer, match="within"):
            await asyncio.gather(*(ask(path, {}, 0.1) for _ in range(5)))


async def test_when_the_system_accepts_nobody_the_owner_tries_again(path, monkeypatch, caplog):
    accept, refusals = socket.socket.accept, [OSError(errno.EMFILE, "Too many open files")] * 3

    def reluctant(self):
        if refusals:
            raise refusals.pop()
        return accept(self)

    monkeypatch.setattr(socket.socket, "accept", reluctant)
    monkeypatch.setattr(server, "_PAUSE", 0.01)
    async with serve(path, echo):
        assert await ask(path, {}, LIMIT) == {"echo": {}}
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 3


async def test_two_hundred_requests_on_one_connection(path, connect):
    async with serve(path, echo):
        connection = connect()
        lines = Lines(connection)
        for n in range(100):
            await send(connection, request_line({"n": n}))
            assert (await heard(lines))["reply"] == {"echo": {"n": n}}
        await send(connection, b"".join(request_line({"n": n}) for n in range(100)))
        assert [(await heard(lines))["reply"]["echo"]["n"] for _ in range(100)] == list(range(100))


async def test_a_client_with_much_to_ask_leaves_the_owner_time_for_others(path, connect):
    ticks, seen = 0, []

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    async def note(request):
        seen.append(ticks)
        return request.body

    async with serve(path, note):
        connection = connect()
        connection.sendall(b"".join(request_line({"n": n}) for n in range(100)))
        ticking = asyncio.create_task(tick())
        lines = Lines(connection)
        for _ in range(100):
            await heard(lines)
        ticking.cancel()
    assert len(set(seen)) == 100, "something else ran between any two requests"


# ------------------------------------------------------------ errors


class LateError(PerdureError):
    code = "PRD4242"  # made up
    exit_code = 7


async def test_an_error_travels_as_it_is(path):
    async def refuse(request):
        raise LateError(f"{request.body['q']} has its answer", "read it")

    async with serve(path, refuse):
        with pytest.raises(OwnerRefused) as caught:
            await ask(path, {"q": "q_1"})
    error = caught.value
    assert (error.code, error.message, error.help, error.exit_code) == ("PRD4242", "q_1 has its answer", "read it", 7)
    assert OwnerRefused.code == "PRD2301", "the class keeps its own"


@pytest.mark.parametrize(
    "fault",
    [
        ValueError("secret"),
        asyncio.CancelledError("secret"),
        ExceptionGroup("secret", [ValueError("secret")]),
        NotImplementedError(),
        TimeoutError("secret"),
    ],
    ids=lambda fault: type(fault).__name__,
)
async def test_what_breaks_in_the_owner_is_logged_there_and_told_here(path, fault, caplog):
    async def fail(request):
        if request.body:
            raise fault
        return {}

    async with serve(path, fail):
        with pytest.raises(OwnerRefused) as caught:
            await ask(path, {"do": "it"})
        assert await ask(path, {}) == {}
    assert caught.value.code == "PRD2301"
    assert "secret" not in caught.value.message + caught.value.help
    assert [record.name for record in caplog.records] == ["perdure.control"]
    assert caplog.records[0].exc_info[1] is fault


@pytest.mark.parametrize("answer", [{"a": {1, 2}}, {"a": float("nan")}, {"a": "x" * LONGEST_LINE}, None])
async def test_an_answer_that_cannot_be_sent_is_the_owners_failure(path, answer):
    async def handle(request):
        return answer if request.body else {}

    async with serve(path, handle):
        with pytest.raises(OwnerRefused) as caught:
            await ask(path, {"do": "it"})
        assert caught.value.code == "PRD2301"
        assert await ask(path, {}) == {}


async def test_what_is_no_request_is_not_sent(path):
    calls = []

    async def note(request):
        calls.append(request)
        return {}

    async with serve(path, note):
        for body in ({"a": {1, 2}}, {"a": float("inf")}, {"a": "x" * LONGEST_LINE}):
            with pytest.raises(Garbled) as caught:
                await ask(path, body)
    assert calls == []
    assert (caught.value.code, caught.value.exit_code) == ("PRD2309", 75), "once the owner has left, it can be done"


# ------------------------------------------------------------ garbage

GARBAGE = [
    b"",
    b"hello",
    b"\xff\xfe\x00",
    b"[]",
    b"null",
    b"{}",
    b'{"control":1}',
    b'{"control":1,"request":[]}',
    b'{"control":1,"request":{"n":NaN}}',
    b'{"control":"1","request":{}}',
    b'{"control":1,"request":' + b'{"a":' * 100_000 + b"}" * 100_000 + b"}",
    b"9" * 10_000,
]


@pytest.mark.parametrize("line", GARBAGE, ids=lambda line: line[:30])
async def test_garbage_is_refused_and_the_next_line_is_served(path, connect, line):
    async with serve(path, echo):
        connection = connect()
        lines = Lines(connection)
        await send(connection, line + b"\n" + request_line({"n": 1}))
        assert (await heard(lines))["error"]["code"] == "PRD2305"
        assert (await heard(lines))["reply"] == {"echo": {"n": 1}}


@pytest.mark.parametrize("end", [b"", b"\n"], ids=["for ever", "with an end"])
async def test_a_line_that_is_too_long_is_refused(path, connect, end):
    async with serve(path, echo):
        connection = connect()
        sending = asyncio.create_task(send(connection, b"x" * (LONGEST_LINE + 1 if end else 2 * LONGEST_LINE) + end))
        assert (await heard(Lines(connection)))["error"]["code"] == "PRD2305"
        assert await hung_up(connection)
        await asyncio.wait([sending])
        assert end or sending.exception() is not None, "not all of it was read"
        assert await ask(path, {}) == {"echo": {}}


async def test_a_line_may_be_as_long_as_it_may_be(path, connect):
    line = request_line({"x": ""}).rstrip()
    line = line.replace(b'""', b'"' + b"x" * (LONGEST_LINE - len(line)) + b'"')

    async def measure(request):
        return {"length": len(request.body["x"])}

    async with serve(path, measure):
        connection = connect()
        await send(connection, line + b"\n")
        assert (await heard(Lines(connection)))["reply"] == {"length": line.count(b"x") - 1}


async def test_half_a_line_is_no_request(path, connect):
    calls = []

    async def note(request):
        calls.append(request.body)
        return {}

    async with serve(path, note):
        for half in (request_line({"n": 1})[:-1], b'{"control"'):
            connection = connect()
            await send(connection, half)
            connection.shutdown(socket.SHUT_WR)
            assert await hung_up(connection)
        connection = connect()
        await send(connection, b'{"control"')
        connection.close()
        await ask(path, {"n": 2})
    assert calls == [{"n": 2}]


async def test_who_hangs_up_too_early_is_served_all_the_same(path, connect):
    begun, go, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def handle(request):
        if request.body:
            begun.set()
            await go.wait()
            done.set()
        return {}

    async with serve(path, handle):
        connection = connect()
        await send(connection, request_line({"do": "cancel"}))
        await begun.wait()
        connection.close()
        go.set()
        assert await ask(path, {}) == {}
        await asyncio.wait_for(done.wait(), LIMIT)


@pytest.mark.parametrize("said", [b"", b'{"control":1,'], ids=["silent", "half a line"])
async def test_a_client_that_says_nothing_is_dropped(path, connect, said):
    async with serve(path, echo, Limits(patience=0.1)):
        connection = connect()
        await send(connection, said)
        assert await hung_up(connection)
        assert await ask(path, {}) == {"echo": {}}


async def test_drops_do_not_make_a_line_faster(path, connect):
    """A byte now and then does not keep a connection alive: the whole line has its time."""
    async with serve(path, echo, Limits(patience=0.2)):
        connection = connect()
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(drip(connection), LIMIT)


async def test_a_client_that_takes_no_answer_is_dropped(path, connect):
    async def handle(request):
        return {"x": "x" * request.body["length"]}

    async with serve(path, handle, Limits(patience=0.1, connections=1)):
        connection = connect()
        await send(connection, request_line({"length": 1_900_000}))
        assert await ask(path, {"length": 1}, LIMIT) == {"x": "x"}, "its place is free again"
        assert (await heard(Lines(connection))) is None, "what it got is half a line"


async def test_another_version_is_named_by_both_sides(path, connect):
    async with serve(path, echo):
        connection = connect()
        lines = Lines(connection)
        await send(connection, b'{"control":2,"order":"?"}\n' + request_line({}))
        error = (await heard(lines))["error"]
        assert error["code"] == OtherVersion.code
        assert "client speaks version 2" in error["message"]
        assert "owner speaks version 1" in error["message"]
        assert (await heard(lines))["reply"] == {"echo": {}}


# ------------------------------------------------------------ closing


async def test_a_request_that_is_under_way_finishes_before_the_owner_is_gone(path):
    begun, go = asyncio.Event(), asyncio.Event()

    async def handle(request):
        begun.set()
        await go.wait()
        return request.body

    async def own():
        async with serve(path, handle, Limits(grace=LIMIT)):
            await begun.wait()

    owning = asyncio.create_task(own())
    while not path.exists():  # noqa: ASYNC110  files wake nobody
        await asyncio.sleep(0)
    asking = asyncio.create_task(ask(path, {"n": 1}))
    while path.exists():  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    with pytest.raises(NoOwner):
        await ask(path, {"n": 2})
    assert not owning.done()
    go.set()
    assert await asking == {"n": 1}
    await owning


async def test_a_request_that_takes_too_long_is_ended_and_its_client_told(path):
    begun, ended = asyncio.Event(), asyncio.Event()

    async def handle(_):
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with serve(path, handle, Limits(grace=0.05)):
        asking = asyncio.create_task(ask(path, {}, LIMIT))
        await begun.wait()
    assert ended.is_set(), "nothing runs on when the block is left"
    with pytest.raises(NoAnswer, match="hung up"):
        await asking


async def test_closing_does_not_wait_for_those_who_ask_nothing(path, connect):
    async with asyncio.timeout(LIMIT):
        async with serve(path, echo, Limits(grace=10 * LIMIT)):
            silent, talking = connect(), connect()
            await send(talking, request_line({}))
            assert await heard(Lines(talking)) is not None
        assert await hung_up(silent)
        assert await hung_up(talking)


async def test_nothing_new_is_begun_while_closing(path, connect):
    calls, begun, go = [], asyncio.Event(), asyncio.Event()

    async def handle(request):
        calls.append(request.body["n"])
        begun.set()
        await go.wait()
        return request.body

    async with serve(path, handle, Limits(grace=LIMIT)):
        connection = connect()
        await send(connection, request_line({"n": 1}) + request_line({"n": 2}))
        await begun.wait()
        asyncio.get_running_loop().call_later(0.01, go.set)
    lines = Lines(connection)
    assert (await heard(lines))["reply"] == {"n": 1}
    assert await hung_up(connection)
    assert calls == [1]


async def test_an_error_in_the_block_comes_out_as_it_is(path):
    async def own():
        async with serve(path, echo):
            await ask(path, {})
            raise KeyError

    with pytest.raises(KeyError):
        await own()
    assert not path.exists()

"""A server that speaks like a provider, or badly, by a script: one reply for each request."""

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Reply:
    """What goes over the wire, in pieces."""

    pieces: list[bytes]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0
    """Seconds between the pieces."""
    cut: bool = False
    """Break off without an end."""


def chunk(delta=None, finish=None, **more):
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake-1", "choices": [choice], **more}


def usage(tokens_in, tokens_out):
    used = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
    return {**chunk(), "choices": [], "usage": used}


def stream(*chunks, **more):
    pieces = [b"data: " + json.dumps(each).encode() + b"\n\n" for each in chunks]
    more.setdefault("headers", {"content-type": "text/event-stream"})
    return Reply([*pieces, b"data: [DONE]\n\n"], **more)


def said(text, finish="stop", used=(3, 5), **more):
    words = [chunk({"content": each}) for each in text.split("|")]
    return stream(*words, chunk(finish=finish), *([usage(*used)] if used else []), **more)


def called(*calls, finish="tool_calls", text=""):
    parts = [
        {"index": n, "id": f"call{n}", "type": "function", "function": {"name": name, "arguments": given}}
        for n, (name, given) in enumerate(calls)
    ]
    return stream(chunk({"content": text, "tool_calls": parts}), chunk(finish=finish), usage(3, 5))


def refused(status, message="no", headers=None, **more):
    body = {"error": {"message": message, **more}}
    return Reply([json.dumps(body).encode()], status, {"content-type": "application/json", **(headers or {})})


class FakeProvider:
    """Plays its replies, and remembers what it was asked."""

    def __init__(self, replies):
        self._replies = list(replies)
        self.asked = []
        self.heads = []
        self.left = asyncio.Event()
        """Set when somebody has gone before the end of a reply."""
        self.url = ""

    async def answer(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await self._one(head.decode(), reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.left.set()
        finally:
            writer.close()

    async def _one(self, head, reader, writer):
        lines = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        body = await reader.readexactly(int(lines.get("content-length", 0)))
        self.heads.append(head)
        self.asked.append(json.loads(body))
        await self._send(self._replies.pop(0) if self._replies else refused(500, "the script is over"), writer)

    async def _send(self, reply, writer):
        fields = {**reply.headers, "transfer-encoding": "chunked"}
        written = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(f"HTTP/1.1 {reply.status} X\r\n{written}\r\n".encode())
        for piece in reply.pieces:
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
            await asyncio.sleep(reply.pause)
        if reply.cut:
            writer.transport.abort()
            raise ConnectionAbortedError
        writer.write(b"0\r\n\r\n")
        await writer.drain()


@asynccontextmanager
async def playing(*replies):
    fake = FakeProvider(replies)
    server = await asyncio.start_server(fake.answer, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield fake
    finally:
        server.close()
        await asyncio.sleep(0)

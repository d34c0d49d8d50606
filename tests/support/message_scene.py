"""Owners and senders of messages as processes, and what a journal says of what senders wanted."""

import asyncio
from contextlib import suppress

import message_victim
from hands_points import attached
from seen import Seen

from perdure.control import ControlError, OwnerRefused, ask, socket_of
from perdure.core import events as e
from perdure.ports import Filter


class Victim:
    """A process, and a pipe to it."""

    def __init__(self, processes, target, args):
        self.pipe, theirs = processes.Pipe()
        self._process = processes.Process(target=target, args=(*args, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def kill(self):
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None
            self.pipe.close()


class Place(Seen):
    """A journal with one run that stands somewhere, and one process that owns it."""

    def __init__(self, place, begin):
        super().__init__(place / "runs.db", place / "effects")
        self.place, self._begin = place, begin
        self.look()

    def asked(self, way, request, trace):
        """What the sender is told by an owner that strace looks at, or ends; None if nothing."""
        owner = self._begin(message_victim.own, self.path, self.world)
        tracer = attached(trace, owner.pipe.recv())
        told = self._through_socket(request) if way == "socket" else _from_code(owner, request)
        if told is not None:
            owner.kill()
        tracer.wait(60)
        tracer.stderr.close()
        owner.kill()
        return told

    def _through_socket(self, request):
        try:
            return asyncio.run(ask(socket_of(self.path), request, 60))
        except OwnerRefused:
            raise
        except ControlError:
            return None


def _from_code(owner, request):
    with suppress(EOFError, ConnectionError):
        owner.pipe.send(request)
        return owner.pipe.recv()
    return None


async def taken(journal):
    """The facts that senders wanted, each with its run. A fork has those of its run, and is told by its own."""
    found = {}
    for run in await journal.runs(Filter(), None, 1_000):
        _, entries = await journal.load(run.id)
        events = [e.decode(each.type, each.body) for each in entries]
        forks = [place for place, each in enumerate(events) if isinstance(each, e.RunForked)]
        if forks:
            await assert_shared(journal, events[forks[-1]], entries[: forks[-1]])
        for each in events[forks[-1] if forks else 0 :]:
            found.setdefault(getattr(each, "by", ""), []).append((run.id, each))
    return found


async def assert_shared(journal, event, entries):
    """A fork has the facts of the other run up to a point, to the byte."""
    _, theirs = await journal.load(event.of)
    assert [(each.type, each.body) for each in entries] == [(each.type, each.body) for each in theirs[: event.seq]]

"""The memory of an engine: what runs have taught, without secrets, and with the time when it was said."""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec.structs import replace

from perdure.core.values import well_formed
from perdure.engine.ids import new_id
from perdure.engine.secrets import Secrets
from perdure.ports import Clock, Journal, Memories, Memory, NoMemory

Learned = Literal["lesson", "fact"]


class Recollection:
    """What tools see as `context.memory` and programs as `Engine.memory`. It is kept with the journal."""

    def __init__(self, journal: Journal, clock: Clock, secrets: Secrets) -> None:
        self._kept: Final = journal if isinstance(journal, Memories) else None
        self._clock: Final = clock
        self._secrets: Final = secrets

    @property
    def _there(self) -> Memories:
        if self._kept is None:
            raise NoMemory(
                "this journal remembers nothing but runs", "use a journal that keeps `perdure.ports.Memories`"
            )
        return self._kept

    async def note(self, text: str, kind: Learned = "lesson", *, about: str = "", by: str = "") -> str:
        """Keep a lesson or a fact that no step has noted; its id."""
        memory = Memory(id=new_id("m", self._clock.now()), kind=kind, text=text, about=about, by=by)
        await self.remember(memory)
        return memory.id

    async def remember(self, memory: Memory) -> None:
        """Keep a memory as of now; secrets are taken out of it first."""
        clean = self._secrets.redactor.text
        said = {word: well_formed(clean(getattr(memory, word))) for word in ("text", "about", "by")}
        await self._there.remember(replace(memory, at=memory.at or self._clock.now(), **said))

    async def search(self, text: str, kinds: Sequence[str] = (), limit: int = 10) -> list[Memory]:
        """The memories with words of a text, the best first. Any text will do; it is never read as a query."""
        return await self._there.search(text, kinds, limit)

    async def memories(self, kinds: Sequence[str] = (), before: int | None = None, limit: int = 50) -> list[Memory]:
        """Memories, newest first; `before` is the number of the last one seen."""
        return await self._there.memories(kinds, before, limit)

    async def forget(self, memory: str) -> None:
        """Forget a memory by its id. `UnknownMemory` if there is none."""
        await self._there.forget(memory)

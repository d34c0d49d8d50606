"""Memory: what runs have taught, looked up, added to, forgotten."""

from typing import Annotated, Final, Literal

from fastapi import Query
from starlette.responses import Response

from perdure.documents.memories import memories_document, memory_document
from perdure.server.answers.world import Memories, Remembered
from perdure.server.bodies import Note
from perdure.server.callers import Asking
from perdure.server.here import Limit, Serving, answered
from perdure.server.routing import Routes

routes: Final = Routes("memory")
Kind = Literal["outcome", "lesson", "fact", "task"]


@routes.get("/v1/memory", "read", Memories)
async def list_memories(
    here: Serving,
    kind: Annotated[list[Kind], Query(default_factory=list, description="Only these; can be repeated.")],
    q: Annotated[str, Query(description="Those with words of this text, the best first; else the newest.")] = "",
    before: Annotated[int | None, Query(ge=0, le=2**53, description="Go on where an earlier list ended.")] = None,
    limit: Limit = 50,
) -> Response:
    """List what runs have taught, newest first; or look it up by words, and then there is one page."""
    if q:
        return answered(memories_document(await here.engine.memory.search(q, kind, limit), None))
    found = await here.engine.memory.memories(kind, before, limit + 1)
    more = found[limit - 1].number if len(found) > limit else None
    return answered(memories_document(found[:limit], more))


@routes.post("/v1/memory", "run", Remembered, status_code=201)
async def note_memory(here: Serving, caller: Asking, asked: Note) -> Response:
    """Keep a lesson or a fact for later runs."""
    reply = await here.ask("note", {**asked.model_dump(), "by": caller.named(asked.by)})
    return answered(memory_document(reply["done"]), 201)


@routes.delete("/v1/memory/{id}", "run", Remembered, (404,))
async def forget_memory(here: Serving, id: str) -> Response:  # noqa: A002  the word of the path
    """Forget a memory for good."""
    await here.ask("forget", {"memory": id})
    return answered(memory_document(id))

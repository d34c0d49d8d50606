"""Following a run: what is there already, then what comes."""

from collections.abc import AsyncIterator

from perdure.ports import Entry, Journal


async def follow(journal: Journal, run: str, after: int = 0, poll: float = 0.2) -> AsyncIterator[Entry]:
    """The entries after a seq, and each further one as it comes; it ends when the caller has seen enough.

    Nothing is held between two pages, so somebody who stops listening holds nothing up.
    """
    while True:
        page = await journal.read(run, after)
        for entry in page:
            after = entry.seq
            yield entry
        if not page:
            await journal.grown(run, after, poll)

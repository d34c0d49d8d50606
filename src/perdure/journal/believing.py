"""Believing: a run is looked at as a whole before somebody hands it on."""

from perdure.ports import Corrupt, Journal, Run


async def believed(journal: Journal, name: str) -> Run:
    """A run by its id, the beginning of its id, or `@last`; `Corrupt` if something of it cannot be believed."""
    found = await journal.run(name)
    verdict = await journal.verify(found.id)
    if verdict.bad_seq is not None:
        raise Corrupt(
            f"entry {verdict.bad_seq} of {found.id} cannot be believed: {verdict.reason}",
            "nothing was exported, because nobody could take it in; restore a copy of the journal",
        )
    return found

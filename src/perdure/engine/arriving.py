"""Runs that come from elsewhere. A plan that is kept is believed later, so what arrives is looked at here."""

import json
from collections.abc import Iterable, Mapping, Sequence

from perdure.journal.parcel import unpack
from perdure.plan.model.document import Plan
from perdure.plan.raw import is_mapping
from perdure.ports import BadExport, Entry, Journal, Run, Turn


async def take_in(journal: Journal, lines: Iterable[bytes]) -> Run:
    """Keep an exported run. `BadExport` also where it names a plan that is none, or that it does not carry."""
    kept = list(lines)
    _check_plans(unpack(kept))
    return await journal.take_in(kept)


def _check_plans(turns: Sequence[Turn]) -> None:
    carried = {each.digest: each.data for turn in turns for each in turn.artifacts}
    named = {_plan_in(entry) for turn in turns for entry in turn.entries}
    for digest in named:
        if digest is not None:
            _check_plan(digest, carried)


def _plan_in(entry: Entry) -> str | None:
    """The digest of the plan that an entry names; a body that cannot be read names none."""
    try:
        body = json.loads(entry.body)
    except (ValueError, RecursionError):
        return None
    found = body.get("plan") if is_mapping(body) else None
    return found if isinstance(found, str) else None


def _check_plan(digest: str, carried: Mapping[str, bytes | None]) -> None:
    try:
        Plan.model_validate_json(carried.get(digest) or b"")
    except ValueError as error:
        raise BadExport(f"the exported run goes by a plan that cannot be read: {error}") from error

"""What comes from elsewhere is looked at before it is kept."""

import hashlib
import json

import pytest
from msgspec.structs import replace

from perdure.engine.arriving import take_in
from perdure.journal import MemoryJournal
from perdure.plan import Plan
from perdure.ports import Artifact, BadExport
from perdure.testing.contracts import a_turn

pytestmark = pytest.mark.anyio
GOOD = Plan.model_validate({"steps": [{"id": "a", "tool": "x.y"}]}).canonical_json()
ODD = GOOD.replace(b'"x.y"', b"[5]")


async def exported(body, *plans):
    journal = MemoryJournal()
    artifacts = [Artifact(hashlib.sha256(plan).hexdigest(), plan) for plan in plans]
    await journal.append(replace(a_turn("r_1", first=1, body=body), artifacts=artifacts))
    return [line async for line in journal.export("r_1")]


def naming(plan):
    return json.dumps({"plan": hashlib.sha256(plan).hexdigest()}).encode()


@pytest.mark.parametrize(("body", "plans"), [(naming(GOOD), [GOOD, ODD]), (b"no JSON", []), (b"[]", []), (b'{"plan":5}', []), (b"[" * 9_999, [])])  # fmt: skip
async def test_a_run_that_names_its_plan_is_taken_in(body, plans):
    journal = MemoryJournal()
    assert (await take_in(journal, await exported(body, *plans))).id == "r_1"


@pytest.mark.parametrize(("body", "plans"), [(naming(ODD), [ODD]), (naming(GOOD), []), (naming(GOOD), [ODD])])
async def test_a_run_without_a_plan_that_can_be_read_is_refused(body, plans):
    journal = MemoryJournal()
    with pytest.raises(BadExport, match="plan that cannot be read"):
        await take_in(journal, await exported(body, *plans))
    assert await journal.runs() == []

"""Values by their digest, over HTTP. E16."""

import pytest
from served import begun, serving

pytestmark = pytest.mark.anyio


async def test_what_facts_name_is_listed_and_given_as_it_is_stored():
    hostile = {"page": "<script>alert(1)</script>" * 1_000, "sha256": "0" * 64}
    async with serving({"pack": hostile}) as client:
        run = await begun(client, {"steps": [{"id": "pack", "tool": "shop.pack"}]})
        found = (await client.get(f"/v1/runs/{run}/artifacts")).json()["artifacts"]
        assert [each["type"] for each in found] == ["run_started", "attempt_ended"]
        answer = await client.get(f"/v1/artifacts/{found[1]['digest']}")
        assert answer.json() == hostile
        assert answer.headers["content-type"] == "application/json"


async def test_no_browser_takes_a_value_for_a_page():
    async with serving({"pack": "x" * 20_000}) as client:
        run = await begun(client, {"steps": [{"id": "pack", "tool": "shop.pack"}]})
        found = (await client.get(f"/v1/runs/{run}/artifacts")).json()["artifacts"]
        headers = (await client.get(f"/v1/artifacts/{found[1]['digest']}")).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"] == "default-src 'none'; sandbox"


@pytest.mark.parametrize("digest", ["x", "0" * 64, "..%2f..", "%00"])
async def test_a_value_that_is_not_there_is_not_found(digest):
    async with serving() as client:
        assert (await client.get(f"/v1/artifacts/{digest}")).status_code == 404

"""Whatever goes wrong is told as a problem, with our codes. E16."""

import pytest
from served import begun, serving

from perdure.errors import PerdureError
from perdure.server.asked import MOST
from perdure.server.here import Here
from perdure.server.problems import problem_document, status_of

pytestmark = pytest.mark.anyio


async def told(client, method, path, status, **said):
    answer = await client.request(method, path, **said)
    found = answer.json()
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert found["status"] == status
    assert found["type"] == f"/docs/{found['code']}"
    assert found["title"]
    return answer, found["code"]


async def test_what_is_not_there_and_what_cannot_be_done_with_it_are_problems():
    async with serving() as client:
        assert (await told(client, "GET", "/v1/nothing", 404))[1] == "PRD6001"
        assert (await told(client, "GET", "/v1/runs/", 404))[1] == "PRD6001"
        answer, code = await told(client, "PUT", "/v1/runs", 405)
        assert (code, answer.headers["allow"]) == ("PRD6002", "GET")


@pytest.mark.parametrize("said", [None, "text/plain", "application/jsonp", "multipart/form-data"])
async def test_a_body_that_is_not_said_to_be_json_is_refused(said):
    async with serving() as client:
        headers = {} if said is None else {"content-type": said}
        assert (await told(client, "POST", "/v1/runs", 415, content=b"{}", headers=headers))[1] == "PRD6003"


async def test_a_body_that_is_too_large_is_refused_before_it_is_read_to_its_end():
    read = 0

    async def endless():
        nonlocal read
        while True:
            read += 2**20
            yield b" " * 2**20

    async with serving() as client:
        headers = {"content-type": "application/json"}
        assert (await told(client, "POST", "/v1/runs", 413, content=endless(), headers=headers))[1] == "PRD6004"
        assert read < 2 * MOST


BAD = [b"{", b"\xff", b'{"inputs": {"x": NaN}}', b"[" * 100_000, b'{"x": 1e999}', b"9" * 5_000, b"null", b"[]", b"{}"]


@pytest.mark.parametrize("body", BAD, ids=lambda body: body[:12])
async def test_a_body_that_makes_no_sense_is_refused(body):
    async with serving() as client:
        headers = {"content-type": "application/json; charset=utf-8"}
        assert (await told(client, "POST", "/v1/runs", 422, content=body, headers=headers))[1] == "PRD6005"
        assert await client.engine.journal.runs() == []


async def test_every_field_that_is_wrong_is_named():
    async with serving() as client:
        answer = await client.post("/v1/runs", json={"text": 3, "seed": "x", "other": 1})
        assert answer.status_code == 422
        assert {each["path"] for each in answer.json()["problems"]} == {"body.text", "body.seed", "body.other"}


async def test_an_error_of_ours_keeps_its_code_and_its_help():
    async with serving() as client:
        answer = await client.get("/v1/runs/r_none")
        assert (answer.status_code, answer.json()["code"]) == (404, "PRD2002")


async def test_a_mistake_of_ours_is_told_without_what_is_inside(monkeypatch, caplog):
    def fails(_):
        raise ZeroDivisionError("the secret number")

    async with serving() as client:
        run = await begun(client)
        monkeypatch.setattr(Here, "journal", property(fails))
        answer, code = await told(client, "GET", f"/v1/runs/{run}", 500)
        assert (code, "secret" in answer.text) == ("PRD6006", False)
    assert "the secret number" in caplog.text


def test_an_error_that_no_table_knows_is_a_conflict():
    error = PerdureError("it cannot be \ud800 done")
    assert status_of(error) == 409
    assert problem_document(error)["detail"] == "it cannot be \\ud800 done"

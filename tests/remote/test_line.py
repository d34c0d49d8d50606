"""The line to a server: whatever answers there, or does not, is told in a sentence."""

import httpx2
import pytest

from perdure.remote import Line, RemoteJournal, tell, who
from perdure.remote import line as room
from perdure.remote.errors import InDoubt, NotFromElsewhere, OtherServer, ServerRefused, Unreachable

URL = "http://127.0.0.1:8642"
PAUSE = {"do": "pause", "run": "r_1", "by": "ann"}


def answering(*answers, **fields):
    """A server that gives the same answer to everything, or fails in the same way."""
    seen = []

    def answer(request):
        seen.append(request)
        if fields.get("fails"):
            raise fields["fails"]
        return httpx2.Response(*answers, **fields)

    line = Line(URL, "prd_key", httpx2.MockTransport(answer))
    line.seen = seen
    return line


def refusing(status, **said):
    return answering(status, headers={"Content-Type": "application/problem+json"}, json=said)


async def test_the_key_goes_with_each_request():
    async with refusing(401, code="PRD6020", detail="nobody knows this key", exit_code=2) as line:
        with pytest.raises(ServerRefused, match="nobody knows this key") as refused:
            await RemoteJournal(line).runs()
        assert (refused.value.code, refused.value.exit_code) == ("PRD6020", 2)
        assert "PERDURE_KEY" in refused.value.help
        with pytest.raises(ServerRefused):
            await tell(line, PAUSE)
        assert [each.headers["authorization"] for each in line.seen] == ["Bearer prd_key"] * 2


@pytest.mark.parametrize(
    "error", [httpx2.ReadError("broken"), httpx2.ReadTimeout(""), httpx2.RemoteProtocolError("odd")]
)
async def test_a_server_that_goes_away_leaves_doubt_only_about_what_was_to_be_done(error):
    async with answering(fails=error) as line:
        with pytest.raises(Unreachable, match="cannot be reached"):
            await RemoteJournal(line).run("r_1")
        with pytest.raises(InDoubt, match="before it had answered"):
            await tell(line, PAUSE)


async def test_a_server_that_is_not_there_has_done_nothing():
    async with answering(fails=httpx2.ConnectError("refused")) as line:
        with pytest.raises(Unreachable):
            await tell(line, PAUSE)


@pytest.mark.parametrize(
    "answers",
    [
        {"text": "Welcome"},
        {"json": []},
        {"json": {"schema": "perdure.runs/1", "items": []}},
        {"json": {"schema": "perdure.journal/2", "items": []}},
        {"json": {"schema": "perdure.journal/1", "items": [{"id": 7}]}},
        {"json": {"schema": "perdure.journal/1"}},
        {"content": b"\xff"},
        {"content": b'{"schema": NaN}'},
    ],
)
async def test_what_is_no_perdure_is_not_believed(answers):
    async with answering(200, **answers) as line:
        with pytest.raises(OtherServer):
            await RemoteJournal(line).runs()
        with pytest.raises(OtherServer):
            await who(line)


@pytest.mark.parametrize("status", [302, 404, 502])
async def test_no_redirect_is_followed_and_no_page_of_a_proxy_is_an_answer(status):
    async with answering(status, headers={"Location": "https://elsewhere.example"}, text="<html>") as line:
        with pytest.raises(OtherServer, match=f"it says {status}"):
            await RemoteJournal(line).runs()
        with pytest.raises(OtherServer):
            await tell(line, PAUSE)
        assert {each.url.host for each in line.seen} == {"127.0.0.1"}


async def test_releases_that_differ_say_so():
    async with refusing(404, code="PRD6001", detail="there is nothing at GET /v1/journal/runs") as line:
        with pytest.raises(OtherServer, match="of another release"):
            await RemoteJournal(line).runs()
    owner = {"journal": "perdure.journal/9", "version": "9.0", "owner": "x", "driven": True, "writer": ""}
    async with answering(200, json=owner) as line:
        with pytest.raises(OtherServer, match=r"Perdure 9\.0 and sends perdure\.journal/9"):
            await who(line)


async def test_an_answer_without_an_end_is_cut_off(monkeypatch):
    monkeypatch.setattr(room, "MOST_BYTES", 1_000)
    async with answering(200, content=b" " * 2_000) as line:
        with pytest.raises(OtherServer, match="more than 1,000 bytes"):
            await RemoteJournal(line).runs()


async def test_an_export_that_breaks_off_is_no_export():
    async with answering(200, content=b'{"perdure_run":1}\n{"turn"') as line:
        with pytest.raises(Unreachable, match="broke off"):
            _ = [each async for each in RemoteJournal(line).export("r_1")]


@pytest.mark.parametrize("request_", [{"do": "note", "text": "x"}, {"do": "resume"}, {"do": "dance"}])
async def test_what_has_no_route_is_done_where_the_journal_is(request_):
    async with answering(200, json={}) as line:
        with pytest.raises(NotFromElsewhere):
            await tell(line, request_)
        assert line.seen == []

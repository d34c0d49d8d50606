"""Servers that do what no server may: each ends as a failure that says so, and the next call finds a server again."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from perdure.core.policy import Layer, Terms
from perdure.tools.mcp import connection, session, wire

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch):
    monkeypatch.setattr(connection, "FIRST_PAUSE", 0.0)


async def test_a_tool_is_called_with_its_key_and_gives_text(place):
    await place.approved("echo", "meta")
    assert (await place.call("echo", text="hello")).output == "hello"
    assert (await place.call("meta")).output[session.KEY] == "key-1"


async def test_pictures_come_as_the_list_they_came_in(place):
    await place.approved("blob")
    assert (await place.call("blob")).output == [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]


async def test_what_a_tool_says_of_its_failure_is_shown_with_nothing_hidden(place):
    await place.approved("fails")
    failure = (await place.call("fails")).failure
    assert (failure.kind, failure.message) == ("logic", "it is \\u001b[31mbroken\\u001b[0m")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (-32602, "invalid"),
        (-32601, "invalid"),
        (-32603, "unknown"),
        (-32042, "denied"),
        (-1, "logic"),
        (-32000, "in_doubt"),
    ],
)
async def test_an_error_has_the_kind_that_its_code_means(place, code, kind):
    await place.approved("error")
    failure = (await place.call("error", code=code, message="not like that")).failure
    assert (failure.kind, "not like that" in failure.message) == (kind, True)


@pytest.mark.parametrize("name", ["dies", "long_line", "endless_line", "much_nonsense", "floods", "asks", "deep"])
async def test_after_a_lost_connection_nobody_knows_unless_it_may_be_done_again(place, monkeypatch, name):
    monkeypatch.setattr(wire, "FLOOD", 2_000)
    await place.approved(name, "echo")
    outcome = await asyncio.wait_for(place.call(name, within=20), 30) if name != "deep" else await timed(place, name)
    if name != "deep":
        assert outcome.failure.kind == "in_doubt", outcome
    assert (await place.call("echo", text="again")).output == "again"


async def timed(place, name):
    """No answer that could be read: the wait ends when whoever waits ends it."""
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(place.call(name), 1)


async def test_a_lost_connection_is_tried_again_where_the_user_says_it_may_be(place):
    from perdure.tools.mcp.servers import Trust

    await place.approved("dies", trust={"dies": Trust("safe", ())})
    failure = (await place.call("dies")).failure
    assert failure.kind == "transient"
    assert "hello from the server" in failure.message


async def test_a_server_that_keeps_dying_is_left_alone_for_a_while(place, monkeypatch):
    monkeypatch.setattr(connection, "FIRST_PAUSE", 5.0)
    await place.approved("dies")
    assert (await place.call("dies")).failure.kind == "in_doubt"
    await asyncio.sleep(0.2)
    failure = (await place.call("dies")).failure
    assert failure.kind == "unavailable"
    assert 0 < failure.retry_after <= 5


@pytest.mark.parametrize("name", ["mute", "wrong_id", "nonsense"])
async def test_a_call_without_an_answer_ends_with_its_time_and_the_server_hears_of_it(place, name, tmp_path):
    told = tmp_path / "told" / "cancelled"
    told.parent.mkdir()
    await place.approved(name, "echo", words=[told], write=(told.parent,), timeout=0.5)
    failure = (await place.call(name)).failure
    assert failure.kind == "timeout"
    assert (await place.call("echo", text="still there")).output == "still there"
    assert "requestId" in json.loads(told.read_text())


async def test_a_result_that_is_too_large_is_refused_and_the_connection_lives(place):
    await place.approved("huge", "echo")
    assert len((await place.call("huge", bytes=1_000_000)).output) == 1_000_000
    assert (await place.call("huge", bytes=5_000_000)).failure.message == "the result is larger than 4,194,304 bytes"
    assert (await place.call("echo", text="x")).output == "x"


async def test_progress_is_handed_on_with_nothing_hidden(place):
    await place.approved("counts")
    assert (await place.call("counts")).output == "counted"
    assert place.heard[-1] == (1.0, "\\u001b[4")
    assert place.heard[0][0] == 0.25


async def test_calls_at_the_same_time_share_one_server(place):
    await place.approved("slow", "echo")
    outcomes = await asyncio.gather(*(place.call("slow", seconds=0.3) for _ in range(20)), place.call("echo", text="x"))
    assert [each.failure for each in outcomes] == [None] * 21


async def test_cancelling_a_call_ends_the_wait_and_not_the_server(place):
    await place.approved("mute", "echo")
    waiting = asyncio.create_task(place.call("mute"))
    await asyncio.sleep(0.3)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await place.call("echo", text="x")).output == "x"


async def test_cancelling_the_first_call_while_the_server_starts_leaves_nothing_behind(place):
    await place.approved("echo")
    await place.toolset.close()
    for after in (0.0, 0.01, 0.05, 0.1, 0.2):
        waiting = asyncio.create_task(place.call("echo", text="x"))
        await asyncio.sleep(after)
        waiting.cancel()
        await asyncio.wait([waiting])
        await place.toolset.close()
    assert (await place.call("echo", text="x")).output == "x"


async def test_s10_a_server_sees_nothing_of_ours(place, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-1")
    secret = tmp_path / "secret"
    secret.write_text("canary-2")
    own = tmp_path / "own"
    own.mkdir()
    await place.approved(
        "env", "read", "write", env={"TOKEN": "${secrets.TOKEN}"}, secrets={"TOKEN": "t-1"}, write=(own,)
    )
    env = json.loads((await place.call("env")).output)
    assert env["TOKEN"] == "t-1"  # noqa: S105  no password of anybody
    assert "canary" not in json.dumps(env)
    for path in (secret, place.pins.path, "/etc/shadow", "/proc/1/environ"):
        said = (await place.call("read", path=str(path))).output
        assert said.startswith("refused") or said == "" or "PATH" in said, (path, said)
        assert "canary" not in said
    assert (await place.call("write", path=str(place.pins.path))).output.startswith("refused")
    assert (await place.call("write", path=str(own / "a"))).output == "4"
    assert (own / "a").read_text() == "mine"


async def test_s10_whatever_a_server_leaves_behind_is_gone_with_it(place, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    await place.approved("linger", write=(own,))
    assert (await place.call("linger", path=str(own / "late"))).output == "left"
    await asyncio.sleep(0.5)
    await place.toolset.close()
    size = (own / "late").stat().st_size
    await asyncio.sleep(0.3)
    assert (own / "late").stat().st_size == size > 0


async def test_s5_a_server_reaches_the_hosts_that_are_named_and_no_others(place, web):
    await place.approved("fetch", network=(f"127.0.0.1:{web}",))
    assert (await place.call("fetch", url=f"http://127.0.0.1:{web}/")).output == "found"
    for url in ("http://127.0.0.1:1/", f"http://localhost:{web}/", f"http://2130706433:{web}/"):
        assert "refused" in (await place.call("fetch", url=url)).output


async def test_s5_a_server_without_hosts_has_no_network(place, web):
    await place.approved("fetch")
    assert "refused" in (await place.call("fetch", url=f"http://127.0.0.1:{web}/")).output


SEEN = {"bwrap": "refused: No such file or directory", "landlock": "refused: Permission denied", "none": "hush"}


@pytest.mark.parametrize("tier", ["bwrap", "landlock", "none"])
async def test_a_server_is_kept_in_the_tier_of_the_user_s_settings_and_each_call_says_so(place, tier, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hush")
    await place.approved("echo", "read", "write", "env", "fails", tier=tier)
    assert (await place.call("read", path=str(secret))).output == SEEN[tier]
    env = json.loads((await place.call("env")).output)
    assert "PYTEST_CURRENT_TEST" not in env
    assert (await place.call("write", path=f"{env['TMPDIR']}/x")).output == "4", "it has a place for scraps"
    outcomes = [await place.call("echo", text="x"), await place.call("fails")]
    assert [each.sandboxed for each in outcomes] == ["" if tier == "bwrap" else tier] * 2
    await place.toolset.close()
    assert tier == "bwrap" or not Path(env["TMPDIR"]).exists()  # noqa: ASYNC240  a quick look


async def test_in_a_lower_tier_hosts_are_not_reached_or_not_held_to(place, web):
    await place.approved("fetch", network=("example.com:443",), tier="none")
    assert (await place.call("fetch", url=f"http://127.0.0.1:{web}/")).output == "found", "nothing fences it in"
    await place.toolset.close()
    place.open(network=("example.com:443",), tier="landlock")
    failure = (await place.call("fetch", url=f"http://127.0.0.1:{web}/")).failure
    assert failure.kind == "unavailable"
    assert "the tier `landlock` has no way out" in failure.message


async def test_what_was_never_approved_is_not_started_and_says_nothing_of_a_tier(place):
    place.offers({"name": "echo"})
    await place.open(tier="none").look("shop")
    outcome = await place.call("echo", text="x")
    assert (outcome.failure.kind, outcome.sandboxed) == ("denied", "")


@pytest.fixture
def web():
    """A server of web pages on this machine; its port."""

    class Found(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"found")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Found) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


async def test_a_server_that_is_not_there_is_unavailable(place):
    await place.approved("echo")
    await place.toolset.close()
    place.listing.unlink()
    failure = (await place.call("echo", text="x")).failure
    assert failure.kind == "unavailable"
    assert failure.message.startswith("PRD5404")


async def test_the_plan_s_rules_hold_for_what_a_server_may_do(place):
    await place.approved("echo", network=("api.example.com:443",))
    refused = Layer("plan", network=Terms(allow=("other.example.com",)))
    failure = (await place.call("echo", layers=(refused,), text="x")).failure
    assert (failure.kind, "api.example.com" in failure.message) == ("denied", True)
    assert (
        await place.call("echo", layers=(Layer("plan", effects=Terms(deny=("irreversible",))),))
    ).failure.kind == "denied"

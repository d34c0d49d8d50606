"""`perdure serve`: the program as a user starts it. E8, E16."""

import json
import signal
import socket
import sqlite3

import pytest
from runs import ASK, WAIT, until
from serve_scene import SAY, ended, serving


def test_e16_a_run_is_begun_over_http_and_seen_on_the_command_line(place):
    with serving(place) as server:
        assert server.client.get("/v1/runs").status_code == 401
        server.as_("run")
        run = server.post("/v1/runs", **SAY).json()["id"]
        assert ended(server, run)["output"] == 7
        assert place.shown(run)["output"] == 7
        server.ends()
        assert "stopping at a safe point" in server.going.err
    assert place.is_replayed() == "succeeded"


def test_e16_the_command_line_goes_on_working_beside_it(place):
    with serving(place, "--tools", "deeds") as server:
        server.as_("approve")
        with place.going("run", place.plan(ASK), "--wait") as going:
            run = until(lambda: server.client.get("/v1/runs?status=waiting").json()["runs"], "a question")[0]["id"]
            assert server.post("/v1/runs", **SAY).status_code == 403
            place.do("approve", run)
            going.ends(0)
        assert ended(server, run)["output"] == "published"
        assert "PRD2101" in place.do("serve", "--port", "0", code=75).stderr
        server.ends()


def test_e8_what_was_under_way_goes_on_when_it_serves_again(place):
    with serving(place, "--tools", "deeds") as server:
        server.as_("run")
        run = server.post("/v1/runs", text=WAIT).json()["id"]
        until(place.deeds, "the first step")
        server.going.process.kill()
        server.going.process.wait()
    place.let("one")
    with serving(place, "--tools", "deeds") as server:
        assert "going on with 1 run" in server.going.err
        server.as_("read")
        assert ended(server, run)["output"] == "two"
        server.ends(by=signal.SIGINT)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_e8_it_stops_at_a_safe_point_and_a_second_time_at_once(place, stop):
    with serving(place, "--tools", "deeds", "--patience", "600") as server:
        server.as_("run")
        server.post("/v1/runs", text=WAIT)
        until(place.deeds, "the first step")
        server.going.process.send_signal(stop)
        until(lambda: "stopping" in server.going.err, "words")
        server.ends(130, by=stop)
    assert place.deeds() == ["begun one"], "nothing began after the first one"


def test_e8_a_start_with_a_key_is_done_once_also_over_a_restart(place):
    headers = {"Idempotency-Key": "order 12".replace(" ", "-")}
    with serving(place) as server:
        server.as_("run")
        first = server.post("/v1/runs", headers=headers, **SAY)
        again = server.post("/v1/runs", headers=headers, **SAY)
        assert (first.status_code, first.content) == (again.status_code, again.content) == (202, again.content)
        kept = dict(server.client.headers)
        server.going.process.kill()
        server.going.process.wait()
    with serving(place) as server:
        server.client.headers["Authorization"] = kept["authorization"]
        again = server.post("/v1/runs", headers=headers, **SAY)
        assert (again.status_code, again.json()) == (202, first.json())
        assert again.headers["location"] == first.headers["location"]
        other = server.post("/v1/runs", headers=headers, **SAY, inputs={})
        assert (other.status_code, other.json()["code"]) == (422, "PRD6028")
        assert len(server.client.get("/v1/runs").json()["runs"]) == 1


def test_e16_a_browser_gets_in_by_a_link_that_works_once(place):
    with serving(place) as server:
        links = [server.told["link"], place.do("open", "--by", "ann", "--scope", "read").stdout.strip()]
        page = {"Origin": server.told["url"]}
        for link, may_start in zip(links, (True, False), strict=True):
            address, _, code = link.partition("#")
            assert address == f"{server.told['url']}/open"
            assert server.client.get(address).status_code == 200
            assert server.post("/open", headers=page, once=code).status_code == 204
            assert server.client.get("/v1/runs").status_code == 200
            assert (server.post("/v1/runs", headers=page, **SAY).status_code == 202) is may_start
            assert server.post("/v1/runs", headers={"Origin": "http://evil.example"}, **SAY).status_code == 403
            server.client.cookies.clear()
            assert server.post("/open", headers=page, once=code).status_code == 410
        assert links[0] not in server.going.err


def test_what_cannot_be_served_is_said(place):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert "PRD6030" in place.do("serve", "--port", port, code=75).stderr
    assert "PRD6031" in place.do("serve", "--host", "0.0.0.0", "--port", "0", code=2).stderr  # noqa: S104  it is refused
    (place.path / "cert.pem").write_text("no certificate")
    pem = ("--tls-cert", "cert.pem", "--tls-key", "cert.pem")
    assert "PRD6030" in place.do("serve", "--port", "0", *pem, code=75).stderr
    assert "go together" in place.do("serve", "--tls-cert", "cert.pem", code=2).stderr
    assert "without a path" in place.do("serve", "--url", "https://perdure.example/x", code=2).stderr
    assert "PRD6035" in place.do("open", code=3).stderr


def test_keys_are_listed_without_what_they_are(place):
    secret = place.do("keys", "new", "ann", "--scope", "run", "--scope", "approve", "--expires", "30d").stdout.strip()
    listed = json.loads(place.do("keys", "ls", "--json").stdout)["keys"]
    assert [(each["name"], each["scopes"]) for each in listed] == [("ann", ["run", "approve"])]
    file = place.db.with_name("runs.db.keys")
    assert file.stat().st_mode & 0o777 == 0o600
    assert secret not in file.read_text() + place.do("keys", "ls").stdout
    assert "PRD6034" in place.do("keys", "new", "ann", code=2).stderr
    assert "ann opens nothing" in place.do("keys", "revoke", "ann").stderr
    assert "PRD6034" in place.do("keys", "revoke", "ann", code=2).stderr


def test_a_secret_is_nowhere_on_the_disk(place):
    with serving(place) as server:
        server.as_("run")
        server.post("/v1/runs", **SAY)
        secret = server.client.headers["Authorization"].removeprefix("Bearer ").encode()
        code = server.told["link"].partition("#")[2].encode()
        server.ends()
    out = next(iter(sorted(place.path.glob("out*"))))
    for path in place.path.rglob("*"):
        if path.is_file() and path != out:
            assert secret not in path.read_bytes()
            assert code not in path.read_bytes()
    with sqlite3.connect(place.db) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()

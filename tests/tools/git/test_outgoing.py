"""Pushing over the network: git's own server on the loopback, with a login, with bad manners, and with canaries."""

import asyncio
import base64
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from gates import allowing
from git_shop import Shop, git
from git_web import PASSWORD, USER, Handler, Web
from servers import Server, authority, saying

from perdure import Engine, Plan
from perdure.tools.net import addresses, gate

CODED = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
LOGIN = {"user": USER, "password": PASSWORD}
SUPPORT = Path(__file__).parents[2] / "support"


class Place:
    """A shop, a bare repository at a server, and calls of `git.push` between them."""

    def __init__(self, root, web, tier):
        self.root, self.web = root, web
        self.shop = Shop(root, tier)
        git(root, "clone", "-q", "--bare", str(self.shop.root), "origin.git")
        self.origin = root / "origin.git"
        self.shop.write("one.txt", "1")
        self.commit = self.shop.do("git.commit", message="One", branch="work")["commit"]
        self.layers = allowing(f"127.0.0.1:{web.server_port}")

    @property
    def url(self):
        return self.web.url("origin.git")

    def at(self, name):
        return git(self.origin, "rev-parse", "--verify", "-q", name, check=False)

    def words(self, **more):
        return {"branch": "work", "remote": self.url, **LOGIN, **more}

    def push(self, key="k", by="call", approved=frozenset(), **more):
        """One try, for which nobody has agreed to anything yet."""
        layers = more.pop("layers", self.layers)
        made = self.shop.attempt(
            "git.push", key, arguments=self.words(**more), layers=layers, by=by, approved=frozenset(approved)
        )
        return asyncio.run(self.shop.performer.perform(made))

    def agreed(self, key="k", **more):
        """With a person who agrees to everything."""
        approved = set()
        while (outcome := self.push(key, approved=approved, **more)).approval is not None:
            assert outcome.approval.digest not in approved
            approved.add(outcome.approval.digest)
        return outcome

    def done(self, **more):
        outcome = self.agreed(**more)
        assert outcome.failure is None, outcome.failure
        return outcome.output

    def undo(self, output, key="k", approved=frozenset(), **more):
        """As the engine does it: without any rules."""
        return self.shop.undo("git.push", output, key=key, approved=approved, **self.words(**more))


@pytest.fixture
def places(tmp_path):
    with contextlib.ExitStack() as closing:

        def make(tier="none", **settings):
            web = Web(tmp_path, **settings)
            closing.callback(web.close)
            return Place(tmp_path, web, tier)

        yield make


@pytest.fixture
def place(places):
    return places()


@pytest.fixture
def canary():
    with contextlib.closing(Server(saying(b"leak"))) as listening:
        yield listening


def assert_discreet(*texts):
    for text in texts:
        assert PASSWORD not in str(text)
        assert CODED not in str(text)


# ------------------------------------------------------------------ pushing


@pytest.mark.parametrize("tier", ["none", "bwrap"])
def test_a_branch_is_pushed_after_a_person_agreed(places, tier):
    place = places(tier)
    theirs = place.shop.theirs()
    asked = place.push()
    for part in (place.url, "refs/heads/work", place.commit, "+1"):
        assert part in asked.approval.text
    assert place.at("work") == ""
    done = place.push(approved={asked.approval.digest})
    assert done.output == {"remote": place.url, "ref": "refs/heads/work", "before": None, "after": place.commit}
    assert place.at("work") == place.commit
    assert place.shop.theirs() == theirs
    assert {headers.get("Authorization") for _, _, headers in place.web.seen} == {f"Basic {CODED}"}
    assert_discreet(asked, done)


@pytest.mark.parametrize("tier", ["none", "bwrap"])
def test_s6_the_password_is_on_no_command_line_and_in_no_file(places, tier):
    place = places(tier)
    seen = []
    place.web.after = lambda _: seen.extend(
        each.read_bytes() for each in Path("/proc").glob("[0-9]*/cmdline") if each.exists()
    )
    place.done()
    assert any(b"\0push\0" in each for each in seen)
    assert_discreet(*seen)
    kept = [each.read_bytes() for each in place.shop.state.rglob("*") if each.is_file()]
    assert kept
    assert_discreet(*kept)


def test_more_than_git_sends_at_once_by_itself_goes_through(place):
    place.shop.write("big.bin", os.urandom(3_000_000))
    place.commit = place.shop.do("git.commit", message="Big", branch="big")["commit"]
    assert place.done(branch="big")["after"] == place.at("big") == place.commit


def test_a_named_remote_without_a_password(places):
    place = places(login=False)
    git(place.origin, "config", "http.receivepack", "true")
    place.shop.git("remote", "add", "origin", place.url)
    assert place.done(remote="origin", user="", password="")["remote"] == "origin"
    assert place.at("work") == place.commit


def test_tls_is_spoken_with_the_host_that_was_named(places, tmp_path, monkeypatch):
    ca, tls = authority(tmp_path, "localhost")
    place = places("bwrap", tls=tls)
    rules = allowing(f"localhost:{place.web.server_port}", f"127.0.0.1:{place.web.server_port}")
    url = place.web.url("origin.git", "localhost")
    refused = place.agreed(remote=url, layers=rules).failure
    assert (refused.kind, "not who it should be" in refused.message) == ("denied", True), refused
    assert place.web.seen == []
    monkeypatch.setenv("SSL_CERT_FILE", str(ca))
    assert place.agreed(remote=place.url, layers=rules).failure.kind == "denied", "it is not good for the address"
    assert place.done(remote=url, layers=rules)["after"] == place.at("work") == place.commit


# ------------------------------------------------------------------ who asks


@pytest.mark.parametrize("login", [{"password": "wrong-password"}, {"user": "eve"}, {"user": "", "password": ""}])
def test_a_login_that_is_not_taken_is_told(place, login):
    outcome = place.agreed(**login)
    assert (outcome.failure.kind, outcome.failure.detail["code"]) == ("denied", "PRD5208")
    assert ("secrets.NAME" in outcome.failure.message) == (not login.get("password", "x"))
    assert "wrong-password" not in str(outcome)
    assert_discreet(outcome)


@pytest.mark.parametrize("part", ["git-upload-pack", "git-receive-pack"])
def test_s6_a_server_that_says_the_password_aloud_is_not_repeated(place, part):
    def echo(handler):
        told = f"{handler.headers.get('Authorization')} {PASSWORD}".encode()
        handler.answer(403, told, Content_Type="text/plain")

    place.web.instead[part] = echo
    outcome = place.agreed()
    assert outcome.failure.kind == "denied"
    assert "«password»" in outcome.failure.message, "the server was not even heard"
    assert_discreet(outcome)


def test_a_password_goes_where_the_plan_says_and_not_where_the_repository_says(place):
    place.shop.git("remote", "add", "origin", place.url)
    failure = place.agreed(remote="origin").failure
    assert (failure.kind, failure.detail["code"]) == ("denied", "PRD5208")
    assert f"remote: {place.url}" in failure.message
    assert place.web.seen == []


def test_a_password_goes_over_no_open_line(place):
    failure = place.agreed(remote="http://example.com/shop.git", layers=allowing("example.com:80")).failure
    assert (failure.kind, "https" in failure.message) == ("denied", True)


@pytest.mark.parametrize("login", [{"user": "a:b"}, {"password": "a\r\nX-Evil: 1"}, {"user": "a\0"}, {"password": ""}])
def test_a_login_that_could_be_read_as_something_else_is_refused(place, login):
    failure = place.agreed(**login).failure
    assert (failure.kind, failure.detail["code"], place.web.seen) == ("invalid", "PRD5208", [])


# ------------------------------------------------------------------ where to


def test_a_host_that_is_not_allowed_hears_nothing(place):
    for layers in ((), allowing("example.com"), allowing("*:*")):
        assert place.agreed(layers=layers).failure.kind == "denied"
    assert place.web.seen == []


def test_a_host_that_is_asked_about_hears_nothing_before_the_answer(place):
    layers = allowing(f"127.0.0.1:{place.web.server_port}", ask=(f"127.0.0.1:{place.web.server_port}",))
    asked = place.push(layers=layers)
    assert f"connect 127.0.0.1:{place.web.server_port} needs approval" in asked.approval.text
    assert place.web.seen == []
    assert place.done(layers=layers)["after"] == place.commit


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(place, canary, status):
    place.web.instead["info/refs"] = lambda handler: handler.answer(
        status, Location=f"http://127.0.0.1:{canary.port}/origin.git/info/refs?service=git-upload-pack"
    )
    failure = place.agreed().failure
    assert (failure.kind, "leads elsewhere" in failure.message) == ("unmet", True), failure
    assert canary.connections == 0


@pytest.mark.parametrize("tier", ["none", "bwrap"])
def test_s5_a_name_that_turns_to_this_machine_after_it_was_looked_at(tmp_path, monkeypatch, tier):
    """Only the proxy knows where the name leads; the machine does not."""
    web = Web(tmp_path, login=False, address="127.0.0.2")
    place = Place(tmp_path, web, tier)
    git(place.origin, "config", "http.receivepack", "true")
    canary = Server(saying(b"leak"))
    canary.listener.close()
    canary.listener = socket.create_server(("127.0.0.1", web.server_port))
    threading.Thread(target=canary._serve, daemon=True).start()
    answers = ["127.0.0.2"]
    monkeypatch.setattr(gate, "is_public", lambda address: address == "127.0.0.2")
    monkeypatch.setattr(
        addresses.socket,
        "getaddrinfo",
        lambda _, port, *__, **___: [(2, 1, 6, "", (answers.pop() if answers else "127.0.0.1", port))],
    )
    words = {"remote": web.url("origin.git", "git.example"), "user": "", "password": ""}
    rules = allowing(f"git.example:{web.server_port}")
    asked = place.push(layers=rules, **words)
    assert asked.approval is not None, asked.failure
    assert place.push(layers=rules, approved={asked.approval.digest}, **words).failure.kind == "denied"
    answers.append("127.0.0.2")
    done = place.push(layers=rules, approved={asked.approval.digest}, **words)
    assert (done.failure, place.at("work")) == (None, place.commit)
    assert answers == [], "looked up once for a whole push"
    assert canary.connections == 0
    canary.close()
    web.close()


HOSTILE = {
    "http.proxy": "http://127.0.0.1:{port}",
    "remote.origin.proxy": "http://127.0.0.1:{port}",
    "http.extraHeader": "X-Evil: 1",
    "http.sslVerify": "false",
    "url.http://127.0.0.1:{port}/.insteadOf": "http://127.0.0.1:",
    "url.http://127.0.0.1:{port}/x.pushInsteadOf": "http://",
    "credential.helper": "!touch {trace}; cat",
    "core.sshCommand": "touch {trace}",
    "core.askPass": "touch {trace}",
    "remote.origin.receivepack": "touch {trace}",
    "remote.origin.vcs": "ext",
}


@pytest.mark.parametrize("tier", ["none", "bwrap"])
def test_settings_of_the_repository_change_nothing_even_if_a_person_agreed_to_them(places, canary, tmp_path, tier):
    place = places(tier)
    for key, value in HOSTILE.items():
        filled = [each.format(port=canary.port, trace=tmp_path / "trace") for each in (key, value)]
        place.shop.git("config", "--add", *filled)
    hook = place.shop.root / ".git/hooks/pre-push"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/trace\n")
    hook.chmod(0o755)
    assert place.done()["after"] == place.at("work") == place.commit
    assert (canary.connections, (tmp_path / "trace").exists()) == (0, False)
    assert all("X-Evil" not in headers for _, _, headers in place.web.seen)


def test_proxies_and_settings_of_the_user_are_not_heard(place, canary, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f"[http]\n\tproxy = http://127.0.0.1:{canary.port}\n")
    (home / ".netrc").write_text("machine 127.0.0.1 login eve password sesame\n")
    monkeypatch.setenv("HOME", str(home))
    for name in ("http_proxy", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{canary.port}")
    assert place.done()["after"] == place.commit
    assert canary.connections == 0
    assert {headers.get("Authorization") for _, _, headers in place.web.seen} == {f"Basic {CODED}"}


def test_without_a_way_out_nothing_is_pushed(places):
    failure = places("landlock").agreed().failure
    assert (failure.kind, "bwrap" in failure.message) == ("unavailable", True)


# ------------------------------------------------------------------ refused, broken off, in doubt


def test_commits_of_others_are_replaced_only_on_demand_and_if_the_other_side_lets_us(place):
    theirs = git(place.origin, "commit-tree", "-p", "main", "-m", "theirs", "main^{tree}")
    git(place.origin, "update-ref", "refs/heads/work", theirs)
    failure = place.agreed().failure
    assert (failure.kind, failure.detail["code"], place.at("work")) == ("unmet", "PRD5207", theirs)
    git(place.origin, "config", "receive.denyNonFastForwards", "true")
    failure = place.agreed(key="k2", rewrite=True).failure
    assert (failure.kind, "non-fast-forward" in failure.message) == ("unmet", True), failure
    git(place.origin, "config", "receive.denyNonFastForwards", "false")
    assert place.done(key="k3", rewrite=True)["before"] == theirs
    assert place.at("work") == place.commit


def test_a_repository_that_is_not_there_is_told(place):
    failure = place.agreed(remote=place.web.url("nothing.git")).failure
    assert (failure.kind, failure.detail["code"]) == ("unmet", "PRD5207")
    assert "is no repository" in failure.message


def test_a_server_that_is_not_there_is_told(place):
    place.web.close()
    assert place.agreed().failure.kind == "unavailable"


def test_a_push_that_was_heard_is_done_although_no_answer_came(place):
    place.web.after = Handler.hang_up
    assert place.done()["after"] == place.at("work") == place.commit


def test_a_push_that_was_not_heard_is_no_push_and_can_be_tried_again(place):
    place.web.instead["git-receive-pack"] = Handler.hang_up
    assert place.agreed().failure.kind == "unavailable"
    assert place.at("work") == ""
    place.web.instead.clear()
    assert place.done()["after"] == place.at("work") == place.commit


def test_in_doubt_if_nobody_can_be_asked_and_found_out_later(place):
    def vanish(handler):
        place.web.instead[""] = Handler.hang_up
        handler.hang_up()

    place.web.after = vanish
    outcome = place.agreed()
    assert outcome.failure.kind == "in_doubt"
    assert place.push(by="probe").failure.kind == "unavailable"
    place.web.instead.clear()
    assert place.push(by="probe").output["happened"] is True
    git(place.origin, "update-ref", "-d", "refs/heads/work")
    assert place.push(by="probe").output == {"happened": False}
    git(place.origin, "update-ref", "refs/heads/work", "main")
    assert place.push(by="probe").output == {"happened": None}


KILLED = """
import asyncio, json, sys
from pathlib import Path
from gates import allowing
from git_shop import Shop
from perdure.core.calls import Call
from perdure.ports import Attempt
words = json.loads(sys.argv[1])
performer = Shop.performer_for(Path(words["root"]) / "shop", Path(words["root"]) / "state", words["tier"])
call = Call("tool", "git.push", words["with"])
attempt = Attempt("r_1", "step", 1, 1, "k", call, layers=allowing(*words["hosts"]), approved=frozenset(words["approved"]))
asyncio.run(performer.perform(attempt))
"""


@pytest.mark.parametrize("tier", ["none", "bwrap"])
@pytest.mark.parametrize("heard", [True, False])
def test_killed_in_the_middle_of_a_push(places, tier, heard):
    """A kill between what the other side has done and what we have heard of it."""
    place = places(tier)
    begun, over = threading.Event(), threading.Event()

    def stay(handler):
        begun.set()
        over.wait(60)
        handler.hang_up()

    if heard:
        place.web.after = stay
    else:
        place.web.instead["/git-receive-pack"] = stay
    approved = [place.push().approval.digest]
    killed(place, tier, approved, begun)
    assert place.at("work") == (place.commit if heard else "")
    over.set()
    place.web.after, place.web.instead = lambda _: None, {}
    found = place.push(by="probe").output
    assert found["happened"] is heard
    pushes = sum(method == "POST" and path.endswith("receive-pack") for method, path, _ in place.web.seen)
    done = place.push(approved=approved)
    assert (done.failure, place.at("work")) == (None, place.commit)
    again = sum(method == "POST" and path.endswith("receive-pack") for method, path, _ in place.web.seen) - pushes
    assert again == (0 if heard else 1)


def killed(place, tier, approved, begun):
    said = {
        "root": str(place.root), "tier": tier, "with": place.words(), "approved": approved,
        "hosts": [f"127.0.0.1:{place.web.server_port}"],
    }  # fmt: skip
    env = {**os.environ, "PYTHONPATH": str(SUPPORT)}
    victim = subprocess.Popen([sys.executable, "-c", KILLED, json.dumps(said)], env=env)
    assert begun.wait(60)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    time.sleep(0.5)  # what it had started is ended too


# ------------------------------------------------------------------ taking back


@pytest.mark.parametrize("to", ["work", "older"])
def test_it_is_taken_back_by_lease_after_a_person_agreed_again(place, to):
    before = place.at(to)
    pushed = place.done(to=to)
    asked = place.undo(pushed)
    assert "this takes a push back" in asked.approval.text
    assert place.at(to) == place.commit
    for _ in range(2):
        assert place.undo(pushed, approved=frozenset({asked.approval.digest})).failure is None
        assert place.at(to) == before


def test_a_branch_that_somebody_else_has_moved_is_left_alone_and_told(place):
    pushed = place.done()
    theirs = git(place.origin, "commit-tree", "-p", place.commit, "-m", "theirs", "main^{tree}")
    git(place.origin, "update-ref", "refs/heads/work", theirs)
    outcome = place.undo(pushed)
    assert (outcome.approval, outcome.failure.kind, outcome.failure.detail["code"]) == (None, "unmet", "PRD5204")
    assert place.at("work") == theirs


def test_a_branch_that_moves_while_it_is_taken_back_is_left_alone(place):
    pushed = place.done()
    asked = place.undo(pushed)
    theirs = git(place.origin, "commit-tree", "-p", place.commit, "-m", "theirs", "main^{tree}")
    served = Handler.from_git

    def move_first(handler):
        git(place.origin, "update-ref", "refs/heads/work", theirs)
        place.web.instead.clear()
        served(handler, b"")

    place.web.instead["service=git-receive-pack"] = move_first
    failure = place.undo(pushed, approved=frozenset({asked.approval.digest})).failure
    assert (failure.kind, failure.detail["code"], place.at("work")) == ("unmet", "PRD5204", theirs)


def test_what_was_replaced_and_is_not_here_cannot_be_put_back_and_is_told(place):
    theirs = git(place.origin, "commit-tree", "-p", "main", "-m", "theirs", "main^{tree}")
    git(place.origin, "update-ref", "refs/heads/work", theirs)
    pushed = place.done(rewrite=True)
    failure = place.undo(pushed).failure
    assert (failure.kind, "not in this repository" in failure.message) == ("unmet", True)


def test_taking_back_reaches_no_other_address_than_the_push_did(place, monkeypatch):
    pushed = place.done()
    assert place.undo(pushed).approval is not None
    assert place.undo(pushed, key="another").failure.kind == "denied", "no rule names this machine, and nobody knows it"


# ------------------------------------------------------------------ in a run


@pytest.mark.anyio
async def test_a_run_pushes_with_a_secret_that_is_written_down_nowhere(place, tmp_path):
    words = {**place.words(), "password": "${secrets.TOKEN}"}
    plan = Plan.model_validate({"steps": [{"id": "push", "tool": "git.push", "with": words}]})
    settings = {"workspace": place.shop.root, "policy": place.layers, "secrets": {"TOKEN": PASSWORD}}
    async with Engine.open(tmp_path / "runs" / "runs.db", **settings) as engine:
        run = await engine.start(plan)
        waiting = await run.rested()
        [question] = waiting.questions
        await run.answer(question, True, "ann")
        result = await run.result()
        assert (result.status, result.steps["push"].output["after"]) == ("succeeded", place.commit), result.failure
        await engine.rollback(run.id)
        waiting = await run.rested()
        [question] = waiting.questions
        assert place.at("work") == place.commit, "nobody has agreed to take it back yet"
        await run.answer(question, True, "ann")
        rolled = await run.result()
    assert (rolled.status, rolled.failure, place.at("work")) == ("rolled_back", None, "")
    files = [each for each in (tmp_path / "runs").rglob("*") if each.is_file()]
    assert files
    assert_discreet(result, rolled, *(each.read_bytes() for each in files))

"""The sandbox is tried before it is relied on, and what is missing is told."""

import os

import pytest

from perdure.errors import page
from perdure.tools.hands import Hands
from perdure.tools.sandbox import SandboxUnavailable, available, fixes, probe, probes, root, stage
from perdure.tools.sandbox.inside import PROBES


@pytest.fixture(autouse=True)
def forgetful(monkeypatch):
    monkeypatch.setattr(probes, "_kept", {})


@pytest.mark.parametrize("tier", ["bwrap", "landlock", "none"])
async def test_it_holds_here(hands, tier):
    """A machine that builds this without a sandbox has a failing test, not a skipped one."""
    report = await probe(Hands(hands.workspace, hands.state, tier), afresh=True)
    assert (report.ok, report.problem) == (True, "")
    assert [each for each in report.findings if each.wrong] == []
    assert len(report.findings) == (0 if tier == "none" else len(PROBES) + 2)


async def test_it_is_tried_once_after_each_start_of_the_machine(hands, monkeypatch):
    first = await available(hands)
    monkeypatch.setattr(probes, "_kept", {})

    async def never(_):
        pytest.fail("it was tried again")

    monkeypatch.setattr(probes, "_probe", never)
    assert await available(hands) == first
    (hands.state / "sandbox.json").write_text('{"about": "another start", "report": {}}')
    monkeypatch.setattr(probes, "_kept", {})
    with pytest.raises(pytest.fail.Exception):
        await available(hands)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"about": 1}', "\x00"])
async def test_what_was_kept_may_be_damaged(hands, text):
    (hands.state / "sandbox.json").write_text(text)
    assert (await available(hands)).ok


async def test_without_bubblewrap_nothing_is_run(hands, monkeypatch, tmp_path):
    for room in (fixes, root, probes):
        monkeypatch.setattr(room, "BWRAP", str(tmp_path / "bwrap"))
    with pytest.raises(SandboxUnavailable) as refused:
        await available(hands)
    assert refused.value.code == "PRD5101"
    assert page(refused.value.code)
    assert "apt install bubblewrap" in refused.value.help


@pytest.mark.parametrize(
    ("script", "problem", "fix"),
    [
        ("echo 'bwrap: Unknown option --disable-userns' >&2; exit 1", "Unknown option", "0.8 or later"),
        ("echo 'bwrap: Creating new namespace failed: Operation not permitted' >&2; exit 1", "namespace", "namespaces"),
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "namespace", "a chroot"),
        (
            'echo "bwrap: Can\'t mount proc on /newroot/proc: Operation not permitted" >&2; exit 1',
            "proc",
            "/proc may not be mounted",
        ),
        ("exit 1", "could not be set up", "lower the tier"),
    ],
)
async def test_a_bubblewrap_that_fails_is_told_with_what_helps(hands, monkeypatch, script, problem, fix):
    stand_in = hands.state / "bwrap"
    stand_in.write_text(f"#!/bin/sh\n{script}\n")
    stand_in.chmod(0o755)
    for room in (fixes, root, probes):
        monkeypatch.setattr(room, "BWRAP", str(stand_in))
    report = await probe(hands)
    assert not report.ok
    assert problem in report.problem
    assert fix in report.fix


@pytest.mark.parametrize(
    ("weaker", "noticed"),
    [
        (lambda words: [*words, "--share-net"], "has no network"),
        pytest.param(
            lambda words: [*words, "--bind", "/etc", "/etc"],
            "reads no passwords",
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root could read them outside"),
        ),
        (lambda words: [*words, "--bind", "/tmp", "/tmp"], "reads no file outside"),  # noqa: S108  the place that must not be seen
        (lambda words: _without(words, "--seccomp", 2), "has no Unix sockets"),
        (lambda words: _without(_without(words, "--seccomp", 2), "--disable-userns", 1), "makes no namespaces"),
    ],
)
async def test_a_sandbox_that_leaks_is_refused(hands, monkeypatch, weaker, noticed):
    """The probes notice when a guard is missing."""
    real = root.options

    def weak(command, **more):
        words = real(command, **more).decode().split("\0")[:-1]
        return "".join(f"{word}\0" for word in weaker(words)).encode()

    monkeypatch.setattr("perdure.tools.sandbox.sandboxed.options", weak)
    report = await probe(hands, afresh=True)
    assert not report.ok
    assert noticed in {each.name for each in report.findings if each.wrong}
    assert "does not hold" in report.problem
    assert probes._recalled(hands.state, probes._about("bwrap")) is None


def _without(words, name, length):
    at = words.index(name)
    return words[:at] + words[at + length :]


async def test_started_with_our_environment_it_would_be_noticed(hands, monkeypatch):
    monkeypatch.setenv("AAA_KEY", "hush-hush")
    monkeypatch.setattr(probes, "_canary", lambda: "AAA_KEY=hush-hush")
    real = root.arguments
    monkeypatch.setattr(
        "perdure.tools.sandbox.sandboxed.arguments",
        lambda *a, **k: ["/usr/bin/env", "AAA_KEY=hush-hush", *real(*a, **k)],
    )
    report = await probe(hands, afresh=True)
    assert "sees no environment but its own" in {each.name for each in report.findings if each.wrong}


async def test_a_machine_that_says_nothing_of_a_language_is_no_worse(hands, monkeypatch):
    """As started by cron: all that is left is what Python sets by itself, outside as inside."""
    for name in {*os.environ} - {"PATH", "HOME", "TMPDIR"}:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LC_CTYPE", "C.UTF-8")
    report = await probe(hands, afresh=True)
    assert (report.ok, report.problem) == (True, "")


async def test_where_no_overlay_can_be_made_there_is_a_copy(hands, monkeypatch, tmp_path):
    helper = tmp_path / "overlay.py"
    helper.write_text("import sys\nsys.exit('no overlay can be made here: mount: Operation not permitted')\n")
    monkeypatch.setattr(stage, "_HELPER", str(helper))
    report = await probe(hands, afresh=True)
    assert (report.ok, report.staging) == (True, "copy"), report.problem


async def test_what_says_nothing_of_what_it_tried_is_no_sandbox(hands, monkeypatch, tmp_path):
    inside = tmp_path / "inside.py"
    inside.write_text("import sys\nsys.exit('what is that?')\n")
    monkeypatch.setattr(probes, "_INSIDE", inside)
    report = await probe(hands, afresh=True)
    assert report.problem == "the sandbox does not run commands as it should: code 1, what is that?"


def test_what_nobody_else_has_in_their_environment_is_the_bait(monkeypatch):
    for name in list(os.environ):
        monkeypatch.delenv(name)
    monkeypatch.setenv("LC_CTYPE", "C.UTF-8")
    assert "=" not in probes._canary(), "without one, something that is nowhere"
    monkeypatch.setenv("API_KEY", "hush-hush")
    assert probes._canary() == "API_KEY=hush-hush"


def test_where_the_kernel_does_not_say_when_it_was_started_each_look_is_the_first(monkeypatch, tmp_path):
    monkeypatch.setattr(probes, "BWRAP", str(tmp_path / "gone"))
    assert probes._about("bwrap") != probes._about("bwrap")


def test_where_programs_are_in_directories_and_not_behind_links_these_are_seen(monkeypatch):
    monkeypatch.setattr(root, "_TOP", ("usr", "nowhere"))
    assert list(root._top()) == ["--ro-bind", "/usr", "/usr"]

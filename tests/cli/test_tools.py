"""`perdure tools`: every declaration, where it came from, and what installed distributions offer."""

import json
import os

import pytest

from perdure.tools import BUILTIN

SHOP = '''
from perdure import Context, Happened, NotHappened, tool


def look(key):
    return NotHappened()


def yank(number, output): ...


@tool(name="shop.order", repeat="keyed", effects=["network", "irreversible", "costs"], hosts=["{shop}:443"], resources=["card"],
      reads=["a.txt"], writes=["orders/{number}"], probe=look, undo=yank, estimate={"seconds": 2, "usd": 0.5}, limit=3, timeout=60,
      judges=True)
def order(number: int, context: Context, shop: str = "a.example", note: str | None = None) -> list[str]:
    """Order an article.

    Args:
        number: Its number in the catalogue.
    """
    return []


@tool(name="shop.odd")
def odd() -> None:
    """Plain \\u202e and \\x1b[31m red."""


@tool(name="shop.slow", isolate=True, repeat="safe", effects=["reads"])
def slow(n: float = 1.5): ...


@tool(name="shop.maybe", repeat=lambda number: "safe")
def maybe(number: int) -> dict[str, int]: ...
'''


@pytest.fixture
def work(home):
    (home / "work").mkdir()
    (home / "work" / "shop.py").write_text(SHOP)
    return home / "work"


@pytest.fixture
def site(tmp_path):
    """Distributions that somebody has installed."""
    place = tmp_path / "site"
    for name, tool, source in (
        ("weather", "weather.ask", "from perdure import tool\n@tool(name='weather.ask', repeat='safe', effects=['network'])\ndef f(city: str) -> str:\n    'The weather.'\n    return 'sun in ' + city\n"),
        ("broken", "broken.one", "raise RuntimeError('bad luck')"),
        ("greedy", "text.upper", ""),
    ):  # fmt: skip
        info = place / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (place / f"{name}.py").write_text(source)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[perdure.tools]\n{tool} = {name}:f\n")
    return place


@pytest.fixture
def installed(perdure, site):
    def installed(*words, **given):
        return perdure(*words, PYTHONPATH=f"{site}:{os.environ.get('PYTHONPATH', '')}", **given)

    return installed


def rows(done):
    return {line.split("\t")[0]: tuple(line.split("\t")[1:]) for line in done.stdout.splitlines()}


def test_ls_lists_all_tools(perdure, work):
    done = perdure("tools", "ls", "--tools", "shop", cwd=work)
    assert done.returncode == 0
    found = rows(done)
    assert list(found) == sorted(found)
    assert {each.name for each in BUILTIN} < set(found)
    assert found["text.upper"] == ("safe", "none", "built in", "The text in capital letters.")
    assert found["shop.order"] == ("keyed", "network, irreversible, costs", "shop:order", "Order an article.")
    assert found["shop.maybe"][:2] == ("by arguments", "none")
    assert found["shop.odd"][:2] == ("never", "reads, writes, network, irreversible (assumed)")


def test_ls_as_json_has_everything(perdure, work):
    found = json.loads(perdure("tools", "ls", "--json", "--tools", "shop:order", cwd=work).stdout)
    assert (found["schema"], found["refused"]) == ("perdure.tools/1", [])
    [order] = [each for each in found["tools"] if each["name"] == "shop.order"]
    assert order["arguments"] == [
        {"name": "number", "type": "integer", "required": True, "meaning": "Its number in the catalogue."},
        {"name": "shop", "type": "text", "required": False, "default": "a.example", "meaning": ""},
        {"name": "note", "type": "text", "required": False, "default": None, "meaning": ""},
    ]
    said = {word: order[word] for word in ("repeat", "probe", "undo", "reversible", "assumed", "judges", "limit", "timeout", "isolate", "hosts", "writes")}  # fmt: skip
    assert said == {
        "repeat": "keyed", "probe": True, "undo": True, "reversible": True, "assumed": False, "judges": True, "limit": 3, "timeout": 60, "isolate": False,
        "hosts": ["{shop}:443"], "writes": ["orders/{number}"],
    }  # fmt: skip
    assert len(order["definition"]) == 64


def test_show_tells_all_that_is_declared(perdure, work):
    done = perdure("tools", "show", "shop.order", "--tools", "shop", cwd=work)
    lines = {line[:12].strip(): line[12:] for line in done.stdout.splitlines() if line[:12].strip()}
    definition = lines.pop("definition")
    assert len(definition) == 64
    assert lines == {
        "tool": "shop.order",
        "from": "shop:order",
        "arguments": "number (integer, required): Its number in the catalogue.",
        "returns": "list of text",
        "repeat": "keyed: after a crash it is called again with the same key, but it is asked first (probe)",
        "effects": "network, irreversible, costs",
        "undo": "it can be taken back",
        "reads": "a.txt",
        "writes": "orders/{number}",
        "hosts": "{shop}:443",
        "resources": "card",
        "judged": "by itself, file by file and host by host, when it knows what it is about to touch",
        "estimate": "2 seconds, 0.5 usd",
        "limits": "3 at once, 60 seconds",
    }
    assert 'shop (text, default "a.example")' in done.stdout
    assert "note (text, default null)" in done.stdout


def test_show_tells_what_is_assumed_of_one_that_says_nothing(perdure, work):
    shown = perdure("tools", "show", "shop.odd", "--tools", "shop", cwd=work).stdout
    for line in (
        "arguments   none",
        "repeat      never: after a crash a person is asked",
        "undo        it cannot be taken back",
        "(assumed)",
    ):
        assert line in shown
    slow = perdure("tools", "show", "shop.slow", "--tools", "shop", cwd=work).stdout
    for line in (
        "runs        in a process of its own",
        "returns     whatever it gives",
        "undo        not needed",
        "default 1.5",
    ):
        assert line in slow


def test_nothing_hidden_reaches_the_terminal(perdure, work):
    """S12."""
    for words in (["ls"], ["show", "shop.odd"], ["show", "\x1b]0;x\x07"]):
        done = perdure("tools", *words, "--tools", "shop", cwd=work)
        assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout + done.stderr)
    assert (
        r"Plain \u202e and \u001b[31m red." in perdure("tools", "show", "shop.odd", "--tools", "shop", cwd=work).stdout
    )


def test_a_tool_that_is_not_there_is_told_with_the_nearest(perdure, work):
    done = perdure("tools", "show", "text.uper", cwd=work)
    assert (done.returncode, done.stdout) == (3, "")
    assert 'did you mean "text.upper"' in done.stderr


# ------------------------------------------------------------ what distributions offer


def test_offers_are_listed_by_metadata_and_shown_by_importing(installed, work):
    done = installed("tools", "ls", cwd=work)
    assert done.returncode == 0
    assert rows(done)["weather.ask"] == ("?", "?", "weather 1.0 (weather:f)", "")
    assert rows(done)["broken.one"][2] == "broken 1.0 (broken:f)", (
        "nothing was imported, so nothing is known to be broken"
    )
    assert "warning PRD5004: greedy 1.0 (greedy:f) offers" in done.stderr
    shown = installed("tools", "show", "weather.ask", cwd=work)
    assert "The weather." in shown.stdout
    assert "from        weather 1.0 (weather:f)" in shown.stdout
    broken = installed("tools", "show", "broken.one", cwd=work)
    assert broken.returncode == 2
    assert "RuntimeError: bad luck" in broken.stderr
    refused = json.loads(installed("tools", "ls", "--json", cwd=work).stdout)["refused"]
    assert [each["code"] for each in refused] == ["PRD5004"]


def test_a_plan_that_names_an_offer_has_it(installed, work):
    (work / "plan.yaml").write_text("perdure: 1\nsteps: [{id: a, tool: weather.ask, with: {city: Oslo}}]\n")
    done = installed("run", "plan.yaml", cwd=work)
    assert (done.returncode, done.stdout) == (0, "sun in Oslo\n"), done.stderr
    (work / "plan.yaml").write_text("perdure: 1\nsteps: [{id: a, tool: weather.ask, with: {ctiy: Oslo}}]\n")
    assert 'did you mean "city"' in installed("run", "plan.yaml", cwd=work).stderr


def test_a_plan_that_names_none_imports_none(installed, work):
    (work / "plan.yaml").write_text("perdure: 1\nsteps: [{id: a, tool: text.upper, with: {text: x}}]\n")
    done = installed("run", "plan.yaml", cwd=work)
    assert (done.returncode, done.stdout) == (0, "X\n")
    assert "warning" not in done.stderr


def test_a_run_that_is_resumed_has_its_offers_and_is_told_of_broken_ones(installed, work):
    (work / "plan.yaml").write_text(
        "perdure: 1\nsteps:\n  - {id: q, ask: Sure?}\n  - {id: a, tool: weather.ask, with: {city: Rome}}\n"
    )
    assert installed("run", "plan.yaml", cwd=work).returncode == 4
    assert installed("approve", "@last", cwd=work).returncode == 0
    done = installed("resume", "@last", cwd=work)
    assert (done.returncode, done.stdout) == (0, "sun in Rome\n"), done.stderr
    assert "warning PRD5005" in done.stderr
    assert "bad luck" in done.stderr


def test_the_user_says_whose_offers_count(installed, work, home):
    (home / ".config/perdure").mkdir(parents=True)
    file = home / ".config/perdure/policy.toml"
    file.write_text("tools.entry_points = ['greedy']")
    file.chmod(0o600)
    assert "weather.ask" not in rows(installed("tools", "ls", cwd=work))
    (work / "plan.yaml").write_text("perdure: 1\nsteps: [{id: a, tool: weather.ask, with: {city: Oslo}}]\n")
    assert "PRD1401" in installed("run", "plan.yaml", cwd=work).stderr
    file.write_text("tools.entry_points = false")
    assert "warning" not in installed("tools", "ls", cwd=work).stderr


def test_a_workspace_cannot_offer_tools(perdure, work):
    """Metadata in the current directory is nobody's installation."""
    info = work / "evil-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[perdure.tools]\nevil.run = shop:order\n")
    for words in ([], ["--tools", "shop"]):
        assert "evil.run" not in perdure("tools", "ls", *words, cwd=work).stdout


def test_a_workspace_cannot_stand_in_for_a_distribution(installed, work):
    (work / "weather.py").write_text("raise SystemExit('a stranger is in')")
    for words in ([], ["--tools", "shop"]):
        assert "The weather." in installed("tools", "show", "weather.ask", *words, cwd=work).stdout


def test_contracts_for_planners_are_shown(place):
    (place.path / "sender.py").write_text(
        "from perdure import tool\n"
        "@tool(name='shop.send', requires=['paid(?order)', 'packed'], achieves=['sent(?order)'])\n"
        "def send(order: str): ...\n"
    )
    shown = place.perdure("tools", "show", "shop.send", "--tools", "sender").stdout
    assert "requires    paid(?order), packed\n" in shown
    assert "achieves    sent(?order)\n" in shown


def test_skills_are_shown(place):
    (place.path / "skilled.py").write_text(
        "from perdure import tool\n@tool(name='shop.look', skills=['look', 'buy'])\ndef look(): ...\n"
    )
    shown = place.perdure("tools", "show", "shop.look", "--tools", "skilled").stdout
    assert "skills      look, buy\n" in shown
    found = json.loads(place.perdure("tools", "show", "shop.look", "--tools", "skilled", "--json").stdout)
    assert found["skills"] == ["look", "buy"]


def test_rules_on_failures_are_shown(place):
    (place.path / "busy.py").write_text(
        "from perdure import Rule, tool\n"
        "@tool(name='shop.order', failures=[Rule('rate_limited', status=418, retry_after=5), "
        "Rule('unavailable', exception=KeyError)])\n"
        "def order(): ...\n"
    )
    shown = place.perdure("tools", "show", "shop.order", "--tools", "busy").stdout
    assert "failures    status=418: rate_limited after 5 seconds\n            exception=KeyError: unavailable" in shown
    found = json.loads(place.perdure("tools", "show", "shop.order", "--tools", "busy", "--json").stdout)
    assert found["failures"][0] == {"kind": "rate_limited", "status": 418, "retry_after": 5}

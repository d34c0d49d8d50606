"""`perdure doctor` and `perdure config show`: what is in order, what is not, and what to do."""

import json
import sqlite3
from pathlib import Path

import pytest
from program import a_run, write

from perdure.cli import doctor
from perdure.journal import schema


def states(done):
    return {check["about"]: check["state"] for check in json.loads(done.stdout)["checks"]}


def test_where_all_is_well(perdure, db):
    write(db, a_run("r_1"), a_run("r_2"), a_run("r_3", over=True))
    done = perdure("doctor", "--db", db)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split(maxsplit=2) for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [about for _, about, _ in lines] == (
        "python sqlite sandbox policy secrets mcp agents settings models disk room writing journal owner schema pages memory runs".split()
    )
    assert ["ok", "owner", "nobody writes it now"] in lines
    assert ["ok", "schema", f"version {len(schema.steps())}"] in lines
    assert ["ok", "runs", "2 runs not over, as written"] in lines
    document = json.loads(perdure("doctor", "--json", "--db", db).stdout)
    assert (document["schema"], document["ok"]) == ("perdure.doctor/1", True)
    assert document["checks"][0].keys() == {"about", "state", "message", "help"}


def test_models_are_looked_at_and_nobody_is_asked(perdure, home):
    assert "ok    models    none is set, and plans that ask one are not begun" in perdure("doctor").stdout
    (home / "answers.yaml").write_text("[x]")
    world = {
        "PERDURE_MODEL": "openai:gpt-5",
        "OPENAI_API_KEY": "sk-secret-0",
        "PERDURE_MODELS__STRONG": "script:a.yaml",
    }
    found = {
        line.split(" is ")[0]: line
        for line in perdure("doctor", **world).stdout.splitlines()
        if line.startswith(("ok    models", "warn  models"))
    }
    assert found["ok    models    default"].endswith("default is openai:gpt-5, its key is in OPENAI_API_KEY")
    assert "a.yaml cannot be read: No such file" in found["warn  models    strong"]
    done = perdure("doctor", **{**world, "OPENAI_API_KEY": ""})
    assert "default is openai:gpt-5: there is no key for openai: OPENAI_API_KEY is not set" in done.stdout
    assert "sk-secret-0" not in perdure("doctor", **world).stdout
    assert done.returncode == 0  # what asks no model goes on


def test_before_the_first_run(perdure, home):
    done = perdure("doctor")
    assert done.returncode == 0
    assert "yet; the first run makes it" in done.stdout
    assert list(home.iterdir()) == [], "nothing was made"


def test_agents_that_nobody_may_read_are_a_finding(monkeypatch):
    def refused(_):
        raise PermissionError(13, "Permission denied", "/home/me/agents")

    monkeypatch.setattr("perdure.cli.heads.roster_here", refused)
    found = doctor._agents()
    assert (found.state, found.message) == ("fail", "/home/me/agents cannot be read: Permission denied")


def test_a_run_that_cannot_be_believed_is_named(perdure, db):
    write(db, a_run("r_1"), a_run("r_2"), a_run("r_3", over=True))
    with sqlite3.connect(db) as connection:
        connection.execute("UPDATE turns SET body = x'00' WHERE run <> 1")
    connection.close()
    done = perdure("doctor", "--db", db)
    assert done.returncode == 1
    assert "fail  runs      entry 1 of r_2 cannot be believed: the turn is not what was written" in done.stdout
    assert "r_3" not in done.stdout, "it is over"
    assert "ok    runs      1 run not over, as written" in done.stdout


def test_a_damaged_file(perdure, db):
    write(db, *(a_run(f"r_{n}", goal="x" * 5_000) for n in range(50)))
    data = bytearray(db.read_bytes())
    for page in range(4, len(data) // 4096):
        data[page * 4096 : page * 4096 + 200] = bytes(range(200))
    db.write_bytes(data)
    done = perdure("doctor", "--db", db)
    assert (done.returncode, done.stderr) == (1, "")
    assert "\nfail  pages  " in done.stdout or "\nfail  journal   PRD2204" in done.stdout


@pytest.mark.parametrize("make", ["text", "other", "directory", "newer"])
def test_something_that_is_no_journal(perdure, db, make):
    if make == "text":
        db.write_text("Remember the milk. " * 100)
    elif make == "directory":
        db.mkdir()
    elif make == "newer":
        write(db)
        with sqlite3.connect(db) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    else:
        connection = sqlite3.connect(db)
        connection.execute("CREATE TABLE owner (token)")
        connection.close()
    done = perdure("doctor", "--json", "--db", db)
    assert (done.returncode, states(done)["journal"]) == (1, "fail")


def test_rubbish_in_the_settings_is_a_finding(perdure, home, db):
    (home / "perdure.toml").write_text("[limits\n")
    write(db, a_run("r_1"))
    done = perdure("doctor", "--json")
    assert (done.returncode, states(done)["settings"], "runs" in states(done)) == (1, "fail", False)
    done = perdure("doctor", "--json", "--db", db)
    assert (done.returncode, states(done)["settings"], states(done)["runs"]) == (1, "fail", "ok")
    for words in (["ls"], ["config", "show"], ["gc"]):
        done = perdure(*words)
        assert (done.returncode, "PRD1701" in done.stderr) == (6, True)
    (home / "perdure.toml").write_text("network_disk = true\n")
    assert json.loads(perdure("ls", "--json").stderr)["code"] == "PRD1704"


@pytest.mark.parametrize(
    ("version", "state"),
    [((3, 36, 0), "fail"), ((3, 37, 0), "warn"), ((3, 51, 2), "warn"), ((3, 51, 3), "ok"), ((3, 54, 0), "ok")],
)
def test_versions_of_sqlite(version, state):
    assert doctor._sqlite(version).state == state


@pytest.mark.parametrize(
    ("magic", "network", "state"),
    [
        (0x6969, False, "fail"),
        (0x6969, True, "warn"),
        (0x01021994, False, "warn"),
        (0xEF53, False, "ok"),
        (0, False, "ok"),
    ],
)
def test_disks(monkeypatch, magic, network, state):
    monkeypatch.setattr(doctor, "magic_of", lambda _: magic)
    assert doctor._disk(Path("/srv"), network=network).state == state


# ------------------------------------------------------------ config show


def test_settings_are_shown_with_their_origin(perdure, home):
    (home / "perdure.toml").write_text("limits.run = 3\nlimits.tools.http.get = 2")
    done = perdure("config", "show", PERDURE_RETENTION__KEEP="5")
    assert (done.returncode, done.stderr) == (0, "")
    assert "limits.run\t3" in done.stdout.splitlines()
    lines = perdure("config", "show", "--origin", "--db", "x.db", PERDURE_RETENTION__KEEP="5").stdout.splitlines()
    assert f"db\t{home / 'x.db'}\tflag" in lines
    assert f"limits.tools.http.get\t2\t{home / 'perdure.toml'}" in lines
    assert "retention.keep\t5\tenvironment PERDURE_RETENTION__KEEP" in lines
    assert "network_disk\tfalse\tdefault" in lines
    document = json.loads(perdure("config", "show", "--json").stdout)
    assert document["schema"] == "perdure.config/1"
    assert {"name": "limits.run", "value": 3, "origin": str(home / "perdure.toml")} in document["settings"]
    assert document["files"] == [str(home / "perdure.toml")]


@pytest.mark.parametrize(
    ("name", "text", "mode", "words"),
    [
        ("policy.toml", "", 0o622, "PRD1705: others than you may write"),
        ("policy.toml", '[sandbox]\nbinds = ["/no/such/place"]', 0o600, "/no/such/place"),
        ("secrets.toml", 'A = "a long one"', 0o644, "PRD5301: others can read"),
        ("mcp.json", "{", 0o600, "PRD5401: "),
    ],
)
def test_files_of_the_user_that_are_refused_are_told(perdure, home, name, text, mode, words):  # noqa: PLR0913, PLR0917  a row of a table
    file = home / ".config" / "perdure" / name
    file.parent.mkdir(parents=True)
    file.write_text(text)
    file.chmod(mode)
    done = perdure("doctor", "--json", "--db", home / "runs.db")
    assert done.returncode == 1
    [found] = [each for each in json.loads(done.stdout)["checks"] if each["about"] == file.stem]
    assert (found["state"], words in found["message"]) == ("fail", True), found


def test_t4_a_memory_that_cannot_be_used_is_a_warning(perdure, db):
    write(db, a_run("r_1", over=True))
    assert "ok    memory    0 memories can be found" in perdure("doctor", "--db", db).stdout
    with sqlite3.connect(db) as connection:
        connection.execute("DROP TABLE memories")
    connection.close()
    done = perdure("doctor", "--db", db)
    assert done.returncode == 0
    assert "warn  memory    the memory of this journal cannot be used: no such table: memories" in done.stdout

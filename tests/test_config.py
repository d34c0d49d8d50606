"""Settings: who is heard, what is refused, and what a stranger's workspace cannot do."""

from pathlib import Path

import program
import pytest

from perdure.config import ConfigError, load
from perdure.config.heads import models_of, places_of
from perdure.config.settings import SETTINGS
from perdure.models import NotNamed


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home" / ".config" / "perdure").mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture
def project(home):
    root = home / "work" / "project"
    (root / "deep" / "er").mkdir(parents=True)
    return root


@pytest.fixture
def loaded(home, project):
    def loaded(flags=None, cwd=project, **env):
        return load(flags, env={"HOME": str(home), **env}, cwd=cwd)

    return loaded


@pytest.fixture
def refused(loaded):
    def refused(code, *words, **given):
        with pytest.raises(ConfigError) as caught:
            loaded(**given)
        assert caught.value.code == code
        assert caught.value.exit_code == 6
        text = f"{caught.value.message}\n{caught.value.help}"
        assert [word for word in words if word not in text] == []
        return text

    return refused


def own_file(home, text):
    file = home / ".config" / "perdure" / "config.toml"
    file.write_text(text)
    return file


def test_e19_planning_is_off_where_nobody_turns_it_on_and_no_project_does(loaded, refused, home, project):
    assert not loaded().settings.agent_planning
    assert loaded(PERDURE_AGENT_PLANNING="yes").settings.agent_planning
    own_file(home, "agent_planning = true")
    assert loaded().settings.agent_planning
    assert load(env={"HOME": str(home)}, cwd=project, planning=True).settings.agent_planning
    own_file(home, "agent_planning = false")
    assert not load(env={"HOME": str(home)}, cwd=project, planning=True).settings.agent_planning
    (project / "perdure.toml").write_text("agent_planning = true")
    refused("PRD1704", "agent_planning")


def test_only_the_user_says_where_a_journal_elsewhere_is(loaded, refused, home, project):
    assert loaded().settings.server.url == ""
    own_file(home, '[server]\nurl = "https://mine"\nkey = "mine.key"')
    found = loaded().settings.server
    assert (found.url, found.key, found.plain) == ("https://mine", home / ".config/perdure/mine.key", False)
    assert loaded(PERDURE_SERVER="https://said").settings.server.url == "https://said"
    assert loaded({"server.url": "https://flag"}, PERDURE_SERVER="https://said").settings.server.url == "https://flag"
    (project / "perdure.toml").write_text('server.url = "https://theirs"')
    refused("PRD1704", "server.url")


# ------------------------------------------------------------ who is heard


def test_without_anything_there_are_defaults(loaded, home):
    found = loaded()
    assert found.settings.db == home / ".local/state/perdure/runs.db"
    assert {name: value for name, value in found.settings.flat().items() if name != "db"} == {
        "server.key": home / ".config/perdure/server.key",
        "server.plain": False,
        "limits.run": 64,
        "limits.total": 256,
        "limits.memory": 0,
        "retention.days": 30,
        "retention.keep": 100,
        "network_disk": False,
        "agent_planning": False,
    }
    assert set(found.origins.values()) == {"default"}
    assert found.files == ()


def test_a_flag_comes_before_the_environment_the_project_and_the_user(loaded, home, project):
    own = own_file(home, 'db = "mine.db"\n[limits]\nrun = 1\ntotal = 1\n[retention]\nkeep = 1\n')
    theirs = project / "perdure.toml"
    theirs.write_text('db = "theirs.db"\nlimits.run = 2\nlimits.total = 2')
    found = loaded({"db": "flag.db", "limits.run": None}, PERDURE_DB="env.db", PERDURE_LIMITS__TOTAL="3")
    assert found.settings.flat() | {"network_disk": None, "retention.days": None} == {
        "server.key": home / ".config/perdure/server.key",
        "server.plain": False,
        "db": project / "flag.db",
        "limits.run": 2,
        "limits.total": 3,
        "limits.memory": 0,
        "retention.days": None,
        "retention.keep": 1,
        "network_disk": None,
        "agent_planning": False,
    }
    assert found.origins == {
        "server.key": "default",
        "server.plain": "default",
        "db": "flag",
        "limits.run": str(theirs),
        "limits.total": "environment PERDURE_LIMITS__TOTAL",
        "limits.memory": "default",
        "retention.days": "default",
        "retention.keep": str(own),
        "network_disk": "default",
        "agent_planning": "default",
    }
    assert found.files == (theirs, own)


def test_relative_paths_begin_where_they_are_written(loaded, home, project):
    own_file(home, 'db = "runs.db"')
    assert loaded().settings.db == home / ".config/perdure/runs.db"
    (project / "perdure.toml").write_text('db = "a/runs.db"')
    assert loaded(cwd=project / "deep").settings.db == project / "a/runs.db"
    assert loaded(cwd=project / "deep", PERDURE_DB="runs.db").settings.db == project / "deep/runs.db"
    assert loaded(PERDURE_DB="~/runs.db").settings.db == Path("~/runs.db").expanduser()
    assert loaded({"db": ":memory:"}).settings.db == Path(":memory:")


def test_the_state_of_a_project_is_its_journal(loaded, project):
    (project / ".perdure").mkdir()
    for cwd in (project, project / "deep" / "er"):
        assert loaded(cwd=cwd).settings.db == project / ".perdure/runs.db"
    (project / "deep" / "perdure.toml").write_text("")
    assert loaded(cwd=project / "deep").settings.db != project / ".perdure/runs.db", "another project begins there"


def test_directories_by_the_rule_of_xdg(loaded, home, tmp_path):
    state, config = tmp_path / "state", tmp_path / "config"
    (config / "perdure").mkdir(parents=True)
    (config / "perdure" / "config.toml").write_text("limits.run = 7")
    found = loaded(XDG_STATE_HOME=str(state), XDG_CONFIG_HOME=str(config))
    assert (found.settings.db, found.settings.limits.run) == (state / "perdure/runs.db", 7)
    relative = loaded(XDG_STATE_HOME="state", XDG_CONFIG_HOME="")
    assert relative.settings.db == home / ".local/state/perdure/runs.db"


def test_tools_are_gathered_from_everywhere(loaded, home, project):
    own_file(home, '[limits.tools]\n"http.get" = 4\nshell.run = 2')
    (project / "pyproject.toml").write_text("[tool.perdure.limits]\ntools.shell.run = 1")
    found = loaded(PERDURE_LIMITS__TOOLS__MAIL__SEND="3")
    assert found.settings.limits.tools == {"http.get": 4, "shell.run": 1, "mail.send": 3}
    assert found.origins["limits.tools.shell.run"] == str(project / "pyproject.toml")


# ------------------------------------------------------------ where the project is


def test_the_nearest_file_counts(loaded, project):
    (project / "perdure.toml").write_text("limits.run = 1")
    (project / "deep" / "pyproject.toml").write_text("[tool.perdure]\nlimits.run = 2")
    assert [loaded(cwd=each).settings.limits.run for each in (project, project / "deep/er")] == [1, 2]
    (project / "deep" / "perdure.toml").write_text("limits.run = 3")
    assert loaded(cwd=project / "deep").settings.limits.run == 3, "our own file comes before a shared one"


@pytest.mark.parametrize("text", ["[tool.ruff]\n", "[broken", "tool = 3\nperdure = 1", "[tool]\nperdure = 3"])
def test_a_pyproject_of_others_is_passed_by(loaded, project, text):
    (project / "perdure.toml").write_text("limits.run = 1")
    (project / "deep" / "pyproject.toml").write_text(text)
    assert loaded(cwd=project / "deep").settings.limits.run == 1


@pytest.mark.parametrize("end", ["repository", "home", "everybody's"])
def test_the_search_ends(loaded, home, project, end):
    (project.parent / "perdure.toml").write_text("limits.run = 1")
    (home.parent / "perdure.toml").write_text("limits.run = 1")
    if end == "repository":
        (project / ".git").write_text("gitdir: elsewhere")
    elif end == "home":
        (project.parent / "perdure.toml").unlink()
    else:
        project.parent.chmod(0o1777)
    assert loaded(cwd=project / "deep").settings.limits.run == 64
    (project / "perdure.toml").write_text("limits.run = 2")
    assert loaded(cwd=project / "deep").settings.limits.run == 2


# ------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        ("PRD1701", "[limits\nrun = 8", ["perdure.toml", "is not TOML", "line 1"]),
        ("PRD1701", "a = " + "[" * 5_000, ["is not TOML"]),
        ("PRD1701", "#" * 1_100_000, ["larger than"]),
        ("PRD1702", "limits.rnu = 1", ["perdure.toml: there is no setting limits.rnu", 'did you mean "limits.run"?']),
        ("PRD1702", "colour = 1", ["colour", "write one of: agent_planning, db, "]),
        ("PRD1702", "db.path = 1", ["db.path", "write one of: agent_planning, db, "]),
        ("PRD1702", 'limits.tools."\\u001b" = 1', ["there is no setting"]),
        ("PRD1703", "limits.run = 0", ["limits.run is 0", "a whole number from 1"]),
        ("PRD1703", "limits.run = true", ["limits.run is True"]),
        ("PRD1703", "limits.run = '8'", ["limits.run is '8'"]),
        ("PRD1703", "limits.run = 8.0", ["limits.run is 8.0"]),
        ("PRD1703", "retention.keep = 99999999999999999999999", ["to 1,000,000"]),
        ("PRD1703", "limits.tools.http.get = -1", ["limits.tools.http.get is -1"]),
        ("PRD1703", "limits = 8", ["limits is a table"]),
        ("PRD1703", "limits.tools = 8", ["limits.tools is a table", "[limits.tools]"]),
        ("PRD1703", "db = 3", ["db is 3", "write a path"]),
        ("PRD1703", 'db = ""', ["write a path"]),
        ("PRD1703", 'db = "a\\u0000b"', ["write a path"]),
        ("PRD1703", "network_disk = 'yes'", ["true or false"]),
        ("PRD1704", "network_disk = true", ["network_disk cannot be set by a project", "PERDURE_NETWORK_DISK"]),
        ("PRD1704", "network_disk = false", ["network_disk cannot be set by a project"]),
        ("PRD1704", "db = '/etc/runs.db'", ["leads out of the project, to /etc/runs.db"]),
        ("PRD1704", "db = '../runs.db'", ["leads out"]),
        ("PRD1704", "db = '~/runs.db'", ["leads out"]),
        ("PRD1704", "db = 'link/runs.db'", ["leads out"]),
    ],
)
def test_rubbish_in_a_project_is_named(refused, project, code, text, words):
    (project / "link").symlink_to(project.parent)
    (project / "perdure.toml").write_text(text)
    refused(code, str(project / "perdure.toml"), *words)


def test_the_users_own_words_are_looked_at_too(refused, loaded, home):
    file = own_file(home, "network_disk = 1")
    refused("PRD1703", str(file))
    own_file(home, "network_disk = true\ndb = '/srv/runs.db'")
    assert loaded().settings.network_disk
    assert loaded().settings.db == Path("/srv/runs.db")
    file.write_bytes(b"\xff")
    refused("PRD1701", str(file))


def test_a_file_that_may_not_be_read(home):
    own_file(home, "").chmod(0)
    done = program.perdure("config", "show", home=home, before=program.without_privileges)
    assert (done.returncode, "PRD1701" in done.stderr, "Permission denied" in done.stderr) == (6, True, True)


def test_the_environment_is_read_as_what_a_setting_takes(loaded, refused):
    for text, wanted in (("1", True), ("Yes", True), ("off", False), ("", False)):
        assert loaded(PERDURE_NETWORK_DISK=text).settings.network_disk is wanted
    refused("PRD1703", "environment PERDURE_NETWORK_DISK", PERDURE_NETWORK_DISK="perhaps")
    for text in ("ten", "-1", "²", "9" * 5_000, "1e3"):
        refused("PRD1703", "PERDURE_LIMITS__RUN", PERDURE_LIMITS__RUN=text)
    refused("PRD1702", 'did you mean "limits.total"?', PERDURE_LIMITS__TOTL="1")
    refused("PRD1702", 'did you mean "network_disk"?', PERDURE_NETWORKDISK="1")


def test_variables_of_others_are_left_alone(loaded):
    assert loaded(PERDURE_SEED="7", PERDURE_X="", PERDURED="1", OTHER="x").origins["db"] == "default"


def test_an_unknown_flag_is_refused(refused):
    refused("PRD1702", "flag: there is no setting dbb", flags={"dbb": "x"})


# ------------------------------------------------------------ strangers


def test_a_link_does_not_lead_to_another_journal(loaded, home, project):
    (home / "elsewhere").mkdir()
    (project / ".perdure").symlink_to(home / "elsewhere")
    assert loaded().settings.db == home / ".local/state/perdure/runs.db"


def test_a_project_decides_about_its_own_journal_alone(loaded, home, project):
    (project / "perdure.toml").write_text("retention.days = 0\nretention.keep = 0\nlimits.run = 1")
    own_file(home, "retention.keep = 7")
    found = loaded()
    assert (found.settings.retention.days, found.settings.retention.keep, found.settings.limits.run) == (30, 7, 1)
    assert found.origins["retention.days"] == "default"
    (project / ".perdure").mkdir()
    assert loaded().settings.retention.days == loaded().settings.retention.keep == 0
    assert loaded(PERDURE_DB="/srv/runs.db").settings.retention.keep == 7


def test_without_a_home_it_still_goes_on(project):
    assert load(env={"HOME": "relative"}, cwd=project).settings.db == Path("/.local/state/perdure/runs.db")


def test_every_setting_is_in_the_settings(loaded):
    tiers = {f"models.{tier}": "box:m" for tier in ("weak", "default", "strong")}
    place = {"providers.box.url": "http://localhost/v1", "providers.box.key": "BOX_KEY"}
    place |= {"providers.box.prices.MODEL.in": 1, "providers.box.prices.MODEL.out": "2.5"}
    place |= {"traces.endpoint": "http://localhost:4318", "log.to": "stderr"}
    names = set(loaded({"limits.tools.TOOL": 1, "server.url": "https://runs", **tiers, **place}).settings.flat())
    assert names == {setting.name.replace("NAME", "box") for setting in SETTINGS}


# ------------------------------------------------------------ models


def test_tiers_come_from_files_and_the_environment(loaded, home, project):
    own_file(home, '[models]\ndefault = "openai:a"\nweak = "openai:b"')
    (project / "perdure.toml").write_text('models.weak = "openai:c"')
    found = loaded(PERDURE_MODELS__STRONG="anthropic:d")
    assert found.settings.heads.tiers == {"default": "openai:a", "weak": "openai:c", "strong": "anthropic:d"}
    assert found.settings.heads.named == {"openai", "anthropic"}
    assert found.origins["models.weak"] == str(project / "perdure.toml")
    assert loaded(PERDURE_MODEL="box:e").settings.heads.tiers["default"] == "box:e"
    assert loaded(PERDURE_MODEL="box:e").origins["models.default"] == "environment PERDURE_MODEL"


def test_a_project_cannot_have_prompts_sent_where_the_user_did_not_say(loaded, refused, home, project, monkeypatch):
    for each in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{each}_API_KEY", "x")
    own_file(home, 'models.default = "openai:a"')
    (project / "perdure.toml").write_text('models.default = "anthropic:b"\nmodels.weak = "openai:c"')
    models = models_of(loaded().settings.heads)
    with pytest.raises(NotNamed):
        models.find("default")
    assert models.find("weak").name == "c"
    (project / "perdure.toml").write_text('providers.box.url = "https://example.com/v1"')
    refused("PRD1704", "providers.box.url cannot be set by a project", "PERDURE_PROVIDERS__BOX__URL")
    (project / "perdure.toml").write_text('providers.openai.key = "AWS_SECRET_ACCESS_KEY"')
    refused("PRD1704", "providers.openai.key cannot be set by a project")
    (project / "perdure.toml").write_text("providers.openai.prices.m = {in = 0, out = 0}")
    refused("PRD1704", "providers.openai.prices.m.in cannot be set by a project")


def test_a_script_begins_at_the_file_that_names_it_and_is_never_the_projects(loaded, refused, home, project):
    """What a model says decides what agents do: a stranger's project has no say in that."""
    own = own_file(home, 'models.default = "script:answers.yaml"')
    assert loaded().settings.heads.tiers["default"] == f"script:{own.parent}/answers.yaml"
    assert loaded(PERDURE_MODEL="script:~/a.yaml").settings.heads.tiers["default"].endswith("/a.yaml")
    assert loaded().settings.heads.named == {"script"}
    (project / "perdure.toml").write_text('models.weak = "script:answers.yaml"')
    refused("PRD1704", "a project cannot say what a model answers", f"PERDURE_MODEL=script:{project}/answers.yaml")


def test_a_provider_of_ones_own_is_reached_by_its_address(loaded, home, monkeypatch):
    file = own_file(
        home, '[providers.box]\nurl = "https://box.example/v1"\nkey = "BOX_KEY"\n[models]\ndefault = "box:m"'
    )
    found = loaded()
    assert found.origins["providers.box.url"] == str(file)
    monkeypatch.setenv("BOX_KEY", "x")
    place = models_of(found.settings.heads).find("default").place
    assert (place.url, place.key()) == ("https://box.example/v1", "x")
    assert loaded(PERDURE_PROVIDERS__BOX__URL="http://localhost:1/v1").settings.heads.providers["box"] == {
        "url": "http://localhost:1/v1",
        "key": "BOX_KEY",
    }


def test_models_that_no_list_knows_have_prices_of_the_users_own(loaded, home):
    own_file(
        home,
        """
        [providers.box]
        url = "https://box.example/v1"
        [providers.box.prices."llama-3.1:8b"]
        in = 0.5
        out = 2
        [providers.box.prices."*"]
        in = 0
        out = 0.0
        """,
    )
    place = places_of(loaded().settings.heads).find("box")
    assert place.own_price("llama-3.1:8b", 1_000_000, 500_000) == 1.5
    assert place.own_price("other", 1_000_000, 0) == 0.0
    assert loaded().settings.flat()["providers.box.prices.llama-3.1:8b.out"] == "2.0"


def test_a_known_provider_may_have_its_key_elsewhere(loaded, home):
    own_file(home, 'providers.anthropic.key = "MINE"')
    assert places_of(loaded().settings.heads).find("anthropic").keys == ("MINE",)


def test_a_file_that_others_can_write_names_no_server(refused, home):
    own_file(home, 'providers.box.url = "http://localhost/v1"').chmod(0o666)
    refused("PRD1705", "others than you may write")


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        ("PRD1703", "models.default = 'gpt'", ["models.default is 'gpt'", "provider:model"]),
        ("PRD1703", "models.default = 'openai:'", ["provider:model"]),
        ("PRD1703", "models.default = 7", ["provider:model"]),
        ("PRD1703", "models = 'x:y'", ["models is a table"]),
        ("PRD1703", "providers.box.url = 'ftp://x'", ["providers.box", "http://"]),
        ("PRD1703", "providers.box.url = 'https://x.example'\nproviders.box.key = 'sk-1'", ["never the key itself"]),
        ("PRD1703", "providers.box.key = 'KEY'", ["it has no `url`"]),
        ("PRD1703", "providers.openai.prices.m.in = 1", ["m has one price", "write `in` and `out`"]),
        (
            "PRD1703",
            "providers.openai.prices.m.in = -1",
            ["providers.openai.prices.m.in is -1", "US dollars for a million"],
        ),
        ("PRD1703", "providers.openai.prices.m.in = nan", ["US dollars"]),
        ("PRD1703", "providers.openai.prices.m.in = '1'", ["US dollars"]),
        ("PRD1702", "providers.openai.prices.m.cached = 1", ["there is no setting"]),
        ("PRD1702", "models.best = 'a:b'", ["models.best"]),
        ("PRD1702", "providers.box.token = 'x'", ["providers.box.token"]),
    ],
)
def test_rubbish_about_models_is_named(refused, home, code, text, words):
    refused(code, str(own_file(home, text)), *words)


# ------------------------------------------------------------ rules on failures


def test_rules_on_failures_are_read_in_order(loaded, home):
    own_file(
        home,
        """
[[failures]]
tool = "http.*"
status = 418
kind = "transient"
retry_after = 5

[[failures]]
exit_code = 75
kind = "unavailable"

[limits]
total = 3
""",
    )
    found = loaded()
    assert [each.text for each in found.settings.failures] == [
        "tool=http.* status=418: transient after 5 seconds",
        "exit_code=75: unavailable",
    ]
    assert found.settings.limits.total == 3


BAD_RULES = [
    ("status = 418", "kind", "transient"),
    ('kind = "transient"', "rule", "exception"),
    ('kind = "transient"\nstatus = 999', "status", "100 to 599"),
    ('kind = "transient"\nstatus = "6xx"', "status", "100 to 599"),
    ('kind = "transient"\nstatus = true', "status", "100 to 599"),
    ('kind = "transiant"\nstatus = 418', "kind", "transient"),
    ('kind = "other"\nstatus = 418', "kind", "rate_limited"),
    ("kind = 3\nstatus = 418", "kind", "rate_limited"),
    ('kind = "transient"\nstatsu = 418', "statsu", "status"),
    ('kind = "transient"\nexit_code = 0', "exit_code", "1 to 255"),
    ('kind = "transient"\nerrno = "ENOSPACE"', "errno", "ENOSPC"),
    ('kind = "transient"\nsignal = "KILL"', "signal", "SIGKILL"),
    ('kind = "transient"\nmessage = 3', "message", "a text"),
    ('kind = "transient"\nmessage = "a\\nb"', "message", "a text"),
    (f'kind = "transient"\nmessage = "{"*a" * 101}"', "message", "200 letters"),
    ('kind = "transient"\nexception = ["A"]', "exception", "a text"),
    ('kind = "transient"\nstatus = 418\nretry_after = -1', "retry_after", "seconds"),
    ('kind = "transient"\nstatus = 418\nretry_after = inf', "retry_after", "seconds"),
    ('kind = "transient"\nstatus = 418\neffect = "some"', "effect", "unknown"),
]


@pytest.mark.parametrize(("text", "word", "hint"), BAD_RULES)
def test_a_rule_that_cannot_be_meant_is_refused_with_its_place(text, word, hint, refused, home):
    file = own_file(home, f'[[failures]]\nkind = "logic"\nstatus = 404\n\n[[failures]]\n{text}\n')
    refused("PRD1707", f"{file}:5: failures[1].{word}", hint)


@pytest.mark.parametrize("text", ["failures = 3", "failures = {status = 418}", "failures = [3]"])
def test_what_is_no_list_of_rules_is_refused(text, refused, home):
    own_file(home, text)
    refused("PRD1707", "failures")


def test_a_project_has_no_say_about_failures(refused, loaded, project):
    (project / "perdure.toml").write_text('[[failures]]\nstatus = 418\nkind = "transient"\n')
    refused("PRD1704", "failures", "config.toml")


def test_rules_that_others_could_have_written_are_refused(refused, home):
    own_file(home, '[[failures]]\nstatus = 418\nkind = "transient"\n').chmod(0o666)
    refused("PRD1705", "chmod")

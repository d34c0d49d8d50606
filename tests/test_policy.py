"""E7, S14, and the user's policy: who may write it, what it says, and that a broken one lets nothing pass."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from perdure.config import ConfigError, load
from perdure.config.owned import LARGEST, read_owned
from perdure.config.policy import load_policy
from perdure.config.rules import Rules, problem_of
from perdure.core.policy import Deed, judge

NOBODY = 65_534


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home" / ".config" / "perdure").mkdir(parents=True, mode=0o755)
    return tmp_path / "home"


@pytest.fixture
def workspace(home):
    (home / "work").mkdir()
    return home / "work"


@pytest.fixture
def own(home):
    def own(text):
        file = home / ".config" / "perdure" / "policy.toml"
        file.write_text(text)
        file.chmod(0o600)
        return file

    return own


@pytest.fixture
def loaded(home, workspace):
    def loaded(directory=workspace, **env):
        return load_policy(directory, env={"HOME": str(home), **env})

    return loaded


@pytest.fixture
def refused(loaded):
    def refused(code, *words, **given):
        with pytest.raises(ConfigError) as caught:
            loaded(**given)
        assert (caught.value.code, caught.value.exit_code) == (code, 6)
        assert caught.value.help
        text = f"{caught.value.message}\n{caught.value.help}"
        assert [word for word in words if word not in text] == []
        return text

    return refused


def verdict(policy, kind, what, words=()):
    return judge(policy.layers, Deed(kind, what, tuple(words))).verdict


# ------------------------------------------------------------ without a file


def test_without_a_file_the_workspace_is_open_and_the_network_closed(loaded, home):
    policy = loaded()
    assert policy.is_default
    assert policy.origin == "default"
    assert policy.place == home / ".config/perdure/policy.toml"
    assert [verdict(policy, kind, "src/a.py") for kind in ("read", "write")] == ["allow", "allow"]
    assert verdict(policy, "connect", "example.com:443") == "deny"
    assert verdict(policy, "run", "rm", ("rm", "-rf", ".")) == "allow", "in the sandbox, whose tier is not lowered"
    assert (policy.tier, policy.binds, policy.secrets, policy.entry_points) == (
        "bwrap",
        (),
        None,
        True,
    )
    assert judge(policy.layers, Deed("connect", "a")).by == "the default policy"


def test_a_place_inside_the_workspace_cannot_be_written_by_a_run(loaded, home):
    """CVE-2026-25725: a file that is not there yet is protected as well."""
    policy = loaded(directory=home)
    for path in (".config/perdure", ".config/perdure/policy.toml", ".config/perdure/config.toml"):
        assert verdict(policy, "write", path) == "deny"
    assert verdict(policy, "write", ".config/other/x") == "allow"
    assert verdict(loaded(), "write", ".config/perdure/policy.toml") == "allow", "there it is no more than a name"


def test_a_directory_that_is_a_link_into_the_workspace_is_known_by_where_it_leads(loaded, home, workspace):
    (workspace / "dots").mkdir()
    (home / ".config/perdure").rmdir()
    (home / ".config/perdure").symlink_to(workspace / "dots")
    assert verdict(loaded(), "write", "dots/policy.toml") == "deny"


# ------------------------------------------------------------ what it says


def test_a_file_says_what_a_plan_can_say_and_more(loaded, own, home):
    file = own("""
deny = ["costs"]
ask = ["irreversible"]
network = ["example.com", "*.example.org:*"]
[files]
write = ["src/**"]
ask = ["src/ci/**"]
deny = ["**/.env"]
[commands]
allow = [["pytest", "*"]]
[tools]
deny = ["mail.*"]
entry_points = ["perdure-weather"]
[resources]
ask = ["printer"]
[sandbox]
tier = "landlock"
binds = ["/opt/toolchain", "kit"]
[secrets]
source = "~/secrets.toml"
""")
    policy = loaded()
    assert (policy.origin, policy.is_default) == (str(file), False)
    found = {
        text: verdict(policy, *text.split()[:2], text.split()[1:] if text.startswith("run") else text.split()[2:])
        for text in (
            "write src/a", "write src/ci/a", "write b", "write src/.env", "read .env", "read b", "connect example.com:443", "connect x.example.org:9",
            "connect other.example:443", "run pytest -q", "run make", "call mail.send", "call a.b irreversible", "call a.b costs", "use printer",
        )
    }  # fmt: skip
    assert [text for text, said in found.items() if said == "allow"] == [
        "write src/a", "read b", "connect example.com:443", "connect x.example.org:9", "run pytest -q",
    ]  # fmt: skip
    assert [text for text, said in found.items() if said == "ask"] == [
        "write src/ci/a",
        "call a.b irreversible",
        "use printer",
    ]
    assert judge(policy.layers, Deed("write", "b")).by == "your policy"
    beside = home / ".config/perdure"
    assert (policy.tier, policy.binds) == ("landlock", (Path("/opt/toolchain"), beside / "kit"))
    assert policy.secrets == Path("~/secrets.toml").expanduser()
    assert policy.entry_points == ("perdure-weather",)


def test_an_empty_file_is_as_strict_as_none(loaded, own):
    without = loaded()
    own("")
    for deed in (Deed("connect", "a"), Deed("write", "a"), Deed("run", "x", ("x",))):
        assert judge(loaded().layers, deed).verdict == judge(without.layers, deed).verdict


@pytest.mark.parametrize(
    ("text", "host", "wanted"),
    [
        ("[network]\ndeny = ['a']", "b", "deny"),
        ("[network]\nask = ['a', '*.b']", "a", "ask"),
        ("[network]\nask = ['a', '*.b']", "c", "deny"),
        ("[network]\nask = ['a']\nallow = ['*']", "c", "allow"),
        ("network = ['*:*']", "c:1", "allow"),
        ("network = []", "c", "deny"),
    ],
)
def test_no_host_is_reached_that_nobody_named(loaded, own, text, host, wanted):
    own(text)
    assert verdict(loaded(), "connect", host) == wanted


def test_without_a_sandbox_each_command_is_asked_about_unless_commands_are_named(loaded, own):
    own("[sandbox]\ntier = 'none'")
    assert verdict(loaded(), "run", "ls", ("ls",)) == "ask"
    own("[sandbox]\ntier = 'none'\n[commands]\ndeny = [['rm', '*']]")
    assert verdict(loaded(), "run", "ls", ("ls",)) == "ask"
    assert verdict(loaded(), "run", "rm", ("rm",)) == "deny"
    own("[sandbox]\ntier = 'none'\n[commands]\nallow = [['ls']]")
    assert [verdict(loaded(), "run", each, (each,)) for each in ("ls", "make")] == ["allow", "deny"]


# ------------------------------------------------------------ whose it is


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666, 0o664])
def test_a_file_that_others_may_write_is_refused(own, refused, loaded, mode):
    file = own("")
    file.chmod(mode)
    refused("PRD1705", str(file), "chmod 600")
    for fine in (0o600, 0o644, 0o400):
        file.chmod(fine)
        assert not loaded().is_default


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o777])
def test_a_directory_that_others_may_write_is_refused(own, refused, mode):
    file = own("")
    file.parent.chmod(mode)
    refused("PRD1705", str(file.parent), "chmod go-w")


def test_directories_further_up_count_too(own, refused, loaded, home):
    own("")
    home.chmod(0o777)
    refused("PRD1705", str(home))
    home.chmod(0o1777)
    assert not loaded().is_default, "as in /tmp, others can add files and replace none"


@pytest.mark.parametrize("what", ["file", "directory"])
def test_a_file_of_somebody_else_is_refused(own, refused, monkeypatch, what):
    file = own("")
    if os.geteuid() == 0:
        os.chown(file if what == "file" else file.parent, NOBODY, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
    refused("PRD1705", "belongs to somebody else")


def test_a_file_inside_the_workspace_is_refused(own, refused, loaded, home, tmp_path):
    own("")
    refused("PRD1705", "inside the workspace", directory=home)
    refused("PRD1705", "inside the workspace", directory=home / ".config")
    (tmp_path / "alias").symlink_to(home)
    refused("PRD1705", "inside the workspace", directory=tmp_path / "alias")
    assert not loaded().is_default


@pytest.mark.parametrize("way", ["file", "directory"])
def test_a_link_into_the_workspace_is_refused(own, refused, workspace, way):
    file = own("")
    if way == "file":
        file.rename(workspace / "policy.toml")
        file.symlink_to(workspace / "policy.toml")
    else:
        file.parent.rename(workspace / "dots")
        file.parent.symlink_to(workspace / "dots")
    refused("PRD1705", "inside the workspace")


def test_a_link_to_a_file_of_ones_own_is_followed(own, loaded, home):
    file = own("ask = ['writes']")
    file.rename(home / "dotfile")
    file.symlink_to(home / "dotfile")
    assert verdict(loaded(), "write", "a") == "ask"


def test_what_is_no_file_is_refused_and_not_waited_for(home, refused):
    place = home / ".config/perdure/policy.toml"
    os.mkfifo(place)
    refused("PRD1705", "not a file")
    place.unlink()
    place.mkdir()
    refused("PRD1705", "not a file")
    place.rmdir()
    place.symlink_to(home / "nowhere")
    refused("PRD1705", "leads nowhere")
    place.unlink()
    place.parent.rmdir()
    place.parent.write_text("")
    refused("PRD1705", "cannot be read")


def test_a_file_that_is_too_large_is_refused(own, refused):
    own("#" * (1024 * 1024 + 1))
    refused("PRD1705", "larger")


# ------------------------------------------------------------ what is broken


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("network = [", ["not TOML"]),
        ("\xff\xfe", ["not TOML"]),
        ("netwrok = []", ["netwrok", 'did you mean "network"?']),
        ("[files]\nwirte = []", ["files.wirte", "write"]),
        ("[sandbox]\nteir = 'none'", ["sandbox.teir", "tier"]),
        ("[network]\nalow = []", ["network.alow", "allow"]),
        ("[sandbox]\ntier = 'off'", ["sandbox.tier", "bwrap"]),
        ("network = 'example.com'", ["network", "['example.com']"]),
        ("network = ['https://example.com']", ["network[0]", "write example.com"]),
        ("[files]\ndeny = ['../x']", ["files.deny[0]", "write x"]),
        ("[commands]\nallow = [[]]", ["commands.allow[0]", "empty"]),
        ("ask = ['write']", ["ask[0]", "writes"]),
        ("[tools]\nentry_points = 3", ["tools.entry_points", "true, false, or a list"]),
        ("[tools]\nentry_points = ['']", ["tools.entry_points", "true, false, or a list"]),
        ("a=1\nb=1\nc=1\nd=1\ne=1\nf=1\ng=1", ["and 2 more"]),
        ("[sandbox]\nbinds = ['/']", ["sandbox.binds[0]", "policy.toml"]),
        ("[sandbox]\nbinds = ['/opt', '~']", ["sandbox.binds[1]", "policy.toml"]),
        ("[sandbox]\nbinds = ['/opt']\n[secrets]\nsource = '/opt/secrets/x'", ["sandbox.binds[0]", "/opt/secrets/x"]),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused_with_its_place_and_the_way_out(own, refused, monkeypatch, text, words):
    file = own("")
    monkeypatch.setenv("HOME", str(file.parents[2]))
    file.write_bytes(text.encode("latin-1"))
    refused("PRD1706", str(file), *words)


def test_a_file_that_was_read_is_closed(own):
    file, descriptors = own(""), Path("/proc/self/fd")
    before = set(descriptors.iterdir())
    assert read_owned(file) == b""
    assert set(descriptors.iterdir()) <= before


# ------------------------------------------------------------ who else cannot say it


@pytest.mark.parametrize(
    "line",
    [
        "policy.network = ['*:*']",
        "[policy]\nask = []",
        "[sandbox]\ntier = 'none'",
        "network = ['*']",
        "tools.entry_points = true",
    ],
)
def test_a_project_cannot_say_what_may_be_done(home, workspace, line):
    (workspace / "perdure.toml").write_text(line)
    with pytest.raises(ConfigError) as caught:
        load(env={"HOME": str(home)}, cwd=workspace)
    assert caught.value.code == "PRD1704"
    assert "policy.toml" in caught.value.help


def test_the_file_of_settings_is_not_the_place_for_it(home, workspace):
    (home / ".config/perdure/config.toml").write_text("[sandbox]\ntier = 'none'")
    with pytest.raises(ConfigError) as caught:
        load(env={"HOME": str(home)}, cwd=workspace)
    assert caught.value.code == "PRD1702"
    assert "policy.toml" in caught.value.help


def test_files_in_the_workspace_and_variables_change_nothing(loaded, workspace):
    for name in ("policy.toml", ".perdure/policy.toml", ".config/perdure/policy.toml", "perdure/policy.toml"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("network = ['*:*']\n[sandbox]\ntier = 'none'")
    policy = loaded(PERDURE_SANDBOX__TIER="none", PERDURE_POLICY="x", PERDURE_NETWORK="*:*", XDG_CONFIG_HOME=".config")
    assert policy.is_default
    assert policy.tier == "bwrap"
    assert verdict(policy, "connect", "a") == "deny"


# ------------------------------------------------------------------------------- what holds, in words


def test_what_is_in_force_is_told_by_the_words_of_the_file(loaded, own):
    own('[files]\nwrite = ["src/**"]\n[network]\nask = ["a.example"]\n')
    told = loaded().in_force()
    assert told["files"] == {"write": ["src/**"]}
    assert told["network"] == {"allow": ["a.example"], "ask": ["a.example"]}, "what is asked about may be reached"
    assert told["sandbox"]["tier"] == "bwrap"
    assert "tools" not in told


def test_who_says_what_is_named(loaded, own, home):
    assert loaded().origin == "default"
    assert "perdure" in [each.name for each in loaded(home).layers], "its own place is nothing that a user has to close"
    file = own("")
    assert loaded().origin == str(file)


def test_whose_tools_are_loaded_is_yes_no_or_a_list(loaded, own):
    for text, wanted in (("true", True), ("false", False), ('["a", "b"]', ("a", "b"))):
        own(f"[tools]\nentry_points = {text}\n")
        assert loaded().rules.tools.entry_points == wanted


def test_five_problems_are_told_and_more_are_counted(own, refused):
    own("".join(f"x{n} = 1\n" for n in range(5)))
    assert "more" not in refused("PRD1706")
    own("".join(f"x{n} = 1\n" for n in range(7)))
    assert "x4: there is no such word here; and 2 more" in refused("PRD1706")


def test_a_file_may_be_so_large(loaded, own):
    file = own("")
    file.write_bytes(b"#" * LARGEST)
    assert loaded().rules == load_policy(env={"HOME": "/nowhere"}).rules


def test_without_a_workspace_nothing_lies_inside_it(loaded):
    assert loaded(None).private == ""


def test_problems_have_the_code_of_the_page_about_policies():
    for wrong in ({"netwrk": []}, {"files": {"write": "src"}}, {"sandbox": {"tier": "jail"}}):
        with pytest.raises(ValidationError) as caught:
            Rules.model_validate(wrong)
        assert [problem_of(each).code for each in caught.value.errors()] == ["PRD1706"]

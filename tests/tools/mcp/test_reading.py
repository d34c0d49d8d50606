"""Holes 10, 11 and 16: the file that people paste is read as it is; what is wrong with it is told all at once."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.tools.mcp.errors import BadServers
from perdure.tools.mcp.reading import read_servers, servers_in
from perdure.tools.mcp.servers import CAREFUL, Trust, host_of

PASTED = """
{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/docs"],
      "env": {"TOKEN": "${secrets.TOKEN}", "PORT": "${env:PORT:-80}"},
      "disabled": false,
      "autoApprove": ["write_file"]
    },
    "remote/api v2": {
      "type": "http",
      "url": "https://mcp.example.com/v1",
      "headers": {"Authorization": "Bearer ${API_KEY}"}
    },
    "off": {"command": "x", "disabled": true}
  }
}
"""


def problems_of(body, **more):
    with pytest.raises(BadServers) as caught:
        servers_in(json.dumps({"mcpServers": {"shop": body}}, indent=1), "mcp.json", **more)
    return caught.value.problems


def test_what_other_programs_write_is_read_as_it_is():
    found = servers_in(PASTED)
    assert list(found) == ["filesystem", "remote_api_v2"]
    files = found["filesystem"]
    assert files.command == ("npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/me/docs")
    assert files.env == {"TOKEN": "${secrets.TOKEN}", "PORT": "${env:PORT:-80}"}
    assert files.trusted("write_file") == Trust("never", CAREFUL), "what another program grants is not granted here"
    assert found["remote_api_v2"].hosts == ("mcp.example.com:443",)


def test_trust_is_the_user_s_word_for_each_tool():
    body = {"command": "x", "trust": {"get": {"repeat": "safe", "effects": []}, "*": {"repeat": "keyed"}}}
    server = servers_in(json.dumps({"servers": {"shop": body}}))["shop"]
    assert server.trusted("get") == Trust("safe", ())
    assert server.trusted("other") == Trust("keyed", CAREFUL)


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({}, ["mcpServers.shop"]),
        ({"command": "x", "url": "https://a.example"}, ["mcpServers.shop"]),
        ({"comand": "x"}, ["mcpServers.shop.comand", "mcpServers.shop"]),
        ({"command": 3, "args": "x", "env": [], "timeout": 0}, [f"mcpServers.shop.{each}" for each in ("command", "args", "env", "timeout")]),
        ({"command": "${env.SHELL}"}, ["mcpServers.shop.command"]),
        ({"command": "x", "args": ["a", 1]}, ["mcpServers.shop.args[1]"]),
        ({"command": "x", "env": {"A": "${secrets.}"}}, ["mcpServers.shop.env.A"]),
        ({"command": "x", "env": {"A": "${A"}}, ["mcpServers.shop.env.A"]),
        ({"command": "x", "env": {"A=B": "1"}}, ["mcpServers.shop.env.A=B"]),
        ({"command": "x", "read": ["docs", "/a/../b"]}, ["mcpServers.shop.read[0]", "mcpServers.shop.read[1]"]),
        ({"command": "x", "network": ["*.example.com"]}, ["mcpServers.shop.network[0]"]),
        ({"command": "x", "network": ["a b", "evil.example\r\n:1"]}, ["mcpServers.shop.network[0]", "mcpServers.shop.network[1]"]),
        ({"command": "x", "headers": {"A": "b"}}, ["mcpServers.shop.headers"]),
        ({"url": "file:///etc/passwd"}, ["mcpServers.shop.url"]),
        ({"url": "https://user:pass@a.example"}, ["mcpServers.shop.url"]),
        ({"url": "https://a.example", "args": []}, ["mcpServers.shop.args"]),
        ({"url": "http://a.example", "headers": {"Authorization": "x"}}, ["mcpServers.shop.url"]),
        ({"url": "https://a.example", "headers": {"A": "x\r\nB: y"}}, ["mcpServers.shop.headers.A"]),
        ({"type": "sse", "url": "https://a.example"}, ["mcpServers.shop.type"]),
        ({"type": "stdio", "url": "https://a.example"}, ["mcpServers.shop.type"]),
        ({"command": "x", "trust": {"a": {"repeat": "often"}}}, ["mcpServers.shop.trust.a.repeat"]),
        ({"command": "x", "trust": {"a": {"effects": ["magic"]}}}, ["mcpServers.shop.trust.a.effects"]),
        ({"command": "x", "trust": {"a": {"readOnly": True}}}, ["mcpServers.shop.trust.a"]),
        ({"command": "x", "disabled": "no"}, ["mcpServers.shop.disabled"]),
    ],
)  # fmt: skip
def test_everything_that_is_wrong_has_its_place_and_what_to_write(body, places):
    found = problems_of(body)
    assert sorted(each.as_json()["path"] for each in found) == sorted(places)
    assert all(each.line > 0 and each.help and each.file == "mcp.json" for each in found)


def test_the_place_is_where_it_stands_in_the_file():
    [problem] = problems_of({"command": "x", "timeout": "long"})
    assert str(problem).startswith("mcp.json:5:")


def test_headers_may_be_sent_in_the_clear_on_this_machine():
    assert servers_in('{"mcpServers": {"a": {"url": "http://localhost:8080/mcp", "headers": {"X": "y"}}}}')[
        "a"
    ].hosts == ("localhost:8080",)


def test_names_that_become_the_same_are_refused():
    with pytest.raises(BadServers, match='two servers would be called "a_b"'):
        servers_in('{"mcpServers": {"a b": {"command": "x"}, "a/b": {"command": "y"}}}')


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"mcpServers": []}', '{"mcpServers": {"a": 1}}', '{"mcpServers": {"": {}}}', "{'a': 1}", '{"a": 1, "a": 2}', "nul", "[" * 5000, '{"mcpServers": {"a": {"command": "\\ud800"}}}'])  # fmt: skip
def test_a_file_that_is_none_is_refused(text):
    with pytest.raises(BadServers):
        servers_in(text, "mcp.json")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["command", "args", "env", "url", "headers", "trust", "read", "network", "type", "*", "repeat"]) | st.text(), inner, max_size=4), max_leaves=12))  # fmt: skip
def test_no_file_does_more_than_be_refused(body):
    try:
        servers_in(json.dumps({"mcpServers": {"shop": body}}))
    except BadServers as error:
        assert error.problems


def test_hole_16_a_server_may_not_write_where_it_is_approved(tmp_path):
    file = tmp_path / "config" / "mcp.json"
    file.parent.mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "config")
    for path in (tmp_path, file.parent, tmp_path / "link", "/"):
        file.write_text(json.dumps({"mcpServers": {"shop": {"command": "x", "write": [str(path)]}}}))
        file.chmod(0o600)
        with pytest.raises(BadServers, match="approve itself"):
            read_servers(file)


@pytest.mark.parametrize("mode", [0o666, 0o620, 0o602])
def test_a_file_that_others_can_change_names_no_commands(tmp_path, mode):
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"shop": {"command": "x"}}}')
    file.chmod(mode)
    with pytest.raises(BadServers, match="others can change it"):
        read_servers(file)
    file.chmod(0o644)
    assert list(read_servers(file)) == ["shop"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_somebody_else_names_no_commands(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"shop": {"command": "x"}}}')
    file.chmod(0o600)
    os.chown(file, 65534, 65534)
    with pytest.raises(BadServers, match="others can change it"):
        read_servers(file)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://A.Example/x", "a.example:443"),
        ("http://a.example:8080", "a.example:8080"),
        ("http://[::1]:1", "[::1]:1"),
        ("https://a.example:99999", ""),
        ("https://", ""),
        ("a.example", ""),
    ],
)
def test_the_host_that_is_judged_is_that_of_the_address(url, host):
    assert host_of(url) == host

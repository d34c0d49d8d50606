"""Declarations that cannot be so are refused while the tool is written, with what to write instead."""

import pytest

from perdure import Context, PerdureError, tool
from perdure.tools.vetting import AMOUNTS

REFUSED = [
    ({"effects": ["write"]}, 'no effect "write"', '"writes"'),
    ({"effects": "writes"}, "effects is a text", '["writes"]'),
    ({"reads": "a.txt"}, "reads is a text", '["a.txt"]'),
    ({"reads": ["{pth}"]}, "{pth}", '"path"'),
    ({"writes": ["out/{path"]}, '"out/{path"', ""),
    ({"writes": ["out/}"]}, '"out/}"', ""),
    ({"hosts": ["{path.host}"]}, "{path.host}", ""),
    ({"resources": ["{}"]}, "{}", ""),
    ({"writes": ["/etc/passwd"]}, "no path", "src/a.py"),
    ({"reads": ["a/../b"]}, "plainly", "src/a.py"),
    ({"hosts": ["https://example.com"]}, "no host", "example.com:443"),
    ({"resources": [""]}, "no name", ""),
    ({"reads": ["**"]}, "many things", "judges=True"),
    ({"hosts": ["*.example.com"]}, "many things", "judges=True"),
    ({"repeat": "once"}, "no repeat 'once'", "safe"),
    ({"repeat": lambda pth: "safe"}, '"pth" of its repeat', '"path"'),
    ({"repeat": lambda key: "safe"}, '"key" of its repeat', "path"),
    ({"probe": lambda kee: None}, '"kee" of its probe', '"key"'),
    ({"undo": lambda nothing: None}, '"nothing" of its undo', ""),
    ({"undo": lambda path, /: None}, '"path" of its undo', ""),
    ({"probe": 3}, "probe is no function", "function itself"),
    ({"estimate": {"second": 1}}, '"second"', '"seconds"'),
    ({"skills": "weather"}, "skills is a text", '["weather"]'),
    ({"skills": ["the weather"]}, "'the weather' is no name of a skill", "letters"),
    ({"skills": [3]}, "3 is no name of a skill", "letters"),
    ({"achieves": "copied"}, "achieves is a text", '["copied"]'),
    ({"achieves": [3]}, "achieves: 3 is no fact", "as in tested"),
    ({"achieves": ["at(a, b"]}, 'achieves: "at(a, b" is no fact', "quotes"),
    ({"achieves": ["writes"]}, "effect word", "writes_it"),
    ({"achieves": ["copied(?pth)"]}, "no argument ?pth", '"path"'),
    ({"requires": ["there(?path)"]}, "but not what it achieves", "achieves="),
    ({"estimate": {"seconds": -1}}, "-1 seconds", "not negative"),
    ({"estimate": {"usd": float("nan")}}, "nan usd", "not negative"),
    ({"judges": True}, "no context", "context: Context"),
    ({"failures": [{"status": 418}]}, "no list of rules", "Rule("),
    ({"failures": 418}, "no list of rules", "Rule("),
]


@pytest.mark.parametrize(("said", "flaw", "hint"), REFUSED, ids=[str(said)[:30] for said, _, _ in REFUSED])
def test_what_cannot_be_so_is_refused_at_once(said, flaw, hint):
    with pytest.raises(PerdureError) as caught:

        @tool(name="files.copy", **said)
        def copy(path: str, target: str = "") -> None: ...

    assert caught.value.code == "PRD5006"
    assert caught.value.message.startswith('"files.copy": ')
    assert flaw in caught.value.message
    assert caught.value.help
    assert hint in caught.value.help


@pytest.mark.parametrize(("said", "flaw"), [({"judges": True}, "no guard"), ({"staged": True}, "no hands"), ({"staged": lambda path: True}, "no hands")])  # fmt: skip
def test_what_a_process_of_its_own_cannot_do_is_not_promised(said, flaw):
    def copy(path: str, context: Context) -> None: ...

    with pytest.raises(PerdureError) as caught:
        tool(name="files.copy", isolate=True, **said)(copy)
    assert caught.value.code == "PRD5006"
    assert flaw in caught.value.message
    assert "leave isolate out" in caught.value.help
    assert tool(name="files.copy", **said)(copy).name == "files.copy"


def test_what_can_be_so_is_taken():
    def probe(path, key, context, output, extra=None, **more): ...
    def undo(path, ctx, *rest): ...

    @tool(
        name="files.copy",
        repeat=lambda path: "safe" if path else "never",
        effects=["reads", "writes", "network", "irreversible", "costs"],
        reads=["{path}", "a/b.txt"],
        writes=["{target}/{path}.bak"],
        hosts=["{path}:443", "example.com", "[::1]:80"],
        resources=["printer", "db:{path}"],
        judges=True,
        probe=probe,
        undo=undo,
        estimate=dict.fromkeys(AMOUNTS, 1),
    )
    def copy(path: str, ctx: Context, target: str = "") -> None: ...

    assert [deed.what for deed in copy.deeds({"path": "x", "target": "t"})] == [
        "files.copy", "x", "a/b.txt", "t/x.bak", "x:443", "example.com", "[::1]:80", "printer", "db:x",
    ]  # fmt: skip


def test_nothing_in_an_argument_is_a_pattern_or_an_argument_again():
    @tool(name="files.copy", effects=[], writes=["{path}"])
    def copy(path: str, target: str) -> None: ...

    assert copy.deeds({"path": "{target}", "target": "secret"})[1].what == "{target}"
    assert copy.deeds({"path": "**", "target": ""})[1].what == "**"

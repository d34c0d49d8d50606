"""S3, S5: deeds are judged by the strictest layer, and what can be written in two ways is denied. The laws of `core.policy`.

E6.
"""

from fnmatch import fnmatchcase
from glob import escape
from ipaddress import ip_address
from itertools import product

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from perdure.core.deeds import LONGEST, LONGEST_COMMAND, SHOWN, is_host, split_host
from perdure.core.policy import (
    FEW,
    LINE,
    Deed,
    Judgement,
    Layer,
    Terms,
    is_contained,
    is_nothing,
    judge,
    names_host,
    strictest,
    told,
)

RANK = ["allow", "ask", "deny"]
FIELDS = {
    "call": "tools",
    "read": "files_read",
    "write": "files_write",
    "connect": "network",
    "run": "commands",
    "use": "resources",
}
EFFECTS = ("reads", "writes", "network", "irreversible", "costs")

# ------------------------------------------------------------ worlds of few names, so that patterns often match

names = st.sampled_from(["a", "b", "ab", "a.b", "b.a"])
name_patterns = st.one_of(names, st.sampled_from(["*", "a*", "?", "*.b", "a.?"]))
paths = st.lists(st.sampled_from(["a", "b", "ab.py"]), min_size=1, max_size=4).map("/".join)
path_patterns = st.lists(st.sampled_from(["a", "b", "ab.py", "*", "**", "?", "*.py"]), min_size=1, max_size=4).flatmap(
    lambda parts: st.sampled_from(["/".join(parts), "/".join(parts) + "/"])
)
hosts = st.sampled_from(["a.example", "b.a.example", "example", "127.0.0.1:80", "[::1]:443", "a.example:80"])
host_patterns = st.one_of(hosts, st.sampled_from(["*", "*:*", "*.example", "*.a.example:*", "*.example:80", "[::1]:*"]))
words = st.lists(st.sampled_from(["a", "b", "-x"]), min_size=1, max_size=4).map(tuple)
word_patterns = st.lists(st.sampled_from(["a", "b", "-?", "*", "-x"]), min_size=1, max_size=4).map(tuple)
effect_words = st.lists(st.sampled_from(EFFECTS), max_size=3, unique=True).map(tuple)


def deeds_of(kind):
    return {
        "call": st.builds(Deed, st.just("call"), names, effect_words),
        "read": st.builds(Deed, st.just("read"), paths),
        "write": st.builds(Deed, st.just("write"), paths),
        "connect": st.builds(Deed, st.just("connect"), hosts),
        "run": words.map(lambda each: Deed("run", each[0], each)),
        "use": st.builds(Deed, st.just("use"), names),
    }[kind]


def terms_of(patterns):
    some = st.lists(patterns, max_size=2).map(tuple)
    return st.builds(Terms, st.none() | some, some, some)


deeds = st.sampled_from(list(FIELDS)).flatmap(deeds_of)
layers = st.builds(
    Layer,
    name=st.sampled_from(["user", "plan", "step"]),
    files_read=terms_of(path_patterns),
    files_write=terms_of(path_patterns),
    network=terms_of(host_patterns),
    commands=terms_of(word_patterns),
    tools=terms_of(name_patterns),
    resources=terms_of(name_patterns),
    effects=st.builds(Terms, st.none() | effect_words, effect_words, effect_words),
)


def verdict(deed, *layers):
    return judge(layers, deed).verdict


def one(kind, **terms):
    return Layer("rules", **{FIELDS[kind]: Terms(**{word: tuple(said) for word, said in terms.items()})})


def run(*words):
    return Deed("run", words[0], words)


# ------------------------------------------------------------ law 1: the strictest, and layers only take away


@given(st.lists(layers, max_size=4).map(tuple), deeds)
def test_the_verdict_is_the_strictest_that_any_layer_gives(some, deed):
    alone = [verdict(deed, each) for each in some]
    found = judge(some, deed)
    assert found.verdict == max(alone, key=RANK.index, default="allow")
    if found.verdict == "allow":
        assert bool(found.by) == bool(found.why), "who allowed it says how; nobody says nothing"
        assert found.by in ("", *(each.name for each in some))
    else:
        assert found == judge((some[alone.index(found.verdict)],), deed), "the first of the strictest is named"
        assert found.why


@given(st.lists(layers, max_size=3).map(tuple), layers, st.integers(0, 3), deeds)
def test_an_added_layer_can_only_take_away(some, added, place, deed):
    more = [*some[:place], added, *some[place:]]
    assert RANK.index(verdict(deed, *more)) >= RANK.index(verdict(deed, *some))


@given(layers, st.sampled_from(["ask", "deny"]), st.data())
def test_a_rule_that_takes_away_only_takes_away(layer, word, data):
    deed = data.draw(deeds)
    field = FIELDS[deed.kind]
    said = getattr(layer, field)
    pattern = data.draw({"run": word_patterns, "connect": host_patterns}.get(deed.kind, path_patterns | name_patterns))
    more = msgspec.structs.replace(said, **{word: (*getattr(said, word), pattern)})
    stricter = msgspec.structs.replace(layer, **{field: more})
    assert RANK.index(verdict(deed, stricter)) >= RANK.index(verdict(deed, layer))


@given(st.lists(layers, max_size=3).map(tuple), st.lists(deeds, max_size=4))
def test_several_deeds_are_judged_as_the_strictest_of_them(some, several):
    found = [judge(some, deed) for deed in several]
    assert strictest(found) == max((each.verdict for each in found), key=RANK.index, default="allow")


def test_no_deeds_are_allowed():
    assert strictest([]) == "allow"


# ------------------------------------------------------------ law 2: silence


@given(deeds, st.lists(layers, max_size=3).map(tuple))
def test_a_layer_says_nothing_about_what_it_does_not_mention(deed, some):
    assert judge((), deed) == Judgement(deed)
    assert judge((Layer("silent"),), deed) == Judgement(deed)
    assert verdict(deed, *some, Layer("silent")) == verdict(deed, *some)


@given(layers, st.sampled_from(list(FIELDS)), st.data())
def test_a_deed_is_judged_by_its_own_terms_and_its_effects_alone(layer, kind, data):
    deed = data.draw(deeds_of(kind))
    bare = Layer(layer.name, effects=layer.effects, **{FIELDS[kind]: getattr(layer, FIELDS[kind])})
    assert judge((layer,), deed) == judge((bare,), deed)


# ------------------------------------------------------------ law 3: what cannot be understood

CLIMBING = [
    "", ".", "..", "/", "/etc/passwd", "../x", "a/../b", "a/..", "a//b", "a/", "./a", "a/./b", "a\\b", "..\\x", "\\\\host\\x",
    "a\0b", "a\nb", "a\x7f", "a\x1b[2J", "a\ud800", "x" * (LONGEST + 1), "a/" * 9 + "/b",
]  # fmt: skip
NO_HOSTS = [
    "", ":", ":443", "a:", "a:0", "a:65536", "a:080", "a:0443", "a:+80", "a:8 0", "a:٤٤٣", "a:99999999999", "a b", "a..b", "a.", ".a",
    "-a.example", "a-.example", "a_b.example", "exa\u212aple", "\u212a.example", "ex\u00e4mple.com", "user@a.example", "a.example/x", "a.example#",
    "http://a.example", "a.example:443:80", "a\0.example", "a\r\n.example", "%61.example", "*.example", "*", "a" * 64 + ".example",
    ".".join(["a" * 60] * 5), "127.1", "2130706433", "0x7f.0.0.1", "0x7f000001", "017700000001", "127.0.0.01", "127.0.0.256", "1.2.3.4.5", "foo.123",
    "a.0x", "[::1", "::1", "[0::1]", "[0:0:0:0:0:0:0:1]", "[::0001]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[fe80::1%eth0]", "[]", "[..]",
    "[12345::]", "[::1]x:80", "[::1]:0",
]  # fmt: skip
NO_COMMANDS = [
    Deed("run", ""),
    Deed("run", "git"),
    Deed("run", "git", ("rm", "-rf")),
    Deed("run", "git", ("",)),
    Deed("run", "", ("",)),
    run("git", "a\0b"),
    run("git", "\udcff"),
    run("git\n", "x"),
    run("cat", "x" * (LONGEST_COMMAND + 1)),
]
FLAWED = [
    *(Deed(kind, path) for kind in ("read", "write") for path in CLIMBING),
    *(Deed("connect", host) for host in NO_HOSTS),
    *NO_COMMANDS,
    Deed("call", ""),
    Deed("use", ""),
    Deed("use", "x\n"),
    Deed("call", "x" * (LONGEST + 1)),
]


@pytest.mark.parametrize(
    ("host", "is_one"),
    [
        ("a.example", True),
        ("127.0.0.1", True),
        ("[::1]", True),
        ("[2001:db8::]", True),
        ("A.example", False),
        ("127.1", False),
        ("ä.example", False),
    ],
)
def test_a_host_has_one_way_to_be_written(host, is_one):
    assert is_host(host) is is_one


@pytest.mark.parametrize("deed", FLAWED, ids=lambda deed: f"{deed.kind} {deed.what[:30]!a}")
def test_what_cannot_be_understood_is_denied_whatever_is_allowed(deed):
    everything = one(deed.kind, allow=[("*",)] if deed.kind == "run" else ["**", "*", "*:*"])
    for layers in ((), (everything,)):
        found = judge(layers, deed)
        assert (found.verdict, found.by) == ("deny", "perdure")
        assert found.why


def test_what_is_written_plainly_is_understood():
    plain = [
        *(Deed("write", path) for path in ("a", "a/b.py", "...", "..a/b", "a b", "[id]/x", "é/ß", "a:b", "%2e%2e/a", "-a")),
        *(Deed("connect", host) for host in ("a", "A.Example:80", "xn--bcher-kva.example", "127.0.0.1:65535", "[::1]:1", "[2001:db8::1]", "3com.example", "1e100.net:443")),
        run("bash", "-c", "a\nb\t\x1b"),
        run("./x", ""),
    ]  # fmt: skip
    assert [deed for deed in plain if verdict(deed) != "allow"] == []


@given(st.text(alphabet="aA1.:-_[]/\\@%\0\u212a0x", max_size=12) | st.text(max_size=8))
@example("1.1.1.1:1")
def test_a_host_that_is_judged_has_one_spelling(text):
    """S5: what was judged is what will be dialled."""
    if verdict(Deed("connect", text)) != "allow":
        return
    host, port = split_host(text)
    assert text.isascii()
    assert port == str(int(port))
    assert 1 <= int(port) <= 65_535
    assert is_host(host)
    bare = host.strip("[]")
    try:
        assert str(ip_address(bare)) == bare
    except ValueError:
        assert not host.rpartition(".")[2].isdigit(), "a resolver could take it for an address"


@given(st.text(alphabet="a./\\\0", max_size=10))
def test_a_path_that_is_judged_stays_below_the_root_and_has_one_spelling(text):
    """S3."""
    from posixpath import isabs, normpath

    if verdict(Deed("write", text)) == "allow":
        assert not isabs(text)
        assert normpath(text) == text
        assert text.split("/")[0] not in ("..", ".")


# ------------------------------------------------------------ law 4: patterns


def naive(pattern, parts, any_number):
    """The meaning of a pattern, as slowly as it can be said."""
    if not pattern:
        return not parts
    if pattern[0] == any_number:
        return any(naive(pattern[1:], parts[n:], any_number) for n in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and naive(pattern[1:], parts[1:], any_number)


@given(path_patterns, paths)
def test_paths_match_as_they_should(pattern, path):
    whole = pattern + "**" if pattern.endswith("/") else pattern
    wanted = naive(whole.split("/"), path.split("/"), "**")
    assert (verdict(Deed("write", path), one("write", allow=[pattern])) == "allow") is wanted
    assert (verdict(Deed("read", path), one("read", deny=[pattern])) == "deny") is wanted


@given(word_patterns, words)
def test_commands_match_as_they_should(pattern, command):
    wanted = naive(list(pattern), list(command), "*")
    assert (verdict(run(*command), one("run", allow=[pattern])) == "allow") is wanted
    assert (verdict(run(*command), one("run", ask=[pattern])) == "ask") is wanted


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("src/**", ["src", "src/a", "src/a/b"], ["srcs/a", "a/src/b"]),
        ("src/", ["src/a", "src/a/b"], ["srcs/a"]),
        ("src/*", ["src/a"], ["src", "src/a/b"]),
        ("**/*.py", ["a.py", "a/b.py"], ["a.pyc", "a/b"]),
        ("**", ["a", "a/b/c"], []),
        ("app/[id]/page", ["app/[id]/page"], ["app/i/page", "app/d/page"]),
        ("[!a]", ["[!a]"], ["b"]),
        ("a?c", ["abc"], ["ac", "abbc"]),
        ("*.ENV", ["x.ENV"], ["x.env"]),
        ("a.c", ["a.c"], ["abc"]),
        ("**/.git/**", [".git", ".git/config", "sub/.git/hooks/x"], [".gitignore", "git/x"]),
    ],
)
def test_paths_by_example(pattern, inside, outside):
    layer = one("write", allow=[pattern])
    assert [path for path in inside if verdict(Deed("write", path), layer) != "allow"] == []
    assert [path for path in outside if verdict(Deed("write", path), layer) != "deny"] == []


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("a.example", ["a.example:443", "a.example", "A.EXAMPLE"], ["a.example:80", "b.a.example", "xa.example"]),
        ("A.example:80", ["a.example:80"], ["a.example"]),
        ("*.example", ["a.example", "b.a.example:443"], ["example", "a.example:80", "aexample", "a.example.evil"]),
        ("*.example:*", ["a.example:1"], ["example:1"]),
        ("*", ["a.example", "[::1]"], ["a.example:80"]),
        ("*:80", ["a.example:80", "127.0.0.1:80"], ["a.example:8080"]),
        ("[::1]", ["[::1]", "[::1]:443"], ["[::1]:80", "[::2]"]),
        ("127.0.0.1:*", ["127.0.0.1:9"], ["127.0.0.11:9"]),
    ],
)
def test_hosts_by_example(pattern, inside, outside):
    layer = one("connect", allow=[pattern])
    assert [host for host in inside if verdict(Deed("connect", host), layer) != "allow"] == []
    assert [host for host in outside if verdict(Deed("connect", host), layer) != "deny"] == []


@given(st.text(alphabet="a*?[]!/", min_size=1, max_size=6), st.text(alphabet="a*?[]!/", min_size=1, max_size=6))
def test_an_escaped_path_matches_itself_alone(path, other):
    assume(verdict(Deed("write", path)) == "allow")
    layer = one("write", ask=[escape(path)])
    assert verdict(Deed("write", path), layer) == "ask"
    if verdict(Deed("write", other)) == "allow":
        assert (verdict(Deed("write", other), layer) == "ask") is (other == path)


def test_only_the_outermost_layer_names_a_host_and_no_pattern_does():
    named, like, silent = one("connect", allow=["localhost:80"]), one("connect", allow=["*:*", "*.example"]), Layer("x")
    deed = Deed("connect", "localhost:80")
    assert names_host([named, like], deed)
    assert not any(names_host(layers, deed) for layers in ([], [silent, named], [like, named], [like]))
    assert not names_host([named], Deed("connect", "localhost:81"))


def test_a_command_by_its_path_is_denied_by_its_name_but_not_allowed_by_it():
    layer = one("run", deny=[("git", "push", "*")])
    for program in ("git", "/usr/bin/git", "./git", "../x/git"):
        assert verdict(run(program, "push", "origin"), layer) == "deny"
        assert verdict(run(program, "pull"), layer) == "allow"
    allowing = one("run", allow=[("git", "*")])
    assert [verdict(run(program, "x"), allowing) for program in ("git", "./git", "/usr/bin/git")] == [
        "allow",
        "deny",
        "deny",
    ]
    assert verdict(run("/usr/bin/git", "x"), one("run", ask=[("/usr/bin/git", "*")])) == "ask"


@pytest.mark.timeout(20)
def test_no_pattern_takes_long():
    letters, parts = "a" * (LONGEST - 1), "a/" * (LONGEST // 2 - 1) + "b"
    assert verdict(Deed("write", letters), one("write", allow=["*a" * 60 + "b"])) == "deny"
    assert verdict(Deed("write", parts), one("write", allow=["**/a/" * 60 + "c"])) == "deny"
    assert verdict(run("a", *["a"] * 20_000), one("run", allow=[("*", "a") * 30 + ("b",)])) == "deny"


# ------------------------------------------------------------ law 5 and 6: within a layer


@pytest.mark.parametrize("rules", list(product([None, (), ("src/**",)], [(), ("src/**",)], [(), ("src/**",)])))
def test_within_a_layer_deny_wins_then_what_is_not_allowed_then_asking(rules):
    allow, ask, deny = rules
    layer = Layer("rules", files_write=Terms(allow, ask, deny))
    wanted = "deny" if deny or allow == () else "ask" if ask else "allow"
    assert verdict(Deed("write", "src/a.py"), layer) == wanted


@pytest.mark.parametrize(
    ("kind", "what", "word"), [("read", "a", "reads"), ("write", "a", "writes"), ("connect", "a", "network")]
)
def test_a_deed_has_the_effect_that_goes_with_it(kind, what, word):
    for said in ("ask", "deny"):
        assert verdict(Deed(kind, what), Layer("x", effects=Terms(**{said: (word,)}))) == said
        others = tuple(each for each in EFFECTS if each != word)
        assert verdict(Deed(kind, what), Layer("x", effects=Terms(**{said: others}))) == "allow"


@given(effect_words, st.builds(Terms, st.none() | effect_words, effect_words, effect_words))
def test_the_effects_of_a_call_are_judged_each(effects, terms):
    def alone(word):
        if word in terms.deny or (terms.allow is not None and word not in terms.allow):
            return "deny"
        return "ask" if word in terms.ask else "allow"

    found = verdict(Deed("call", "mail.send", effects), Layer("x", effects=terms))
    assert found == max(map(alone, effects), key=RANK.index, default="allow")


@pytest.mark.parametrize("deed", [run("a"), Deed("use", "a"), Deed("call", "a")])
def test_what_says_nothing_of_effects_has_none(deed):
    assert verdict(deed, Layer("x", effects=Terms(deny=EFFECTS))) == "allow"


# ------------------------------------------------------------ sentences


@pytest.mark.parametrize(
    ("deed", "layer", "why"),
    [
        (Deed("write", "a/b"), one("write", deny=["a/**"]), "write a/b is denied by a/**"),
        (Deed("write", "b"), one("write", allow=["a/**", "c"]), "write b is not among what is allowed: a/**, c"),
        (Deed("connect", "a:80"), one("connect", allow=[]), "connect a:80 is not among what is allowed: nothing"),
        (Deed("use", "g"), one("use", allow="abcdef"), "use g is not among what is allowed: a, b, c, d, e, …"),
        (run("git", "push"), one("run", ask=[("git", "*")]), "run git push needs approval by git *"),
        (Deed("call", "m.s", ("costs",)), Layer("x", effects=Terms(ask=("costs",))), 'call m.s needs approval by its effect "costs"'),
        (Deed("read", "a"), Layer("x", effects=Terms(deny=("reads",))), 'read a is denied by its effect "reads"'),
    ],
)  # fmt: skip
def test_a_verdict_is_told_in_a_sentence(deed, layer, why):
    found = judge((layer,), deed)
    assert (found.by, found.why) == (layer.name, why)


def test_a_long_command_is_not_repeated_whole():
    found = judge((one("run", deny=[("*",)]),), run("cat", "x" * 10_000))
    assert len(found.why) < LINE + 50
    assert "…" in found.why


@given(st.lists(layers, max_size=2).map(tuple), deeds)
def test_layers_and_judgements_cross_over_as_json(some, deed):
    found = judge(some, deed)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Judgement) == found
    again = msgspec.json.decode(msgspec.json.encode(some), type=tuple[Layer, ...])
    assert judge(again, deed) == found


# ------------------------------------------------------------------------------- at the borders


def test_of_those_that_allow_the_innermost_is_named():
    layers = [Layer(name, tools=Terms(allow=("a",))) for name in ("user", "plan", "step")]
    found = judge((*layers, Layer("silent")), Deed("call", "a"))
    assert (found.verdict, found.by, found.why) == ("allow", "step", "as a")


def test_of_those_that_are_as_strict_the_outermost_is_named():
    for word in ("ask", "deny"):
        layers = tuple(Layer(name, tools=Terms(**{word: ("a",)})) for name in ("user", "plan"))
        assert (judge(layers, Deed("call", "a")).verdict, judge(layers, Deed("call", "a")).by) == (word, "user")


def test_a_decision_is_what_somebody_has_said():
    deed = Deed("call", "a")
    assert is_nothing(Judgement(deed))
    assert not is_nothing(Judgement(deed, "allow", "user"))
    assert not is_nothing(Judgement(deed, "deny"))


def test_nobody_is_contained_unless_a_layer_says_so():
    assert not is_contained(())
    assert not is_contained((Layer("user"), Layer("plan")))
    assert is_contained((Layer("user"), Layer("plan", contained=True)))


@pytest.mark.parametrize("kind", ["read", "call", "use"])
def test_names_may_be_so_long_and_no_longer(kind):
    assert verdict(Deed(kind, "a" * LONGEST)) == "allow"
    found = judge((), Deed(kind, "a" * (LONGEST + 1)))
    assert (found.verdict, found.by) == ("deny", "perdure")
    assert found.why == f"{'a' * SHOWN!r}… is too long, or holds control characters"


def test_a_name_that_cannot_be_judged_is_told_whole_if_it_is_short():
    for text in ("a\x1b", "a\x1b" + "b" * (SHOWN - 2)):
        assert judge((), Deed("use", text)).why == f"{text!a} is too long, or holds control characters"


def test_commands_may_be_so_long_and_no_longer():
    for more, wanted in ((0, "allow"), (1, "deny")):
        words = ("a", "b" * (LONGEST_COMMAND - 1 + more))
        assert verdict(Deed("run", "a", words)) == wanted


def test_a_deed_is_told_in_a_line():
    short, long = "a" * (LINE - len("use ")), "a" * (LINE - len("use ") + 1)
    assert told(Deed("use", short)) == f"use {short}"
    assert told(Deed("use", long)) == f"use {short[:-1]}…"
    assert len(told(Deed("use", long))) == LINE


@pytest.mark.parametrize(("count", "shown"), [(0, "nothing"), (1, "p0"), (FEW, ", ".join(f"p{n}" for n in range(FEW)))])
def test_what_is_allowed_is_told_if_it_is_little(count, shown):
    layer = Layer("user", tools=Terms(allow=tuple(f"p{n}" for n in range(count))))
    assert judge((layer,), Deed("call", "a")).why == f"call a is not among what is allowed: {shown}"
    more = Layer("user", tools=Terms(allow=tuple(f"p{n}" for n in range(FEW + 1))))
    assert judge((more,), Deed("call", "a")).why.endswith(f"p{FEW - 1}, …")


def test_a_program_called_by_its_path_is_denied_by_its_name_and_any_words():
    layer = Layer("user", commands=Terms(deny=(("git", "*", "-f"),)))
    assert verdict(Deed("run", "/usr/bin/git", ("/usr/bin/git", "push", "x", "-f")), layer) == "deny"
    assert verdict(Deed("run", "/usr/bin/git", ("/usr/bin/git", "push", "x")), layer) == "allow"

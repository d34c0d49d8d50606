"""What may be done: deeds, and layers of rules that judge them.

Laws, held by the tests:

1. The verdict on a deed is the strictest that any layer gives; a layer that is added can only take away.
2. A layer says nothing about what it does not mention. No layer at all allows everything.
3. A deed that cannot be understood (a path that climbs, a host that is no host, an empty command) is denied.
4. Patterns are compared with deeds, never with each other.
"""

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

Verdict = Literal["allow", "ask", "deny"]
DeedKind = Literal["call", "read", "write", "connect", "run", "use"]
"""`call` a tool, `read` or `write` a file of the workspace, `connect` to a host, `run` a command, `use` a resource."""
_RANK: Final[dict[Verdict, int]] = {"allow": 0, "ask": 1, "deny": 2}
_IMPLIED: Final[dict[DeedKind, str]] = {"read": "reads", "write": "writes", "connect": "network"}
HOST: Final = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*|\[[0-9a-f:.]{2,45}\]")
"""A host as it may be judged: lower case, no trailing dot, an IPv6 address in brackets."""
LONGEST_HOST: Final = 253
_LIKE_A_NUMBER: Final = re.compile(r"\d+|0x[0-9a-f]*")
"""A last label that some parsers read as a number, and with it the host as an address: 2130706433, 0x7f.1."""
_BYTE: Final = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4: Final = re.compile(rf"{_BYTE}(\.{_BYTE}){{3}}")
_PORT: Final = re.compile(r"[1-9][0-9]{0,4}")
LAST_PORT: Final = 65_535
LONGEST: Final = 4096
FEW: Final = 5
"""Patterns that a sentence names."""


class Deed(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Something that is about to be done."""

    kind: DeedKind
    what: str
    """The tool, the path from the workspace's root, `host:port`, the command's first word, or the resource."""
    words: tuple[str, ...] = ()
    """The words of a command; the effects of a call."""


class Terms(msgspec.Struct, frozen=True, gc=False):
    """Patterns of names: what is allowed, asked about and denied. `allow` of None: everything."""

    allow: tuple[Any, ...] | None = None
    ask: tuple[Any, ...] = ()
    deny: tuple[Any, ...] = ()


class Layer(msgspec.Struct, frozen=True):
    """What one author of rules says: the user, the plan, a group, a step."""

    name: str
    files_read: Terms = Terms()
    files_write: Terms = Terms()
    network: Terms = Terms()
    commands: Terms = Terms()
    tools: Terms = Terms()
    resources: Terms = Terms()
    effects: Terms = Terms()
    """By effect word."""


class Judgement(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What was said about a deed, and by whom."""

    deed: Deed
    verdict: Verdict = "allow"
    by: str = ""
    """The name of the layer; empty: nobody minded."""
    why: str = ""
    """A sentence for people."""


def judge(layers: Iterable[Layer], deed: Deed) -> Judgement:
    """The strictest verdict that any layer gives on a deed."""
    if flaw := _flaw_of(deed):
        return Judgement(deed, "deny", "perdure", flaw)
    found = Judgement(deed)
    for layer in layers:
        verdict, why = _verdict(layer, deed)
        if _RANK[verdict] > _RANK[found.verdict]:
            found = Judgement(deed, verdict, layer.name, why)
    return found


def strictest(judgements: Iterable[Judgement]) -> Verdict:
    """The verdict on several deeds together."""
    found: Verdict = "allow"
    for each in judgements:
        found = max(found, each.verdict, key=_rank)
    return found


def _rank(verdict: Verdict) -> int:
    return _RANK[verdict]


# ------------------------------------------------------------------------------- one layer


def _verdict(layer: Layer, deed: Deed) -> tuple[Verdict, str]:
    """What a layer says about the deed itself, and about the effects it has."""
    rules, matches = _RULES[deed.kind]
    words = deed.words if deed.kind == "call" else (_IMPLIED[deed.kind],) if deed.kind in _IMPLIED else ()
    named = _by_rules(getattr(layer, rules), deed, matches)
    effects = [_by_rules(layer.effects, Deed("use", word), _is_named) for word in words] if words else []
    return max(named, *effects, key=lambda each: _RANK[each[0]]) if effects else named


def _by_rules(rules: Terms, deed: Deed, matches: Any) -> tuple[Verdict, str]:
    for pattern in rules.deny:
        if matches(pattern, deed):
            return "deny", f"{_told(deed)} is denied by {_shown(pattern)}"
    if rules.allow is not None and not any(matches(pattern, deed) for pattern in rules.allow):
        return "deny", f"{_told(deed)} is not among what is allowed: {_listed(rules.allow)}"
    for pattern in rules.ask:
        if matches(pattern, deed):
            return "ask", f"{_told(deed)} needs approval by {_shown(pattern)}"
    return "allow", ""


def _told(deed: Deed) -> str:
    return f"{deed.kind} {' '.join(deed.words)}" if deed.kind == "run" else f"{deed.kind} {deed.what}"


def _shown(pattern: Any) -> str:
    return pattern if isinstance(pattern, str) else " ".join(pattern)


def _listed(patterns: Sequence[Any]) -> str:
    told = ", ".join(_shown(each) for each in patterns[:FEW]) + (", …" if len(patterns) > FEW else "")
    return told or "nothing"


# ------------------------------------------------------------------------------- matching


def _is_named(pattern: str, deed: Deed) -> bool:
    return _like(pattern).fullmatch(deed.what) is not None


def _is_path(pattern: str, deed: Deed) -> bool:
    """`**` stands for any number of directories, `*` and `?` for letters of one name; `dir/` for all that is in it."""
    whole = pattern + "**" if pattern.endswith("/") else pattern
    return _in_line(tuple(whole.split("/")), tuple(deed.what.split("/")), "**")


def _is_command(pattern: Sequence[str], deed: Deed) -> bool:
    """A word `*` stands for any number of words."""
    return _in_line(tuple(pattern), deed.words, "*")


def _is_host(pattern: str, deed: Deed) -> bool:
    """`host:port`; `*.example.com` stands for hosts below it, port `*` for any port, no port for 443."""
    host, port = split_host(deed.what)
    wanted, wanted_port = split_host(pattern)
    if wanted_port not in ("*", port):
        return False
    return host.endswith(wanted[1:]) if wanted.startswith("*.") else wanted in ("*", host)


def split_host(text: str) -> tuple[str, str]:
    """Host and port of `host:port`, `host`, `[v6]:port`. Without a port it is 443."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return text.lower(), "443"
    return host.lower(), port


def is_named(layers: Sequence[Layer], deed: Deed) -> bool:
    """Whether the outermost layer allows a connection by the very name of its host.

    A pattern that fits is not enough, and no layer further in can say it: what a name such as `localhost` or an address
    leads to lies behind our own walls.
    """
    host, _ = split_host(deed.what)
    patterns = (layers[0].network.allow or ()) if layers else ()
    return any(split_host(pattern)[0] == host and _is_host(pattern, deed) for pattern in patterns)


def _in_line(pattern: tuple[str, ...], words: tuple[str, ...], any_number: str) -> bool:
    """Whether words match a pattern, one for one but for those that stand for any number. Never backtracks."""
    reached = {0}
    for part in pattern:
        if part == any_number:
            reached = set(range(min(reached), len(words) + 1)) if reached else reached
        else:
            like = _like(part)
            reached = {n + 1 for n in reached if n < len(words) and like.fullmatch(words[n])}
    return len(words) in reached


@lru_cache(maxsize=4096)
def _like(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


_RULES: Final[dict[DeedKind, tuple[str, Any]]] = {
    "call": ("tools", _is_named),
    "read": ("files_read", _is_path),
    "write": ("files_write", _is_path),
    "connect": ("network", _is_host),
    "run": ("commands", _is_command),
    "use": ("resources", _is_named),
}

# ------------------------------------------------------------------------------- what cannot be judged


def _flaw_of(deed: Deed) -> str:
    if len(deed.what) > LONGEST or any(character < " " or character == "\x7f" for character in deed.what):
        return "it is too long, or holds control characters"
    if deed.kind in ("read", "write"):
        return _path_flaw(deed.what)
    if deed.kind == "connect":
        host, port = split_host(deed.what) if deed.what.isascii() else ("", "")
        return "" if is_host(host) and is_port(port) else f"{deed.what!r} is no host with a port"
    return "" if deed.what else "it has no name"


def is_host(host: str) -> bool:
    """Whether it is a host in the one way it can be written: a name, or an address in its canonical form.

    What one program reads as a name and another as an address is neither.
    """
    if len(host) > LONGEST_HOST or not host.isascii() or not HOST.fullmatch(host):
        return False
    if host.startswith("["):
        return _is_ipv6(host[1:-1])
    return is_ipv4(host) or not _LIKE_A_NUMBER.fullmatch(host.rpartition(".")[2])


def is_ipv4(host: str) -> bool:
    """Whether it is four decimal numbers without needless zeros."""
    return _IPV4.fullmatch(host) is not None


def _is_ipv6(text: str) -> bool:
    """One that only wraps an IPv4 address is written as that."""
    from ipaddress import IPv6Address  # noqa: PLC0415  few rules name one

    try:
        address = IPv6Address(text)
    except ValueError:
        return False
    return address.ipv4_mapped is None and str(address) == text


def is_port(port: str) -> bool:
    """Whether it is a port, without needless zeros."""
    return _PORT.fullmatch(port) is not None and int(port) <= LAST_PORT


def _path_flaw(path: str) -> str:
    if path in ("", ".") or path.startswith("/") or "\\" in path:
        return f"{path!r} is no path from the workspace's root"
    climbs = any(part in ("", ".", "..") for part in path.split("/"))
    return f"{path!r} is not written plainly: no empty parts, no `.` and no `..`" if climbs else ""

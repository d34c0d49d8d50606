"""Policies: rules that could never match anything. Where such a rule denies, it protects nothing.

Whether a plan allows itself too much is no question here: a layer can only take away from those around it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from perdure.plan.index import Index, Node
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import Policy, Terms
from perdure.plan.model.steps import Working
from perdure.plan.problems import Path, Problem

_LABEL: Final = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
_HOST: Final = re.compile(rf"\*|(?:\*\.)?(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)", re.IGNORECASE)
_PORT: Final = re.compile(r"\*|[1-9][0-9]{0,4}")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_HIDDEN: Final = re.compile("[\x00-\x1f\x7f]")
LAST_PORT: Final = 65_535
Flaw = tuple[str, str]
"""Why a pattern matches nothing, and what to write instead."""


def check_policies(index: Index) -> Iterator[Problem]:
    """Every rule of a plan that could never match."""
    for node in index.groups:
        for policy, path in _policies_of(node):
            yield from flaws_in(policy, path)


def _policies_of(node: Node) -> Iterator[tuple[Policy, Path]]:
    """A step's own policy, then that of the plan inside it."""
    if isinstance(node.step, Working) and node.step.policy:
        yield node.step.policy, (*node.path, "policy")
    if isinstance(node.holder, Plan) and node.holder.policy:
        yield node.holder.policy, (*node.path, *(("plan",) if node.step else ()), "policy")


def flaws_in(policy: Policy, path: Path = ()) -> Iterator[Problem]:
    """Rules of one policy that could never match."""
    for place, patterns, flaw_of in _lists(policy):
        for n, pattern in enumerate(patterns or ()):
            if flaw := flaw_of(pattern):
                yield Problem("PRD1414", flaw[0], (*path, *place, n), flaw[1])


_Listed = tuple[Path, Sequence[str] | Sequence[Sequence[str]] | None, Callable[..., Flaw | None]]


def _lists(policy: Policy) -> Iterator[_Listed]:
    for word in ("read", "write", "ask", "deny") if policy.files else ():
        yield ("files", word), getattr(policy.files, word), path_flaw
    for word in ("allow", "ask", "deny") if policy.commands else ():
        yield ("commands", word), getattr(policy.commands, word), command_flaw
    for name, said, flaw_of in (
        ("network", policy.network, host_flaw),
        ("tools", policy.tools, name_flaw),
        ("resources", policy.resources, name_flaw),
    ):
        if isinstance(said, Terms):
            yield from (((name, word), getattr(said, word), flaw_of) for word in ("allow", "ask", "deny"))
        else:
            yield (name,), said, flaw_of


# ------------------------------------------------------------------------------- one pattern


def path_flaw(pattern: str) -> Flaw | None:
    """Why a glob matches no file of a workspace."""
    if "\\" in pattern or _HIDDEN.search(pattern):
        return f"no file is called {_quoted(pattern)}", "write / between directories, and no control characters"
    if pattern.startswith(("/", "~/")):
        return f"{_quoted(pattern)} leads out of the workspace", "paths begin at the workspace's root: write src/**"
    parts = pattern.removesuffix("/").split("/")
    if any(part in ("", ".", "..") for part in parts):
        plain = "/".join(part for part in parts if part not in ("", ".", ".."))
        return f"{_quoted(pattern)} is no plain path, so nothing matches it", f"write {plain or '**'}"
    if glued := next((part for part in parts if "**" in part and part != "**"), ""):
        spread = pattern.replace(glued, "**/" + glued.replace("**", "*"))
        return f"`**` in {_quoted(pattern)} does not stand alone", f"between slashes it is any directories: {spread}"
    return None


def host_flaw(pattern: str) -> Flaw | None:
    """Why a pattern matches no host."""
    if scheme := _SCHEME.match(pattern):
        host = pattern[scheme.end() :].partition("/")[0]
        return f"{_quoted(pattern)} is an address of a page, not a host", f"write {host}"
    if "/" in pattern:
        return f"{_quoted(pattern)} is no host", "write host:port; ranges of addresses cannot be written"
    host, port = _split(pattern)
    if not _PORT.fullmatch(port) or (port != "*" and int(port) > LAST_PORT):
        return f"{_quoted(pattern)} has no port", f"write {host or 'example.com'}:443, or :* for any port"
    return None if _is_host(host) else _no_host(pattern, host)


def _no_host(pattern: str, host: str) -> Flaw:
    if "*" in host:
        return f"{_quoted(pattern)} is no host", "write *.example.com for what is below it, or * for every host"
    if host.endswith("."):
        return f"{_quoted(pattern)} ends with a dot", f"write {host.rstrip('.')}"
    if host.startswith("[") or host.count(":") > 1 or _NUMBER.fullmatch(host):
        hint = "write an IPv4 address as 192.0.2.1, an IPv6 address in brackets and in its short form, as [2001:db8::1]"
        return f"{_quoted(pattern)} is no plain address", hint
    return f"{_quoted(pattern)} is no host", "write host:port, as in example.com:443; other scripts as xn--…"


def _split(pattern: str) -> tuple[str, str]:
    host, colon, port = pattern.rpartition(":")
    return (host, port) if colon and not pattern.endswith("]") else (pattern, "443")


def _is_host(host: str) -> bool:
    if not host.isascii():
        return False
    if host.startswith("["):
        return host.endswith("]") and _is_address(host[1:-1].lower(), version=6)
    return bool(_HOST.fullmatch(host)) and (not _NUMBER.fullmatch(host) or _is_address(host, version=4))


def _is_address(text: str, version: int) -> bool:
    """Addresses in the one spelling that deeds are judged in."""
    from ipaddress import ip_address  # noqa: PLC0415  few plans name an address

    try:
        found = ip_address(text)
    except ValueError:
        return False
    return found.version == version and str(found) == text and getattr(found, "ipv4_mapped", None) is None


def command_flaw(pattern: Sequence[str]) -> Flaw | None:
    """Why a list of words matches no command."""
    if not pattern or not pattern[0]:
        return "an empty command matches nothing", 'write its words, as in [git, status], or ["*"] for every command'
    if len(pattern) == 1 and " " in pattern[0]:
        words = ", ".join(f'"{word}"' if "*" in word else word for word in pattern[0].split())
        return f"{_quoted(pattern[0])} is one word with blanks in it", f"a command is a list of words: write [{words}]"
    if any("\0" in word for word in pattern):
        return "no word of a command holds a NUL", "leave it out"
    return None


def name_flaw(pattern: str) -> Flaw | None:
    """Why a pattern matches no name."""
    if not pattern or _HIDDEN.search(pattern):
        return f"nothing is called {_quoted(pattern)}", "write a name, as in files.*; * stands for any letters"
    return None


def _quoted(pattern: str) -> str:
    return f'"{pattern}"' if len(pattern) <= 60 else f'"{pattern[:57]}…"'  # noqa: PLR2004  what a line can hold

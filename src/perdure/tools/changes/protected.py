"""Names that are not like others: what stands there is run, or trusted, or secret. The rules are one tuple."""

import unicodedata
from collections.abc import Iterable, Sequence
from glob import escape
from pathlib import Path
from typing import Final

import msgspec

from perdure.core.policy import Deed, Layer, Terms, Verdict, judge
from perdure.tools.failure import ToolFailure


class Rule(msgspec.Struct, frozen=True):
    """What is done about a name, at any depth, unless a policy names it outright."""

    pattern: str
    write: Verdict
    read: Verdict
    why: str
    hidden: bool = True
    """Whether it is not there for commands, if a person is asked who reads it."""


_HISTORY: Final = "it is the memory of version control, whose settings run programs"
_RUNS: Final = "what stands there is run, or tells programs what to run"
_KEPT: Final = "it is where people keep what nobody else should know"
_KEY: Final = "it may hold a key that nobody else should know"
_ENGINE: Final = "it belongs to the engine"

RULES: Final[tuple[Rule, ...]] = (
    *(Rule(name, "deny", "allow", _HISTORY) for name in (".git", ".hg", ".svn", ".bzr", ".jj", "_darcs", "CVS")),
    Rule(".perdure-*", "deny", "deny", _ENGINE),
    *(Rule(name, "ask", "allow", _RUNS) for name in (
        ".vscode", ".idea", ".devcontainer", ".github/workflows", ".github/actions", ".gitlab-ci.yml", ".circleci",
        ".gitmodules", ".gitattributes", ".gitconfig", ".husky", ".pre-commit-config.yaml", ".claude", ".codex",
        ".cursor", ".gemini", ".mcp.json", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", "perdure.toml",
    )),
    *(Rule(name, "ask", "ask", _KEPT) for name in (
        ".env", ".env.*", ".envrc", ".netrc", ".npmrc", ".pypirc", ".ssh", ".gnupg", ".aws", ".docker/config.json",
        ".git-credentials", ".pgpass", ".vault-token", "credentials.json", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
    )),
    # Tests bring keys of their own along, and fail without them: commands see these, tools ask first.
    *(Rule(name, "ask", "ask", _KEY, hidden=False) for name in (
        "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx",
    )),
)  # fmt: skip
"""`deny`: no tool does it, whatever a policy says. `ask`: a person agrees first, unless a policy names the place itself
(`.github/**` does, `**` does not). Writing `.git` is git's own business; an editor's settings, a workflow or a hook are
code that runs later, outside of every sandbox; a secret that was read may go anywhere.
"""


def folded(path: str) -> str:
    """A path as the least careful file system would read it: no case, no invisible letters, no streams."""
    return "/".join(_folded(part) for part in path.split("/"))


def _folded(name: str) -> str:
    if name.isascii():
        return name.lower().partition(":")[0].rstrip(". ") or name
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    seen = "".join(each for each in plain if unicodedata.category(each) != "Cf")
    return seen.partition(":")[0].rstrip(". ") or name


def rule_for(path: str) -> Rule | None:
    """The rule about a path, if there is one."""
    plain = folded(path)
    if not any(part.startswith(_HEADS) or part.endswith(_TAILS) for part in plain.split("/")):  # as of nearly all
        return None
    deed = Deed("read", plain)
    return next((each for each in RULES if judge((_LAYERS[each],), deed).verdict == "deny"), None)


def _head(rule: Rule) -> str:
    """How the first name of a rule begins; of one about endings, nothing."""
    return folded(rule.pattern.partition("/")[0].rstrip("*.")) if not _tail(rule) else ""


def _tail(rule: Rule) -> str:
    """How a name ends that a rule is about; of one about beginnings, nothing."""
    return rule.pattern[1:] if rule.pattern.startswith("*") else ""


def _is_meant(rule: Rule, part: str) -> bool:
    return part.endswith(_tail(rule)) if _tail(rule) else part.startswith(_head(rule))


def _layer(rule: Rule) -> Layer:
    pattern = folded(rule.pattern)
    return Layer("", files_read=Terms(deny=(f"**/{pattern}", f"**/{pattern}/**")))


_LAYERS: Final = {each: _layer(each) for each in RULES}
_HEADS: Final = tuple({_head(each) for each in RULES} - {""})
_TAILS: Final = tuple({_tail(each) for each in RULES} - {""})


def refuse_protected(deeds: Iterable[Deed], private: Sequence[str] = ()) -> None:
    """`ToolFailure` for what no policy can allow. `private`: places of the engine inside the workspace."""
    for deed in deeds:
        rule = rule_for(deed.what)
        if rule is not None and (rule.write if deed.kind == "write" else rule.read) == "deny":
            raise ToolFailure("denied", f"no tool may {deed.kind} {deed.what}: {rule.why}")
        if any(deed.what == each or deed.what.startswith(f"{each}/") for each in private):
            raise ToolFailure("denied", f"no tool may {deed.kind} {deed.what}: {_ENGINE}")


def asking(deeds: Iterable[Deed], layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """A layer that has a person asked about those deeds that need it."""
    asked = [each for each in deeds if _is_asked(each, layers)]
    reads = tuple(escape(each.what) for each in asked if each.kind == "read")
    writes = tuple(escape(each.what) for each in asked if each.kind == "write")
    return (Layer("perdure", files_read=Terms(ask=reads), files_write=Terms(ask=writes)),) if asked else ()


def _is_asked(deed: Deed, layers: Sequence[Layer]) -> bool:
    rule = rule_for(deed.what)
    if rule is None or (rule.write if deed.kind == "write" else rule.read) != "ask":
        return False
    terms = [each.files_write if deed.kind == "write" else each.files_read for each in layers]
    patterns = [folded(str(pattern)) for each in terms for pattern in each.allow or ()]
    return not any(_is_meant(rule, part) for pattern in patterns for part in pattern.split("/"))


def is_withheld(path: str, layers: Sequence[Layer]) -> bool:
    """Whether a file is passed over by what looks at many at once: it may not be read, or somebody is asked first."""
    rule = rule_for(path)
    return rule is not None and (rule.read == "deny" or bool(asking([Deed("read", path)], layers)))


def inside(workspace: Path, places: Iterable[Path]) -> tuple[str, ...]:
    """Those of the engine's places that lie in the workspace, as paths from its root."""
    return tuple(
        str(each.relative_to(workspace)) for each in places if each != workspace and each.is_relative_to(workspace)
    )

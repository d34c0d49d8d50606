"""Remotes: where a push goes, read as data from a call or from the repository's settings, and vetted.

Git itself never reads it there: a setting could send it elsewhere, or have it run a program.
"""

import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perdure.tools.failure import ToolFailure
from perdure.tools.git.config import settings_of, suspects_of
from perdure.tools.git.hardening import OVERRIDDEN
from perdure.tools.git.layout import bare_layout_of
from perdure.tools.git.names import branch_ref
from perdure.tools.git.refusing import ABSENT, REMOTE, refusal
from perdure.tools.git.repository import Repository
from perdure.tools.hands import Tier
from perdure.tools.net.url import Url, url_of

HOOKS: Final = (
    "pre-receive", "update", "post-receive", "post-update", "reference-transaction", "proc-receive", "push-to-checkout",
)  # fmt: skip
_WEB: Final = re.compile(r"https?://(?P<authority>[^/?#]*)", re.IGNORECASE)
_FAR: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://.*", re.DOTALL)
_SHORT: Final = re.compile(r"(?:[^/@:]+@)?[A-Za-z0-9.-]+:(?!:)[^:].*")
"""How ssh is written in short: `git@example.com:shop.git`."""
_WHY: Final = {
    "ssh": "ssh goes by keys, agents and known hosts of yours, which nothing in the sandbox may see",
    "git": "nobody can tell who answers there",
}


@dataclass(frozen=True, slots=True)
class Remote:
    """Where to push to: a path of this machine, or an address of the web."""

    name: str
    """As the call has it: a name, or the address itself."""
    path: Path = Path()
    url: Url | None = None

    @property
    def told(self) -> str:
        """Where it is, for people."""
        return str(self.url or self.path)

    @property
    def is_named(self) -> bool:
        """Whether the settings of the repository say where it is."""
        return "://" not in self.name


async def remote_of(repository: Repository, name: str) -> Remote:
    """A remote that may be pushed to, by its name or by its address."""
    remote = named_remote(repository, name)
    if remote.url is None:
        await _refuse_scripted(remote, repository.tier)
    return remote


def named_remote(repository: Repository, name: str) -> Remote:
    """A remote by its name or by its address; nobody has looked what is there."""
    return _vetted(repository, name, name if _FAR.fullmatch(name) else _address_of(repository, name))


def _address_of(repository: Repository, name: str) -> str:
    _ = branch_ref(name)  # the same letters
    url = repository.settings.get(f"remote.{name}.pushurl") or repository.settings.get(f"remote.{name}.url")
    if url:
        return url
    known = sorted({key.split(".")[1] for key in repository.settings if key.startswith("remote.")})
    hint = f"; there are: {', '.join(known)}" if known else ""
    raise refusal(ABSENT, "invalid", f'there is no remote "{name}"{hint}', remote=name)


def _vetted(repository: Repository, name: str, url: str) -> Remote:
    if _WEB.match(url):
        return Remote(name, url=_web(name, url))
    far = _FAR.fullmatch(url)
    scheme = far["scheme"].lower() if far else "ssh" if _SHORT.fullmatch(url) else ""
    if scheme and scheme != "file":
        raise _unoffered(name, scheme)
    if name == url:
        raise refusal(
            REMOTE, "invalid", f"{name[:80]!a}: write the name of a remote, or https://host/path", remote=name
        )
    if scheme == "file":
        return Remote(name, Path("/" + url.removeprefix("file://").partition("/")[2]).resolve())
    if "::" in url or url.startswith("-") or "\n" in url:
        raise refusal(REMOTE, "denied", f"{name} is at {url[:80]!a}, which could run a program", remote=name)
    return Remote(name, (repository.root / url).resolve())


def _web(name: str, text: str) -> Url:
    """An address of the web, without anything secret in it: it is shown, and written down."""
    authority = _WEB.match(text)
    if "?" in text or "#" in text or (authority and "@" in authority["authority"]):
        who = "the address" if "://" in name else name
        told = (
            f"{who} has a user, a password or a query in it; write https://host/path, and give user and password apart"
        )
        raise refusal(REMOTE, "invalid", told)
    return url_of(text)


def _unoffered(name: str, scheme: str) -> ToolFailure:
    why = _WHY.get("ssh" if "ssh" in scheme else scheme, "only https, http and paths are spoken here")
    who = "it" if "://" in name else name
    told = f"{who} goes over {scheme}, which is not offered: {why}; write https://host/path, or push it yourself"
    return refusal(REMOTE, "unavailable", told)


async def _refuse_scripted(remote: Remote, tier: Tier) -> None:
    """The other side has settings and hooks too. They are neither run nor gone around."""
    layout = bare_layout_of(remote.path)
    settings = await settings_of(layout, tier)
    strict = {key.lower() for key in OVERRIDDEN}  # on that side nothing is overridden
    odd = [*suspects_of(layout, settings), *(each for each in settings if each.key.lower() in strict)]
    hooks = [name for name in HOOKS if _is_program(layout.common / "hooks" / name)]
    if odd or hooks:
        what = f"the hook {hooks[0]}" if hooks else f"the setting {odd[0].key}"
        told = f"{remote.name} ({remote.path}) has {what}, which would run a program: push it yourself"
        raise refusal(REMOTE, "denied", told, remote=remote.name)


def _is_program(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH))
    except OSError:
        return False

"""Pushing: the one deed that leaves the repository. It moves a ref only from where it was seen, and a person agrees.

Remotes at a path of this machine are pushed to. What would be reached over the network is refused for now, with a
word about why.
"""

import re
import stat
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from perdure.core.policy import Deed
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.git.config import settings_of, suspects_of
from perdure.tools.git.desk import Update
from perdure.tools.git.hardening import OVERRIDDEN
from perdure.tools.git.landing import moved
from perdure.tools.git.layout import bare_layout_of
from perdure.tools.git.names import branch_ref
from perdure.tools.git.refusing import ABSENT, REMOTE, refusal
from perdure.tools.git.repository import Repository
from perdure.tools.git.running import program
from perdure.tools.hands import Tier

HOOKS: Final = (
    "pre-receive", "update", "post-receive", "post-update", "reference-transaction", "proc-receive", "push-to-checkout",
)  # fmt: skip
PORTS: Final = {"https": 443, "http": 80, "ssh": 22, "git": 9418}
FILES_ONLY: Final = {"GIT_ALLOW_PROTOCOL": "file"}
_FAR: Final = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[^/@]*@)?(?P<host>[^/:@]+|\[[^\]]*\])(?::(?P<port>\d+))?(?:/.*)?"
)
_SHORT: Final = re.compile(r"(?:[^/@:]+@)?(?P<host>[A-Za-z0-9.-]+):(?!:)[^:].*")


class Remote(NamedTuple):
    """Where to push to."""

    name: str
    path: Path


async def remote_of(repository: Repository, name: str, context: Context) -> Remote:
    """A remote of the repository that may be pushed to."""
    _ = branch_ref(name)  # the same letters
    url = repository.settings.get(f"remote.{name}.pushurl") or repository.settings.get(f"remote.{name}.url")
    if not url:
        known = sorted({key.split(".")[1] for key in repository.settings if key.startswith("remote.")})
        hint = f"; there are: {', '.join(known)}" if known else ""
        raise refusal(ABSENT, "invalid", f'there is no remote "{name}"{hint}', remote=name)
    remote = Remote(name, _path(repository, name, url, context))
    await _refuse_scripted(remote, repository.tier)
    return remote


def _path(repository: Repository, name: str, url: str, context: Context) -> Path:
    if found := (_FAR.fullmatch(url) or _SHORT.fullmatch(url)):
        scheme = found.groupdict().get("scheme") or "ssh"
        if scheme == "file":
            return Path("/" + url.removeprefix("file://").partition("/")[2]).resolve()
        port = found.groupdict().get("port") or PORTS.get(scheme, 0)
        context.guard.check([Deed("connect", f"{found['host'].lower()}:{port}")])
        told = f"{name} is at {found['host']}; git does not go over the network here: push it yourself"
        raise refusal(REMOTE, "unavailable", told, remote=name)
    if "::" in url or url.startswith("-") or "\n" in url:
        raise refusal(REMOTE, "denied", f"{name} is at {url[:80]!a}, which could run a program", remote=name)
    return (repository.root / url).resolve()


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


async def there(repository: Repository, remote: Remote, ref: str) -> str:
    """Where the ref is on the other side; empty if it is not there."""
    words = ("ls-remote", "--refs", f"--upload-pack={_service('upload-pack')}", str(remote.path), ref)
    said = (await repository.seeing(remote.path).ask(*words, variables=FILES_ONLY)).out.decode("utf-8", "replace")
    rows = dict(row.split("\t")[::-1] for row in said.splitlines())
    return rows.get(ref, "")


async def refuse_rewriting(repository: Repository, update: Update) -> None:
    """What is there has to be in what is pushed."""
    if not update.old:
        return
    words = ("merge-base", "--is-ancestor", update.old, update.new)
    if (await repository.ask(*words, codes=(0, 1, 128))).code:
        hint = "fetch and merge it first, or say `rewrite: true` to replace it"
        told = f"{update.ref} is at {update.old[:12]} there, which {update.new[:12]} does not have in it: {hint}"
        raise refusal(REMOTE, "unmet", told, ref=update.ref, now=update.old)


async def send(repository: Repository, remote: Remote, update: Update) -> None:
    """Move the ref on the other side from old to new. One that is new already is left alone."""
    now = await there(repository, remote, update.ref)
    if now == update.new:
        return
    if now != update.old:
        raise moved(update, now)
    words = ("push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--no-recurse-submodules")
    lease = f"--force-with-lease={update.ref}:{update.old}"
    to = (f"--receive-pack={_service('receive-pack')}", str(remote.path), f"{update.new}:{update.ref}")
    sending = replace(repository, changes=(remote.path,))
    said = await sending.ask(*words, lease, *to, variables=FILES_ONLY, codes=range(-64, 256))
    if said.code:
        raise ToolFailure("unmet", f"the push was refused: {said.err or said.out.decode('utf-8', 'replace')}")


def _service(name: str) -> str:
    """The program on the other side, as hard to lead astray as on this one."""
    return f"{program()} -c core.hooksPath=/dev/null -c gc.auto=0 -c receive.autogc=false {name}"

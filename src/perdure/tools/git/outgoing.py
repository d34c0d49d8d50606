"""Git over the network: to one host, through the proxy, and from a repository that has no settings of anybody.

The objects are those of the user's repository, the rest is ours: so there is no `url.insteadOf`, no `http.proxy`, no
helper and no hook to be read. The password goes in by the environment, for this one address.
"""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perdure.tools.changes.durable import make_private
from perdure.tools.context import Context
from perdure.tools.failure import Kind, ToolFailure
from perdure.tools.git.login import Login
from perdure.tools.git.refusing import LOGIN, REMOTE, refusal
from perdure.tools.git.repository import Repository
from perdure.tools.git.running import Job, Said, run
from perdure.tools.net import Pinned, Proxy
from perdure.tools.net.url import Url

LONGEST: Final = 600.0
"""Seconds for one talk."""
MARGIN: Final = 1.0
"""Seconds before a step's timeout, so that what was said is not lost."""
MOST: Final = 1_000_000
"""Bytes of what git says."""
AT_ONCE: Final = 256 * 1024 * 1024
"""Bytes that are sent as one whole; only over https can there be more, piece by piece."""
SILENCE: Final = 100
"""Seconds without a byte after which git gives up."""
_PLACE: Final = "sending.git"
_TRUST: Final = {"SSL_CERT_FILE": "GIT_SSL_CAINFO", "SSL_CERT_DIR": "GIT_SSL_CAPATH"}
"""Whom the user believes, as the rest of the engine's connections have it."""
_MEANT: Final[Sequence[tuple[str, Kind, str]]] = (
    (r"could not read (Username|Password)|Authentication failed|error: 401", "denied", ""),
    (r"error: 403|code 403", "denied", "lets nobody do this, or not this user"),
    (
        r"error: 404|repository .* not found",
        "unmet",
        "is no repository, or none that is shown to this user",
    ),
    (r"error: 30\d|redirect", "unmet", "leads elsewhere, and is not followed: write the address it leads to"),
    (r"certificate|verification", "denied", "is not who it should be"),
    (r"error: 429", "rate_limited", "wants to be asked less often"),
    (r"error: 5\d\d|code 50\d|SSL|TLS|RPC failed|hung up|unable to access", "unavailable", "broke off"),
)
"""What a complaint of git means for a plan: the first that fits."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """The way to one address."""

    repository: Repository
    url: Url
    gate: Pinned
    place: Path
    """For a repository of our own."""
    seconds: float
    login: Login | None = None

    @property
    def reached(self) -> tuple[str, ...]:
        """The addresses that it was let to."""
        return self.gate.pin.addresses

    async def ask(self, words: Sequence[str], after: Sequence[str], codes: Sequence[int] = (0,)) -> Said:
        """Have git talk to the other side."""
        await asyncio.to_thread(self._lay_out)
        trusted = {ours: os.environ[name] for name, ours in _TRUST.items() if os.environ.get(name)}
        job = Job(
            (*words, str(self.url), *after), self.place, {**self._variables(), **trusted},
            seconds=self.seconds, most=MOST,
            sees=(*dict.fromkeys(self.repository.layout), self.place, *(Path(each) for each in trusted.values())),
            tier=self.repository.tier, network=Proxy(self.gate),
        )  # fmt: skip
        said = self._discreet(await run(job))
        if said.code not in codes:
            raise self.failure(said)
        return said

    def _discreet(self, said: Said) -> Said:
        if self.login is None:
            return said
        out = self.login.hidden_in(said.out.decode("utf-8", "replace")).encode()
        return Said(said.code, out, self.login.hidden_in(said.err), said.was_cut)

    def failure(self, said: Said) -> ToolFailure:
        """What a talk that did not end well means."""
        complaint = next((each for each in _MEANT if re.search(each[0], said.err)), None)
        kind, why = complaint[1:] if complaint else ("unknown", f"made git end with {said.code}")
        if not why:
            return self._unknown_user()
        return refusal(REMOTE, kind, f"{self.url} {why} ({said.err or 'no word'})", remote=str(self.url))

    def _unknown_user(self) -> ToolFailure:
        told = "does not take this user and password"
        if self.login is None:
            told = "wants to know who asks: write the address as remote, and password: ${secrets.NAME}"
        return refusal(LOGIN, "denied", f"{self.url.authority} {told}", remote=str(self.url))

    # ------------------------------------------------------------ what git finds

    def _lay_out(self) -> None:
        """As little of a repository as git takes for one."""
        make_private(self.place / "refs")
        is_long = len(self.repository.no_id) > 40  # noqa: PLR2004  the letters of a SHA-1
        extension = "[extensions]\n\tobjectformat = sha256\n" if is_long else ""
        text = f"[core]\n\trepositoryformatversion = {int(is_long)}\n\tbare = true\n{extension}"
        (self.place / "config").write_text(text, encoding="utf-8")
        (self.place / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")

    def _variables(self) -> Mapping[str, str]:
        common = self.repository.layout.common
        shallow = common / "shallow"
        return {
            "GIT_DIR": str(self.place),
            "GIT_OBJECT_DIRECTORY": str(common / "objects"),
            **({"GIT_SHALLOW_FILE": str(shallow)} if shallow.is_file() else {}),
            "GIT_ALLOW_PROTOCOL": self.url.scheme,
            "NO_PROXY": "",
            "no_proxy": "",
            **_settings(self._said()),
        }

    def _said(self) -> Mapping[str, str]:
        """Settings of ours."""
        url = self.url
        header = {f"http.{url.scheme}://{url.authority}/.extraHeader": self.login.header} if self.login else {}
        return {
            "http.followRedirects": "false",
            "http.postBuffer": str(AT_ONCE),
            "http.lowSpeedLimit": "1",
            "http.lowSpeedTime": str(SILENCE),
            **header,
        }


def _settings(said: Mapping[str, str]) -> dict[str, str]:
    """Settings in the environment: a command line can be read by everybody."""
    pairs = [
        (f"GIT_CONFIG_KEY_{n}", key, f"GIT_CONFIG_VALUE_{n}", value) for n, (key, value) in enumerate(said.items())
    ]
    named = {name: value for key, k, val, v in pairs for name, value in ((key, k), (val, v))}
    return {"GIT_CONFIG_COUNT": str(len(pairs)), **named}


def refuse_fenced(repository: Repository) -> None:
    """`ToolFailure` where there is no way out."""
    if repository.tier == "landlock":
        raise ToolFailure("unavailable", "the tier `landlock` has no way to the network; use `bwrap`")


async def outgoing(
    context: Context, repository: Repository, url: Url, place: Path, known: Sequence[str] = ()
) -> Outgoing:
    """The way to an address, judged. `known`: addresses that this deed was let to before."""
    refuse_fenced(repository)
    gate = await asyncio.to_thread(Pinned, context.guard, url.host, url.port, known)
    left = context.seconds_left
    seconds = LONGEST if left is None else max(MARGIN, min(LONGEST, left - MARGIN))
    return Outgoing(repository, url, gate, place / _PLACE, seconds)

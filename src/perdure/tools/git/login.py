"""Who pushes: a user and a password that the plan gives, and that go to one host and into nothing that is kept."""

import base64
import re
from dataclasses import dataclass, field
from typing import Final

from perdure.tools.git.refusing import LOGIN, refusal
from perdure.tools.git.remotes import Remote
from perdure.tools.net.addresses import is_loopback

USER: Final = "git"
"""For hosts that look at the password alone."""
HIDDEN: Final = "«password»"
_UNFIT: Final = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Login:
    """A user and a password."""

    user: str
    password: str = field(repr=False)

    @property
    def header(self) -> str:
        """As HTTP has it."""
        return f"Authorization: Basic {self._coded}"

    @property
    def _coded(self) -> str:
        return base64.b64encode(f"{self.user}:{self.password}".encode()).decode()

    def hidden_in(self, text: str) -> str:
        """What somebody said, without the password: the other side has heard it, and may say it."""
        return text.replace(self._coded, HIDDEN).replace(self.password, HIDDEN)


def login_for(remote: Remote, user: str, password: str) -> Login | None:
    """The login of a call, if it may go to this remote; None without a password."""
    if not password:
        if user:
            raise refusal(LOGIN, "invalid", "user: there is no password to it; write password: ${secrets.NAME}")
        return None
    if remote.url is None:
        raise refusal(LOGIN, "invalid", f"password: {remote.name} is at a path of this machine, which asks for none")
    if _UNFIT.search(user + password) or ":" in user:
        raise refusal(LOGIN, "invalid", "user and password: no line breaks or control characters, no colon in the user")
    if remote.is_named:
        told = (
            "the password goes where the plan says, not where the settings of the repository say: "
            f"write remote: {remote.url}"
        )
        raise refusal(LOGIN, "denied", told)
    if remote.url.scheme == "http" and not _is_here(remote.url.host):
        raise refusal(
            LOGIN, "denied", f"{remote.url.authority} is asked over http, where everybody can listen: use https"
        )
    return Login(user or USER, password)


def _is_here(host: str) -> bool:
    return host == "localhost" or is_loopback(host.strip("[]"))

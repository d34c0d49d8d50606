"""What to do where there is no sandbox."""

import sys
from pathlib import Path
from typing import Final

from perdure.tools.hands import Tier
from perdure.tools.sandbox.landlock import LEAST, version
from perdure.tools.sandbox.root import BWRAP
from perdure.tools.sandbox.seccomp import is_known

_SYSCTL: Final = Path("/proc/sys")
_LOWER: Final = "or lower the tier in your own settings, which a plan cannot do"
_BLOCKED: Final = (
    ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        f"AppArmor keeps user namespaces from programs it does not know: give {BWRAP} a profile that allows `userns`",
    ),
)
_SAID: Final = (
    ("Unknown option", "a newer bubblewrap is needed, 0.8 or later"),
    ("is limited in its processes", "run it as an ordinary user, or let it make control groups"),
    (
        "mount proc",
        f"/proc may not be mounted; start the container with `--security-opt systempaths=unconfined`, {_LOWER}",
    ),
)
_NAMESPACES: Final = ("namespace", "uid map", "Operation not permitted", "Permission denied")


def missing(tier: Tier) -> tuple[str, str] | None:
    """What is missing for a tier, and what to do about it; None if there is no need to look further."""
    if sys.platform != "linux":
        return f"there is no sandbox for {sys.platform}", "run it on Linux, in a virtual machine for instance"
    if not is_known():
        return "there is no filter of system calls for this machine", "use x86_64 or aarch64"
    if tier == "landlock" and version() < LEAST:
        return f"the kernel has Landlock {version()}, {LEAST} is needed", f"use Linux 6.12 or later, {_LOWER}"
    if tier == "bwrap" and not Path(BWRAP).is_file():
        return f"bubblewrap is not at {BWRAP}", f"apt install bubblewrap, dnf install bubblewrap; {_LOWER}"
    return None


def fix_for(said: str) -> str:
    """What to do about what the sandbox said when it failed."""
    for words, fix in _SAID:
        if words in said:
            return fix
    if any(words in said for words in _NAMESPACES):
        return _unblocked()
    return f"do not run commands here before this is mended, {_LOWER}"


def _unblocked() -> str:
    """Who keeps us from having user namespaces."""
    for name, value, fix in _BLOCKED:
        path = _SYSCTL / name
        if path.is_file() and path.read_text().strip() == value:
            return fix
    return (
        "user namespaces are blocked; start a container with `--security-opt seccomp=unconfined` and "
        f"`systempaths=unconfined`, make a container of a chroot (systemd-nspawn), {_LOWER}"
    )

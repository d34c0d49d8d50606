"""Who commits are written by: whom the settings of git name. They are read, and start and include nothing."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from perdure.tools import ToolFailure
from perdure.tools.git.committing import is_person
from perdure.tools.git.config import settings_in
from perdure.tools.hands import Tier

ROLES: Final = ("author", "user")
_PARTS: Final = ("name", "email")


async def author_of(settings: Mapping[str, str], tier: Tier) -> str:
    """As in "Ada <ada@example.com>", by the settings of a repository and those of its user; empty: they name nobody."""
    found = {**await _users(tier), **settings}
    name, address = (next((found[key] for role in ROLES if (key := f"{role}.{part}") in found), "") for part in _PARTS)
    person = f"{name} <{address}>"
    return person if address and is_person(person) else ""


async def _users(tier: Tier) -> dict[str, str]:
    """The settings of the user; what cannot be read names nobody."""
    try:
        return {each.key: each.value for file in _files() for each in await settings_in(file, tier)}
    except ToolFailure:
        return {}


def _files() -> list[Path]:
    """Those of a user, where git looks for them; what stands in the last one counts."""
    home = Path.home()
    beside = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git/config"
    return [each.resolve() for each in (beside, home / ".gitconfig") if os.access(each, os.R_OK) and each.is_file()]

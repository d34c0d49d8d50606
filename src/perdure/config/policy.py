"""The user's policy: the outermost layer of all that is judged, and what only the user may say.

It has a file of its own, because it is held to more than settings are: nobody else may have written it, nothing in the
environment or in a project overrides it, and if it is broken nothing runs that would have to be judged.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from glob import escape
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from perdure.config.owned import read_owned
from perdure.config.places import home_in, is_inside, policy_file
from perdure.config.rules import Rules, Tier, problem_of
from perdure.config.settings import PolicyFileError, PolicyPlaceError
from perdure.core.layers import layer_of
from perdure.core.policy import Layer, Terms
from perdure.plan.checks.policy import flaws_in
from perdure.plan.model import parts
from perdure.plan.problems import Problem, written

YOURS: Final = "your policy"
DEFAULT: Final = "the default policy"
_TOLD: Final = 5


@dataclass(frozen=True)
class UserPolicy:
    """What holds for all runs of a user in a workspace."""

    rules: Rules
    place: Path
    """Where the file is, or would be."""
    is_default: bool = False
    """There is no file."""
    private: str = ""
    """The place of the file as a path from the workspace's root, if it lies inside; no run may write there."""

    @property
    def origin(self) -> str:
        """Who says it: the file, or `default`."""
        return "default" if self.is_default else str(self.place)

    @cached_property
    def _held(self) -> Rules:
        """The rules, with what they leave open closed."""
        return self.rules.model_copy(update=_closed(self.rules))

    def in_force(self) -> dict[str, Any]:
        """The rules that hold, as plain data by the words they are written with."""
        said = self._held.model_dump(mode="json", exclude_defaults=True)
        return said | {"sandbox": self.rules.sandbox.model_dump(mode="json")}

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """The outermost layers, for every attempt."""
        return (layer_of(self._held, DEFAULT if self.is_default else YOURS), *_guarding(self.private))

    @property
    def tier(self) -> Tier:
        """What commands are kept in."""
        return self.rules.sandbox.tier

    @cached_property
    def binds(self) -> tuple[Path, ...]:
        """Directories outside the workspace that commands may read."""
        return tuple(self._path(each) for each in self.rules.sandbox.binds)

    @property
    def secrets(self) -> Path | None:
        """The file that secrets are looked up in."""
        return self._path(self.rules.secrets.source) if self.rules.secrets.source else None

    @property
    def ca_file(self) -> Path | None:
        """Certificates that are trusted beside those of the system."""
        return self._path(self.rules.http.ca_file) if self.rules.http.ca_file else None

    @property
    def entry_points(self) -> bool | tuple[str, ...]:
        """Whose tools are loaded."""
        return self.rules.tools.entry_points if self.rules.tools else True

    def _path(self, text: str) -> Path:
        """Relative paths begin at the file."""
        return Path(os.path.normpath(self.place.parent / os.path.expanduser(text)))  # noqa: PTH111  no error without a home


def _closed(rules: Rules) -> dict[str, Any]:
    """What is left out is closed where that matters: no host is reached that nobody named, no command runs uncaged."""
    network = rules.network
    if network is None:
        network = ()
    elif isinstance(network, parts.Terms) and network.allow is None:
        network = network.model_copy(update={"allow": network.ask})
    commands = rules.commands
    if rules.sandbox.tier == "none" and (commands is None or commands.allow is None):
        commands = (commands or parts.Commands()).model_copy(update={"ask": (("*",),)})
    return {"network": network, "commands": commands}


def _guarding(private: str) -> tuple[Layer, ...]:
    denied = (escape(private), f"{escape(private)}/**")
    return (Layer("perdure", files_write=Terms(deny=denied)),) if private else ()


# ------------------------------------------------------------------------------- reading


def load_policy(workspace: Path | None = None, *, env: Mapping[str, str] | None = None) -> UserPolicy:
    """The policy of the user for work in a directory. `ConfigError`: nothing may run that has to be judged."""
    env = os.environ if env is None else env
    place = policy_file(env, home_in(env))
    private = _inside(place, workspace)
    data = read_owned(place)
    if data is None:
        return UserPolicy(Rules(), place, is_default=True, private=private)
    if private:
        hint = f"work in a directory that does not hold {place.parent}, or move the file out of it (XDG_CONFIG_HOME)"
        raise PolicyPlaceError(f"{place} lies inside the workspace, where a run could write it", hint)
    found = UserPolicy(_rules(place, data), place)
    _check_binds(found)
    return found


def _inside(place: Path, workspace: Path | None) -> str:
    """The directory of the policy as a path from the workspace's root; empty if it is elsewhere."""
    if workspace is None:
        return ""
    root, file = os.path.realpath(workspace), os.path.realpath(place)
    for each in (file, str(place)):
        if is_inside(Path(each).parent, Path(root)):
            return os.path.relpath(os.path.realpath(Path(each).parent), root)
    return ""


def _rules(place: Path, data: bytes) -> Rules:
    try:
        found = Rules.model_validate(tomllib.loads(data.decode()))
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False)
        raise _refused(place, [problem_of(each) for each in details]) from error
    except (ValueError, RecursionError) as error:
        raise PolicyFileError(f"{place} is not TOML: {error}", "correct the file") from error
    if flaws := list(flaws_in(found)):
        raise _refused(place, flaws)
    return found


def _refused(place: Path, problems: list[Problem]) -> PolicyFileError:
    told = [f"{written(each.path) or 'the file'}: {each.message}" for each in problems[:_TOLD]]
    more = [f"and {len(problems) - _TOLD} more"] if len(problems) > _TOLD else []
    return PolicyFileError(f"{place}: " + "; ".join([*told, *more]), problems[0].help)


def _check_binds(policy: UserPolicy) -> None:
    """A directory that commands may read holds neither the policy nor the secrets."""
    for n, bind in enumerate(policy.binds):
        for kept in filter(None, (policy.place, policy.secrets)):
            if is_inside(kept, bind):
                problem = Problem(
                    "PRD1706", f"{bind} holds {kept}", ("sandbox", "binds", n), "name what is needed alone"
                )
                raise _refused(policy.place, [problem])

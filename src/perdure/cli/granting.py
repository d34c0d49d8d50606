"""What runs that are driven here may reach: the workspace, by the user's policy, with the user's secrets."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from perdure.cli.heads import known_agents
from perdure.cli.journals import opened
from perdure.config import Settings
from perdure.config.policy import load_policy
from perdure.config.secrets import load_secrets
from perdure.core import events as e
from perdure.core.policy import Layer


async def place_of(settings: Settings, run: str) -> Path | None:
    """The directory that a run works on; None if it works on none."""
    async with opened(settings) as journal:
        for entry in await journal.read(run, 0, 1):
            with suppress(ValueError):  # it is damaged: loading it says where
                started = e.decode(entry.type, entry.body)
                if isinstance(started, e.RunStarted) and started.workspace:
                    return Path(started.workspace)
    return None


async def rules_for(settings: Settings, run: str) -> tuple[Layer, ...]:
    """The user's rules for a run, where it works."""
    return load_policy((await place_of(settings, run)) or Path.cwd().resolve()).layers


def granted(workspace: Path | None = None) -> dict[str, Any]:
    """Settings of an engine. Without another word, the workspace is where the command was given."""
    root = (workspace or Path.cwd()).resolve()
    policy = load_policy(root)
    return {
        "workspace": root,
        "policy": policy.layers,
        "tier": policy.tier,
        "toolchains": policy.binds,
        "secrets": load_secrets(source=policy.secrets),
        "agents": lambda: [each.agent for each in known_agents(root)],
    }

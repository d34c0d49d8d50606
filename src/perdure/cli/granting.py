"""What runs that are driven here may reach: the workspace, by the user's policy, with the user's secrets."""

from pathlib import Path
from typing import Any

from perdure.config.policy import load_policy
from perdure.config.secrets import load_secrets


def granted(workspace: Path | None = None) -> dict[str, Any]:
    """Settings of an engine. Without another word, the workspace is where the command was given."""
    root = (workspace or Path.cwd()).resolve()
    policy = load_policy(root)
    return {"workspace": root, "policy": policy.layers, "tier": policy.tier, "secrets": load_secrets()}

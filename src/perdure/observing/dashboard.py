"""The dashboard: what an operator looks at, for Grafana. It is a file, so that it can be edited there and come back."""

from pathlib import Path


def dashboard() -> str:
    """It, as JSON."""
    return (Path(__file__).parent / "dashboard.json").read_text(encoding="utf-8")

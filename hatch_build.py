"""The page is built before the package is: a wheel without it would be found out by its users."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface[Any]):
    """Refuses to build a wheel or an sdist in which the page is missing."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  the signature of all hooks
        """Look before anything is packed."""
        page = Path(self.root) / "src" / "perdure" / "web" / "static" / "index.html"
        if version != "editable" and not page.is_file():
            raise FileNotFoundError("the web page is not built: run `make page`, then build the package again")

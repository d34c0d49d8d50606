"""Problems: an error as data, the same for every face."""

from typing import Any


def error_document(code: str, message: str, hint: str = "", path: str = "", **more: Any) -> dict[str, Any]:
    """An error. `path`: where in a plan; `more`: what only some errors have."""
    return {
        "schema": "perdure.error/1",
        "code": code or None,
        "message": message,
        "path": path or None,
        "hint": hint or None,
        "docs": f"perdure explain {code}" if code else None,
        **more,
    }

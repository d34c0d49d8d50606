"""The types of what the API answers, for the web page: `openapi-typescript` makes them from the OpenAPI document.

The first line of the file has the hash of the document. As long as that is the same, nothing is made anew and no Node
is needed.
"""

import json
import subprocess
from hashlib import sha256
from typing import Any, Final

from build_page import NODE, WEB, fetch_packages
from routes import document

TYPES: Final = WEB / "src" / "api" / "schema.d.ts"
_MAKER: Final = WEB / "node_modules" / "openapi-typescript" / "bin" / "cli.js"


def text() -> str:
    """The file, as it should be."""
    known = TYPES.read_text(encoding="utf-8") if TYPES.exists() else ""
    return known if known.startswith(_first_line()) else made()


def made() -> str:
    """The file, made anew."""
    fetch_packages()
    words = [NODE / "bin" / "node", _MAKER]
    found = subprocess.run(words, cwd=WEB, input=_records(), capture_output=True, text=True, check=True)
    return _first_line() + found.stdout


def _first_line() -> str:
    return f"// By `make fix` from the OpenAPI document, of which the records are sha256:{_hash()}\n"


def _hash() -> str:
    return sha256(_records().encode()).hexdigest()


def _records() -> str:
    """The part of the document that says what is sent and answered, without titles, which only repeat the names."""
    known = document()
    schemas = {name: _untitled(each) for name, each in known["components"]["schemas"].items()}
    about = {"openapi": known["openapi"], "info": {"title": "Perdure", "version": "1"}, "paths": {}}
    return json.dumps({**about, "components": {"schemas": schemas}}, sort_keys=True)


def _untitled(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_untitled(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {word: _untitled(each) for word, each in schema.items() if not (word == "title" and isinstance(each, str))}

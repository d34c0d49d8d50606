"""The words of an expression, as far as one must know them to see where it ends."""

import re
from collections.abc import Iterator
from typing import Final

_TOKEN: Final = re.compile(
    r"""
      (?:[rR][bB]?|[bB][rR]) (?: \"{3} .*? \"{3} | '{3} .*? '{3} | "[^"\n]*" | '[^'\n]*' )   # raw text
    | \"{3} (?: [^\\] | \\. )*? \"{3} | '{3} (?: [^\\] | \\. )*? '{3}                          # text over lines
    | " (?: [^"\\\n] | \\. )* " | ' (?: [^'\\\n] | \\. )* '                                    # text
    | // [^\n]*                                                                                # comment
    | [A-Za-z_0-9]+ | [^A-Za-z_0-9{}"'/]+ | .
    """,
    re.VERBOSE | re.DOTALL,
)


def tokens_in(text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
    """Texts and comments whole, then words, brackets, and what stands between them."""
    return _TOKEN.finditer(text, start, len(text) if end is None else end)

"""What the fields of a record mean: the sentence below each of them, read from the source when somebody asks.

Pydantic could read them too, but does so whenever a class is made; a program that only goes on with a run never asks.
"""

import ast
import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise


@cache
def meanings(record: type) -> Mapping[str, str]:
    """Sentences by the names of the fields, with those of the records it is made from."""
    own = [dict(_sentences(each)) for each in reversed(record.__mro__) if each.__module__.startswith("perdure.")]
    return {name: sentence for sentences in own for name, sentence in sentences.items()}


def _sentences(record: type) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(_body(record)):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(sentence))):
                yield name, inspect.cleandoc(sentence)
            case _:
                pass


def _body(record: type) -> list[ast.stmt]:
    """The lines of a class; none where a program was installed without its source."""
    try:
        written = ast.parse(inspect.getsource(record)).body[0]
    except OSError:
        return []
    return written.body if isinstance(written, ast.ClassDef) else []

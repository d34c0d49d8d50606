"""Values that were read or written lately, so that the next step need not fetch them again."""

import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

MOST_BYTES: Final = 32 * 1024 * 1024


class Shelf:
    """A bounded number of values by digest. A value under a digest never changes, so none is ever stale."""

    def __init__(self, fetch: Callable[[str], bytes], most: int = MOST_BYTES) -> None:
        self._fetch = fetch
        self._most = most
        self._size = 0
        self._values: OrderedDict[str, tuple[Any, int]] = OrderedDict()

    def read(self, digest: str) -> Any:
        """A value; fetched if it is not here."""
        found = self._values.get(digest)
        if found is None:
            data = self._fetch(digest)
            return self.put(digest, data)
        self._values.move_to_end(digest)
        return found[0]

    def put(self, digest: str, data: bytes) -> Any:
        """Keep a value at hand, and let go of those that were not asked for longest."""
        value = json.loads(data)
        if digest not in self._values:
            self._values[digest] = (value, len(data))
            self._size += len(data)
        while self._size > self._most and len(self._values) > 1:
            _, (_, size) = self._values.popitem(last=False)
            self._size -= size
        return value

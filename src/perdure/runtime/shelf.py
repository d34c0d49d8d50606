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
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def read(self, digest: str) -> Any:
        """A value of its own each time, so that nobody's changes reach anybody else; fetched if it is not here."""
        data = self._kept.get(digest)
        if data is None:
            data = self._fetch(digest)
            self.put(digest, data)
        else:
            self._kept.move_to_end(digest)
        return json.loads(data)

    def put(self, digest: str, data: bytes) -> None:
        """Keep a value at hand, and let go of those that were not asked for longest."""
        if digest not in self._kept:
            self._kept[digest] = data
            self._size += len(data)
        while self._size > self._most and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            self._size -= len(gone)

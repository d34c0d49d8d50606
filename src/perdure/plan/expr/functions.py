"""What an expression may call. Each function has a known cost; what else CEL may learn stays out until it has one."""

from typing import Final

TYPE_NAMES: Final = frozenset(
    {"int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type"}
    | {"google.protobuf.Timestamp", "google.protobuf.Duration"}
)
"""Names that stand for a type, as in `type(item) == string`."""
LOGIC: Final = frozenset({"_&&_", "_||_", "!_", "_?_:_", "@not_strictly_false"})
ARITHMETIC: Final = frozenset({"_+_", "_-_", "_*_", "_/_", "_%_", "-_"})
COMPARING: Final = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "startsWith", "endsWith"})
SEARCHING: Final = frozenset({"@in", "contains", "size"})
CONVERTING: Final = frozenset({"int", "uint", "double", "string", "bool", "bytes", "timestamp", "duration"})
INDEXING: Final = {"_[_]": False, "_[?_]": True, "_?._": True}
"""How a part is reached, and whether it may be missing."""
PASSING: Final = frozenset(
    {"dyn", "type", "first", "last", "or", "orValue", "value", "hasValue"}
    | {"optional.of", "optional.ofNonZeroValue", "optional.none"}
)
CLOCK: Final = frozenset(
    {"getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"}
    | {"getHours", "getMinutes", "getSeconds", "getMilliseconds"}
)
FUNCTIONS: Final = LOGIC | ARITHMETIC | COMPARING | SEARCHING | CONVERTING | INDEXING.keys() | PASSING | CLOCK

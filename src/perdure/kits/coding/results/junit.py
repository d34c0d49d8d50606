"""JUnit XML: what most programs that run tests can write.

It was written by whatever the command has run, so nothing in it is believed to be harmless: a document type, which is
where entities are declared, is refused before anything of it is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from perdure.kits.coding.results.found import NAME, Found, cut, failing, plain
from perdure.kits.coding.results.pytest_ import first_error
from perdure.kits.coding.results.report import Failing, identity

_BAD: Final = frozenset({"failure", "error"})
_AGAIN: Final = frozenset({"flakyFailure", "flakyError"})
_VAGUE: Final = "collection failure"
"""What pytest says of a file that cannot be imported; the reason stands below it."""


class NotJunit(Exception):
    """A text that looks like JUnit XML, and is none that can be read, or not to its end."""

    def __init__(self, why: str, found: Found | None = None) -> None:
        super().__init__(why)
        self.found: Final = found
        """The failures that stood before that place."""


@dataclass(slots=True)
class _Outcome:
    kind: str
    message: str
    text: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _Case:
    test: str
    outcomes: list[_Outcome] = field(default_factory=list[_Outcome])


def looks_like_junit(text: str) -> bool:
    """Whether a text means to be JUnit XML."""
    return text.lstrip("\ufeff \t\r\n").startswith("<") and "<testsuite" in text


def read(texts: Mapping[str, str], cut: Mapping[str, str] | None = None) -> Found | None:
    """What such files say together; None if there are none. `NotJunit` if one of them cannot be read.

    Of some it is known why they are not there to their end (`cut`); that tells more than where the reading stopped.
    """
    reader = _Reader()
    for path, text in texts.items():
        if looks_like_junit(text):
            reader.read(path, text, (cut or {}).get(path, ""))
    return reader.found() if reader.documents else None


class _Reader:
    """Goes through documents, one tag after the other."""

    def __init__(self) -> None:
        self.documents = 0
        self._cases: list[_Case] = []
        self._case: _Case | None = None
        self._outcome: _Outcome | None = None
        self._is_pytest = False

    def read(self, path: str, text: str, cut: str = "") -> None:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartDoctypeDeclHandler = _refuse
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._hear
        try:
            parser.Parse(text.lstrip("\ufeff \t\r\n").encode(), True)  # noqa: FBT003  it takes no names
        except (expat.ExpatError, NotJunit) as error:
            raise NotJunit(f"{path} cannot be read ({cut or error})", self._beginning()) from None
        self.documents += 1

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        kind = tag.rpartition(" ")[2]
        if kind == "testsuite":
            self._is_pytest |= attributes.get("name") == "pytest"
        elif kind == "testcase":
            self._case = _Case(_name_of(attributes))
            self._cases.append(self._case)
        elif self._case is not None and (kind in _BAD or kind in _AGAIN or kind == "skipped"):
            self._outcome = _Outcome(kind, attributes.get("message", ""))
            self._case.outcomes.append(self._outcome)

    def _end(self, tag: str) -> None:
        kind = tag.rpartition(" ")[2]
        if kind == "testcase":
            self._case = None
        if kind == "testcase" or (self._outcome is not None and kind == self._outcome.kind):
            self._outcome = None

    def _hear(self, text: str) -> None:
        if self._outcome is not None:
            self._outcome.text.append(text)

    def _beginning(self) -> Found | None:
        bad = [_told(each.test, one) for each in self._cases for one in each.outcomes if one.kind in _BAD]
        return Found("junit", failures=tuple(bad), is_complete=False, is_pytest=self._is_pytest) if bad else None

    def found(self) -> Found:
        """All of it."""
        kinds = [{one.kind for one in each.outcomes} for each in self._cases]
        good = [each.test for each, kind in zip(self._cases, kinds, strict=True) if not kind & {*_BAD, "skipped"}]
        bad = [(each, one) for each in self._cases for one in each.outcomes if one.kind in _BAD]
        failed = {identity(each.test) for each, _ in bad}
        return Found(
            "junit",
            passed=len(good),
            failed=sum(one.kind == "failure" for _, one in bad),
            errors=sum(one.kind == "error" for _, one in bad),
            skipped=sum("skipped" in kind and not kind & _BAD for kind in kinds),
            total=len(self._cases),
            failures=tuple(_told(each.test, one) for each, one in bad),
            ran=sum(identity(each) not in failed for each in good) + len(failed),
            passing=frozenset(map(identity, good)) - failed,
            skipping=self._skipping(kinds) - failed,
            flaky=tuple(
                each.test for each, kind in zip(self._cases, kinds, strict=True) if kind & _AGAIN and not kind & _BAD
            ),
            is_pytest=self._is_pytest,
        )

    def _skipping(self, kinds: list[set[str]]) -> frozenset[str]:
        skipped = (each for each, kind in zip(self._cases, kinds, strict=True) if "skipped" in kind)
        return frozenset(identity(each.test) for each in skipped)


def _refuse(*_: object) -> None:
    raise NotJunit("it declares a document type, which reports have no need of")


def _name_of(attributes: Mapping[str, str]) -> str:
    parts = (attributes.get("classname", ""), attributes.get("name", ""))
    return cut(".".join(each for each in parts if each).replace("\n", " ") or "?", NAME)


def _told(test: str, outcome: _Outcome) -> Failing:
    detail = plain("".join(outcome.text))
    message = plain(outcome.message)
    if not message or message == _VAGUE:
        message = first_error(detail) or message or detail.strip()
    return failing(test, message, detail)

"""Secrets in an engine: asked for by name at the last moment, and taken out of all that comes back."""

import logging
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Final

import msgspec
from msgspec.structs import replace

from perdure.core.calls import Approval, Failure, Outcome
from perdure.core.policy import Judgement
from perdure.engine.redacting import SHORTEST, Redactor
from perdure.errors import PerdureError
from perdure.ports import Attempt, Performer


class TooShort(PerdureError):
    """A secret is so short that it could not be kept out of the journal."""

    code: ClassVar[str] = "PRD5302"
    exit_code: int = 6


class Secrets(Mapping[str, str]):
    """Secrets by name, from whatever holds them; and the redactor for those that it lists or has given out."""

    def __init__(self, source: Mapping[str, str]) -> None:
        self._source: Final = source
        self._given: dict[str, str] = {}
        self._redactor: Redactor | None = None

    def __getitem__(self, name: str) -> str:
        value = self._source[name]
        if len(value.strip()) < SHORTEST:
            raise TooShort(
                f"the secret {name} has fewer than {SHORTEST} letters, and would be found in everything",
                "make it longer, or write it into the plan if it is not secret",
            )
        self._note(name, value)
        return value

    def _note(self, name: str, value: str) -> None:
        if self._given.get(name) != value:
            self._given = {**self._given, name: value}
            self._redactor = None

    def __contains__(self, name: object) -> bool:
        return name in self._source  # whether it is there, and not what it is

    def __iter__(self) -> Iterator[str]:
        return iter(self._source)

    def __len__(self) -> int:
        return len(self._source)

    @property
    def redactor(self) -> Redactor:
        """Knows every secret that is listed, also those that an earlier process gave out."""
        if self._redactor is None:
            listed = {name: self._source[name] for name in self._source}
            self._redactor = Redactor({**listed, **self._given})
        return self._redactor


class Discreet:
    """A performer without secrets in what it says. Every outcome of every attempt passes here."""

    def __init__(self, performer: Performer, secrets: Secrets) -> None:
        self._performer: Final = performer
        self._secrets: Final = secrets

    async def perform(self, attempt: Attempt) -> Outcome:
        """Do it."""
        redactor = self._secrets.redactor
        try:
            outcome = await self._performer.perform(replace(attempt, report=_reporting(attempt, redactor)))
        except Exception as error:  # noqa: BLE001  whatever is raised is told, and so it is looked at
            outcome = Outcome.failed("unknown", f"{type(error).__name__}: {error}")
        return redacted(redactor, outcome)


def _reporting(attempt: Attempt, redactor: Redactor) -> Callable[[float, str], None]:
    flow = redactor.flow()

    def report(fraction: float, message: str = "") -> None:
        attempt.report(fraction, flow.text(str(message)))

    return report


def redacted(redactor: Redactor, outcome: Outcome) -> Outcome:
    """An outcome without secrets."""
    if not isinstance(outcome, Outcome):  # pyright: ignore[reportUnnecessaryIsInstance]  a performer may be anybody's
        return outcome
    output = redactor.value(outcome.output, outcome.text)
    return replace(
        outcome,
        output=output,
        text=outcome.text if output is outcome.output else b"",
        exit=redactor.text(str(outcome.exit)),
        failure=_failure(redactor, outcome.failure),
        approval=_approval(redactor, outcome.approval),
        judged=_judged(redactor, outcome.judged),
    )


def _failure(redactor: Redactor, failure: Failure | None) -> Failure | None:
    if not isinstance(failure, Failure):
        return failure
    kind, message = redactor.text(str(failure.kind)), redactor.cut_text(str(failure.message))
    return replace(failure, kind=kind, message=message, detail=redactor.cut_value(failure.detail))


def _approval(redactor: Redactor, approval: Approval | None) -> Approval | None:
    """What a person sees. What is agreed to is still the whole of it, by its digest."""
    return None if approval is None else replace(approval, text=redactor.cut_text(approval.text))


def _judged(redactor: Redactor, judged: tuple[Any, ...]) -> tuple[Any, ...]:
    if not judged or not redactor.is_in(msgspec.json.encode(judged)):
        return judged
    return msgspec.convert(redactor.value(msgspec.to_builtins(judged)), tuple[Judgement, ...])


# ------------------------------------------------------------------------------- logs

_LOGGED: Final[list[Secrets]] = []
"""Those whose values are taken out of log records, of whatever logger: a tool may have one of its own."""


@contextmanager
def kept_out_of_logs(secrets: Secrets) -> Generator[None]:
    """While this lasts, no log record of this process holds a secret."""
    if not _LOGGED:
        _Factory.install()
    _LOGGED.append(secrets)
    try:
        yield
    finally:
        _LOGGED.remove(secrets)
        if not _LOGGED:
            _Factory.remove()


class _Factory:
    """Makes log records. A filter would not do: it sees the records of one logger, or of handlers that are known."""

    previous: Any = logging.LogRecord

    @classmethod
    def install(cls) -> None:
        cls.previous = logging.getLogRecordFactory()
        logging.setLogRecordFactory(_clean_record)

    @classmethod
    def remove(cls) -> None:
        if logging.getLogRecordFactory() is _clean_record:
            logging.setLogRecordFactory(cls.previous)


def _clean_record(*args: Any, **settings: Any) -> logging.LogRecord:
    record: logging.LogRecord = _Factory.previous(*args, **settings)
    for secrets in tuple(_LOGGED):
        _clean(record, secrets.redactor)
    return record


def _clean(record: logging.LogRecord, redactor: Redactor) -> None:
    try:
        message = record.getMessage()
    except Exception:  # noqa: BLE001  `logging` itself will say what is wrong with it
        return
    clean = redactor.text(message)
    if clean != message:
        record.msg, record.args = clean, ()
    if record.exc_info:
        told = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
        clean = redactor.text(told)
        if clean != told:
            record.exc_info, record.exc_text = None, clean

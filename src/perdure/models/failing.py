"""What goes wrong with a provider, as a failure of a kind that the engine knows what to do about.

A message is made of what the provider says, cut short, and never of what we have sent; the key is taken out of it.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic_ai import exceptions as x

from perdure.models.wire import MOST_BYTES, TooMuch
from perdure.ports import Answer, ModelFailed

KINDS: Final = (
    (x.ModelRateLimitError, "rate_limited", "the provider wants to be asked less often"),
    (x.ModelQuotaExceededError, "denied", "the account at the provider is used up"),
    (x.ModelAuthenticationError, "denied", "the provider does not take the key"),
    (x.ModelContextWindowExceededError, "invalid", "the conversation is longer than the model takes"),
    (x.ModelNotFoundError, "invalid", "the provider does not know the model"),
    (x.ModelRequestRejectedError, "invalid", "the provider does not take the request"),
    (x.ModelUnavailableError, "unavailable", "the provider cannot answer now"),
    (x.ModelServerError, "unavailable", "the provider has failed"),
    (x.ModelRequestTimeout, "timeout", "the model took longer than it may"),
    (x.ModelTimeoutError, "timeout", "the provider said nothing for too long"),
    (x.ModelConnectionError, "transient", "the connection to the provider broke"),
    (x.ContentFilterError, "logic", "the provider refused to answer"),
    (x.UserError, "invalid", "the request cannot be put to this model"),
)
SHORTER: Final = "; shorten `context` or `prompt`, or ask a model that takes more"
UNSENT: Final = frozenset({"pool", "connect"})
REDIRECTED: Final = range(300, 400)
MOST_TOLD: Final = 300
LONGEST_WAIT: Final = 24 * 3600.0
DEEPEST: Final = 20


def failed(error: Exception, key: str) -> ModelFailed:
    """The failure that an error is."""
    if _has(error, TooMuch):
        return ModelFailed("invalid", f"the provider said more than {MOST_BYTES // 2**20} megabytes", begun=True)
    kind, told = _kind_of(error)
    more = _said(error)
    message = f"{told}: {more}" if more else told
    if isinstance(error, x.ModelContextWindowExceededError):
        message += SHORTER
    return ModelFailed(kind, without(message, key), _wait(error))


def settled(failed: ModelFailed, answer: Answer | None) -> ModelFailed:
    """The failure of an answer that had begun, with what the provider told of what it took."""
    failure = failed.failure
    return ModelFailed(failure.kind, failure.message, failure.retry_after, answer, begun=True)


def _kind_of(error: Exception) -> tuple[str, str]:
    if isinstance(error, x.ModelConnectionError) and error.phase in UNSENT:
        return "unavailable", "the provider cannot be reached"
    if getattr(error.__cause__, "status_code", None) in REDIRECTED:
        return "invalid", "the provider sends us elsewhere, and nobody said that it may"
    for each, kind, told in KINDS:
        if isinstance(error, each):
            return kind, told
    if isinstance(error, (x.ModelAPIError, x.UnexpectedModelBehavior)):
        return "transient", "the provider gave no proper answer"
    return "unknown", f"what came from the provider cannot be understood ({type(error).__name__})"


def _wait(error: Exception) -> float | None:
    after = error.retry_after if isinstance(error, x.ModelAPIError) else None
    return None if after is None else min(after, LONGEST_WAIT)


def _said(error: Exception) -> str:
    """What the provider says of it."""
    if isinstance(error, x.ModelAPIError):
        return _short(_message_in(error.body)) or ("" if isinstance(error, x.ModelHTTPError) else _short(error.message))
    if isinstance(error, (x.AgentRunError, x.UserError)):
        return _short(error.message)
    return ""


def _message_in(body: Any) -> str:
    """The sentence in the body of an error, however it is packed."""
    if isinstance(body, Mapping):
        found = cast("Mapping[str, Any]", body)
        return _message_in(found.get("error") or found.get("message") or found.get("detail") or "")
    return body if isinstance(body, str) else ""


def _short(text: str) -> str:
    text = " ".join(each for each in text.split() if each)
    shown = "".join(each if each.isprintable() else "�" for each in text)
    return shown if len(shown) <= MOST_TOLD else f"{shown[:MOST_TOLD]}…"


def without(text: str, key: str) -> str:
    """A text in which a key does not stand."""
    return text.replace(key, "***") if key else text


def _has(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Whether an error came from another, however far down."""
    for _ in range(DEEPEST):
        if error is None or isinstance(error, kind):
            break
        error = error.__cause__ or error.__context__
    return isinstance(error, kind)

"""A model that plays by a script: it costs nothing, needs no key, and says the same every time.

    ScriptedModel(["Think first.", calls("web.get", url="x"), "Paris"])     one answer for each turn of a conversation
    ScriptedModel({"capital of France": "Paris", "": "I do not know"})       by words in what was said last
    ScriptedModel(lambda request: request.remarks[-1].text.upper())          by a function
    ScriptedModel.from_file("answers.yaml")                                  by a file

An answer is a text, an `Answer`, a `Failure`, or any other JSON value, which is said as JSON. Which answer is due
follows from the conversation alone, and never from what this process was asked before: so a run that is killed and goes
on hears the same.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from perdure.core.calls import Failure
from perdure.models.errors import NoModel
from perdure.plan.raw import is_list, is_mapping
from perdure.plan.tokens import tokens_of
from perdure.ports import Answer, Answered, ModelFailed, Remark, Request, Returned, Said, Wish

SHAPE: Final = "write a list, one answer for each turn; or a mapping from words of what is said to the answer"
Script = Sequence[Any] | Mapping[str, Any] | Callable[[Request], Any]


def calls(tool: str, **arguments: Any) -> Answer:
    """An answer that asks for a call."""
    return Answer(wishes=(Wish(tool, arguments),), finish="calls")


def calls_all(*answers: Answer) -> Answer:
    """An answer that asks for several calls at once."""
    return Answer(wishes=tuple(wish for each in answers for wish in each.wishes), finish="calls")


class ScriptedModel:
    """Answers by a script, and remembers every request in `asked`."""

    def __init__(self, script: Script, usd: float | None = 0.0) -> None:
        self._script: Final = script
        self._usd: Final = usd
        """What a thousand tokens cost; None: nobody knows."""
        self.asked: Final[list[Request]] = []

    @classmethod
    def from_file(cls, path: Path | str, usd: float | None = 0.0) -> Self:
        """A script in YAML or JSON: a list of answers, or a mapping from words to answers. `NoModel` if it is none.

        A mapping with `text`, `calls` (`tool`, `with`) or `fails` (`kind`, `message`) is an answer, not a value.
        """
        return cls(_read(Path(path)), usd)

    async def ask(self, request: Request, heard: Callable[[str], None]) -> Answer:
        """Answer as the script says."""
        self.asked.append(request)
        said = self._said(request)
        if isinstance(said, Failure):
            raise ModelFailed(said.kind, said.message, said.retry_after)
        answer = said if isinstance(said, Answer) else Answer(said if isinstance(said, str) else json.dumps(said))
        heard(answer.text)
        return self._counted(request, answer)

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        """What a call would cost."""
        return None if self._usd is None else (tokens_in + tokens_out) * self._usd / 1000

    def _said(self, request: Request) -> Any:
        script = self._script
        if callable(script):
            return script(request)
        if isinstance(script, Mapping):
            return _by_words(script, news_in(request.remarks))
        turn = sum(isinstance(each, Answered) for each in request.remarks)
        return script[turn] if turn < len(script) else Failure("unavailable", f"the script ends after {turn} answers")

    def _counted(self, request: Request, answer: Answer) -> Answer:
        """Count what is new, unless the script says what it took."""
        if answer.tokens_in or answer.tokens_out:
            return answer
        heard, said = tokens_of(news_in(request.remarks)), tokens_of(answer.text)
        usd = self.price(heard, said)
        return Answer(
            answer.text, answer.wishes, answer.finish, heard, said, usd, "scripted", answer.chances, answer.thoughts
        )


def news_in(remarks: Sequence[Remark]) -> str:
    """All that was said since the last answer."""
    found: list[str] = []
    for each in reversed(remarks):
        if not isinstance(each, (Said, Returned)):
            break
        found.append(each.text)
    return "\n".join(reversed(found))


def _by_words(script: Mapping[str, Any], news: str) -> Any:
    for words, answer in script.items():
        if words in news:
            return answer
    return Failure("unavailable", f"the script has no answer to: {news[:200]}")


# ------------------------------------------------------------------------------- files


def _read(path: Path) -> Script:
    from perdure.plan.limits import Limits  # noqa: PLC0415  few scripts are files
    from perdure.plan.reading.source import Unreadable  # noqa: PLC0415  as above
    from perdure.plan.reading.yaml_text import read_yaml  # noqa: PLC0415  as above

    try:
        read, problems = read_yaml(path.read_text(encoding="utf-8"), Limits())
        return _script(read, [each.message for each in problems])
    except OSError as error:
        told = f"the script {path} cannot be read: {error.strerror}"
        raise NoModel(told, "name a file with answers, in YAML or JSON") from None
    except (ValueError, Unreadable) as error:
        raise NoModel(f"the script {path} cannot be read: {error}", SHAPE) from None


def _script(read: Any, wrong: Sequence[str]) -> Script:
    if is_mapping(read) and not wrong:
        return {str(word): _of_file(each) for word, each in read.items()}
    if is_list(read) and not wrong:
        return [_of_file(each) for each in read]
    raise ValueError(*wrong[:1] or ["it is neither a list nor a mapping"])


def _of_file(written: Any) -> Any:
    if not is_mapping(written):
        return written
    if "calls" in written:
        return Answer(str(written.get("text", "")), tuple(map(_wish, _wishes(written["calls"]))), "calls")
    if "fails" in written:
        return _failure(written["fails"])
    return written["text"] if isinstance(written.get("text"), str) else written


def _wishes(written: Any) -> Sequence[Any]:
    if written is not None and not is_list(written):
        raise ValueError(f"`calls` is a list of {{tool: NAME, with: {{…}}}}, and not {written!r:.80}")
    return written or ()


def _wish(written: Any) -> Wish:
    given = written.get("with", {}) if is_mapping(written) else None
    if not is_mapping(given) or not isinstance(written.get("tool"), str):
        raise ValueError(f"a call is {{tool: NAME, with: {{…}}}}, and not {written!r:.80}")
    return Wish(written["tool"], given)


def _failure(written: Any) -> Failure:
    if not is_mapping(written) or not {"kind", "message"} <= written.keys():
        raise ValueError(f"a failure is {{kind: WORD, message: TEXT}}, and not {written!r:.80}")
    return Failure(str(written["kind"]), str(written["message"]))

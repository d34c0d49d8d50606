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
from typing import Any, Final, Self, cast

from perdure.core.calls import Failure
from perdure.plan.tokens import tokens_of
from perdure.ports import Answer, Answered, ModelFailed, Remark, Request, Returned, Said, Wish

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
        """A script in YAML or JSON: a list of answers, or a mapping from words to answers.

        A mapping with `text`, `calls` (`tool`, `with`) or `fails` (`kind`, `message`) is an answer, not a value.
        """
        from perdure.plan.limits import Limits  # noqa: PLC0415  few scripts are files
        from perdure.plan.reading.yaml_text import read_yaml  # noqa: PLC0415  as above

        read, problems = read_yaml(Path(path).read_text(encoding="utf-8"), Limits())
        if problems:
            raise ValueError(f"{path}: {problems[0].message}")
        if isinstance(read, Mapping):
            return cls({str(word): _of_file(each) for word, each in cast("Mapping[str, Any]", read).items()}, usd)
        return cls([_of_file(each) for each in cast("list[Any]", read)], usd)

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


def _of_file(written: Any) -> Any:
    match written:
        case {"fails": {"kind": str(kind), "message": str(message)}}:
            return Failure(kind, message)
        case {"calls": [*wanted]}:
            wishes = tuple(Wish(each["tool"], each.get("with", {})) for each in wanted)
            return Answer(str(cast("Mapping[str, Any]", written).get("text", "")), wishes, "calls")
        case {"text": str(text)}:
            return text
        case _:
            return written

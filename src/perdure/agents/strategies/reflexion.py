"""`reflexion`: an attempt, a judgement, and a lesson for the next attempt, so many rounds.

    s1 attempt → s2 judge → s3 reflect → s4 attempt (with the lesson) → s5 judge → … → {answer, lessons, rounds, score}

Nothing that an attempt did is undone: the next one goes on from what it finds. Lessons are remembered when the group is
over. Where there is a memory, a first step looks for those of earlier runs with the same task.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from perdure.agents.agent import Agent
from perdure.agents.strategies.answering import hear, schema_of
from perdure.agents.strategies.asking import Asked, ask, grown, longest, opening
from perdure.agents.strategies.costs import COUNTED, FREE, Cost, fits, lacking, rest_of, share_of, sum_of
from perdure.agents.strategies.judging import Judge
from perdure.agents.strategies.options import options_of
from perdure.agents.strategies.recalling import SEARCH, recall_step, recalled, told
from perdure.agents.strategies.trying import Trials
from perdure.agents.strategies.words import Words, facts_of, given_of, length_of, ref, task_of
from perdure.core.calls import Failure
from perdure.core.growth import Child, Finish, Move, View
from perdure.core.lessons import LESSON as LEARNED
from perdure.plan.conforming import flaws
from perdure.plan.expr import ExpressionError, parse
from perdure.plan.model.parts import Amount, Count, Criterion, JsonObject, Line, Many, Name, Number, Part
from perdure.tools import AnyTool

LESSON: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"lesson": {"type": "string"}},
    "required": ["lesson"],
}
REFLECT: Final = "Say in a few sentences what went wrong, and what to do differently in the next attempt."


class ReflexionOptions(Part):
    """What an attempt is, what is good, and how often."""

    rounds: Annotated[int, Field(ge=1, le=10_000)] = 3
    """The most attempts."""
    strategy: Name = "react"
    """How the agent makes an attempt."""
    attempt: JsonObject | None = None
    """A step that is the attempt instead; it sees `inputs`: `task`, `facts`, `lessons` and `round`."""
    accept: Many[Criterion] = ()
    """What a result must fulfil, by `expr` or `schema`; looked at before anybody is asked to judge."""
    judge: Judge | None = None
    """Who says how good it is; left out: the agent's model, as a critic, unless there is `accept`."""
    score: Number = 0.8
    """The score that is good enough."""
    memory: Count = 3
    """How many of the last lessons an attempt is told."""
    recall: Amount = 3
    """How many lessons of earlier runs with the same task an attempt is told besides; 0: nobody looks for them."""
    ask: Line = REFLECT
    """How a lesson is asked for."""

    @model_validator(mode="after")
    def _judges(self) -> "ReflexionOptions":
        if any(each.tool or each.agent for each in self.accept):
            raise PydanticCustomError("accept", "accept takes expr and schema; a tool or an agent is the judge")
        if self.judge is not None and self.judge.votes is not None:
            raise PydanticCustomError("judge", "there is one attempt at a time, and nothing to vote about")
        return self


def reflexion(view: View, agent: Agent, tools: Mapping[str, AnyTool]) -> Move | Finish | None:
    """Attempt, judge, reflect, and attempt again. `tools`: those that there are, where that is known."""
    options = options_of(agent, "reflexion", ReflexionOptions)
    judge = options.judge or (None if options.accept else Judge(model=agent.model))
    rounds = _Rounds(view, agent, options, judge and Trials(view, agent, judge), tools)
    if view.first:
        return rounds.recall() if options.recall and SEARCH in tools else rounds.attempt(_START)
    return None if view.live else rounds.go_on(view.fresh[-1])


_START: Final[Mapping[str, Any]] = {"round": 1, "lessons": (), "best": None, "phase": "attempt", "at": ""}


@dataclass(frozen=True, slots=True)
class _Rounds:
    view: View
    agent: Agent
    options: ReflexionOptions
    trials: Trials | None
    tools: Mapping[str, AnyTool]

    def go_on(self, news: Child) -> Move | Finish:
        """Look at what came of the last move."""
        match self.view.memo["phase"]:
            case "recall":
                earlier = recalled(self.view, news, self.options.recall)
                return self.attempt({**_START, "earlier": earlier})
            case "attempt":
                return self._judge(news)
            case "judge":
                return self._judged(news)
            case _:
                return self._reflected(news)

    # ------------------------------------------------------------ attempts

    def recall(self) -> Move:
        """Look first for what earlier runs have learned, if an attempt can be paid beside that."""
        if not fits(sum_of({"steps": 1}, self._call_cost(), self._judge_cost()), self.view.left):
            return self.attempt(_START)
        return Move(add=[recall_step()], memo={**_START, "phase": "recall"})

    def _known(self, memo: Mapping[str, Any]) -> list[str]:
        """Where the lessons are found that an attempt is told: those of earlier runs, then the last of its own."""
        return [*memo.get("earlier", ()), *map(_lesson, memo["lessons"])]

    def attempt(self, memo: Mapping[str, Any]) -> Move:
        """Make an attempt, with the last lessons and a share of what is left."""
        step = self._own_step(memo) if self.options.attempt else self._agent_step(memo)
        id_ = f"s{self.view.born + 1}"
        return Move(add=[{**step, **self._share(memo["round"])}], memo={**memo, "phase": "attempt", "at": id_})

    def _agent_step(self, memo: Mapping[str, Any]) -> dict[str, Any]:
        task = "${inputs.task}"
        if known := self._known(memo):
            task += f"\n\nThis was tried before. What was learned:{told(known)}"
        step: dict[str, Any] = {"agent": self.view.agent, "strategy": self.options.strategy, "task": task}
        step |= {"with": given_of(self.view), "verdicts": list(self.view.verdicts)}
        return step if self.view.returns is None else {**step, "returns": dict(self.view.returns)}

    def _own_step(self, memo: Mapping[str, Any]) -> dict[str, Any]:
        lessons = [ref(each) for each in self._known(memo)]
        given = {"task": "${inputs.task}", "facts": facts_of(self.view), "lessons": lessons, "round": memo["round"]}
        plan = {"steps": [{**(self.options.attempt or {}), "id": "attempt"}], "output": "${steps.attempt.output}"}
        return {"plan": plan, "with": given}

    def _share(self, round_: int) -> dict[str, Any]:
        """A budget for an attempt, so that there is something left to judge it and to try again."""
        left = rest_of({word: self.view.left[word] for word in COUNTED if word in self.view.left}, self._judge_cost())
        share = share_of(left, 1, self.options.rounds - round_ + 1)
        most = share if fits(self._call_cost(), share) else left
        if not most or not fits(self._call_cost(), most):
            return {}  # nothing can be paid: whoever keeps the budget says what follows
        return {"budget": {word: most[word] if word == "usd" else int(most[word]) for word in most}}

    def _judge_cost(self) -> Cost:
        return FREE if self.trials is None else self.trials.cost(longest(self.agent))

    def _call_cost(self) -> Cost:
        """What an attempt takes at least, as far as that can be told."""
        if self.options.attempt:
            return {"steps": 1}
        if self.options.strategy == "react":
            return opening(self.view, self.agent, self.tools).cost
        return ask(self.view, self.agent, task_of(self.view), returns=schema_of(self.view)).cost

    # ------------------------------------------------------------ judging

    def _judge(self, attempt: Child) -> Move | Finish:
        if attempt.exit in {"failure", "cancelled", "skipped"}:
            return self._reflect(self.view.memo, attempt, Words().say(f"It failed: {_why(attempt)}"))
        if unmet := self._unmet(attempt.output):
            memo = {**self.view.memo, "best": self.view.memo["best"] or [0.0, attempt.id]}
            return self._reflect(memo, attempt, Words().say(unmet))
        if self.trials is None:
            return self._finish({**self.view.memo, "best": [1.0, attempt.id]})
        if not self.trials.are_steps:
            return self._scored(self.view.memo, attempt, self.trials.score(attempt.output), "")
        path, born = f"steps.{attempt.id}.output", self.view.born
        tried = self.trials.trial(path, length_of(attempt.output), f"s{born + 1}", self.view.memo["round"])
        if not fits(tried.cost, self.view.left):
            why = f"; to judge this one, {lacking(tried.cost, self.view.left)}"
            return self._give_up(self.view.memo, attempt, Words().say("It could not be judged."), why)
        return Move(add=grown([tried], self.view.left), memo={**self.view.memo, "phase": "judge"})

    def _unmet(self, output: Any) -> str:
        """What a result does not fulfil; empty: it fulfils everything."""
        for each in self.options.accept:
            if each.schema_ is not None and (found := flaws(output, each.schema_)):
                return f"It does not fit: {'; '.join(found)}"
            if each.expr is not None and not _holds(each.expr, output):
                return f"It does not fulfil: {each.title or each.expr}"
        return ""

    def _judged(self, trial: Child) -> Move | Finish:
        memo = self.view.memo
        attempt = self.view.child(memo["at"])
        assert attempt is not None  # noqa: S101  it was grown by the move before
        assert self.trials is not None  # noqa: S101  somebody has judged
        return self._scored(memo, attempt, self.trials.score(attempt.output, trial), trial.id)

    def _scored(self, memo: Mapping[str, Any], attempt: Child, score: float | None, trial: str) -> Move | Finish:
        best = memo["best"]
        if score is not None and (best is None or score > best[0]):
            best = [score, attempt.id]
        if score is not None and score >= self.options.score:
            return self._finish({**memo, "best": [score, attempt.id]})
        words = Words().say("It could not be judged." if score is None else f"Its score is {score:g}.")
        tried = self.view.child(trial) if trial else None
        if tried is not None and _is_broke(tried):
            return self._give_up({**memo, "best": best}, attempt, words, f"; {_why(tried)}")
        if tried is not None and tried.exit == "success":
            words = words.say("\nThe judgement:\n").show(f"steps.{trial}.output.judge", tried.output["judge"])
        return self._reflect({**memo, "best": best}, attempt, words)

    # ------------------------------------------------------------ lessons

    def _reflect(self, memo: Mapping[str, Any], attempt: Child, wrong: Words) -> Move | Finish:
        """Ask for a lesson, if there is another round that it is for. None mends that the budget was too small."""
        if memo["round"] >= self.options.rounds or _is_broke(attempt):
            return self._give_up(memo, attempt, wrong, "")
        asked = self._question(memo, attempt, wrong)
        next_ = sum_of(self._call_cost(), self._judge_cost())
        needed = sum_of(asked.cost, next_)
        if not fits(needed, self.view.left):
            return self._give_up(memo, attempt, wrong, f"; for another round, {lacking(needed, self.view.left)}")
        tags = {f"s{self.view.born + 1}": LEARNED}
        return Move(add=grown([asked], rest_of(self.view.left, next_)), tags=tags, memo={**memo, "phase": "reflect"})

    def _question(self, memo: Mapping[str, Any], attempt: Child, wrong: Words) -> Asked:
        words = Words().say("The task:\n").show("inputs.task", self.view.task)
        words = words.say(f"\n\nAttempt {memo['round']} of {self.options.rounds} gave:\n")
        words = words.show(f"steps.{attempt.id}.output", attempt.output)
        words = words.say("\n\n").add(wrong).say(f"\n\n{self.options.ask}")
        return ask(self.view, self.agent, words, returns=LESSON)

    def _reflected(self, lesson: Child) -> Move:
        memo = self.view.memo
        known: Sequence[str] = memo["lessons"]
        if not hear(lesson, LESSON).flaws:
            known = [*known, lesson.id][-self.options.memory :]
        return self.attempt({**memo, "lessons": known, "round": memo["round"] + 1})

    # ------------------------------------------------------------ the end

    def _finish(self, memo: Mapping[str, Any]) -> Finish:
        _, id_ = memo["best"]
        attempt = self.view.child(id_)
        exit_ = attempt.exit if attempt is not None and attempt.exit in self.view.verdicts else "success"
        return Finish(exit_, self._output(memo))

    def _give_up(self, memo: Mapping[str, Any], attempt: Child, wrong: Words, why: str) -> Finish:
        """It is not good enough: say so, with the best there was and what was learned."""
        if memo["best"] is None:
            return Finish("failure", failure=attempt.failure or Failure("unmet", f"no attempt could be judged{why}"))
        told = f"the best of {memo['round']} attempts is not good enough: {wrong.text.partition(chr(10))[0]}{why}"
        return Finish("failure", self._output(memo), failure=Failure("unmet", told))

    def _output(self, memo: Mapping[str, Any]) -> Any:
        score, id_ = memo["best"]
        answer = ref(f"steps.{id_}.output")
        if schema_of(self.view) is not None:
            return answer
        lessons = [ref(_lesson(each)) for each in memo["lessons"]]
        return {"answer": answer, "lessons": lessons, "rounds": memo["round"], "score": score}


def _lesson(id_: str) -> str:
    return f"steps.{id_}.output.value.lesson"


def _is_broke(child: Child) -> bool:
    return child.failure is not None and child.failure.kind == "budget"


def _why(child: Child) -> str:
    return f"{child.failure.kind}: {child.failure.message}" if child.failure else child.exit


def _holds(source: str, output: Any) -> bool:
    try:
        return parse(source).evaluate({"output": output}) is True
    except ExpressionError:
        return False  # it lacks what is asked about

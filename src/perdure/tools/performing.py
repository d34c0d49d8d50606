"""Performing the calls of tools: each where it harms nobody else, and nothing that was not judged."""

import asyncio
import inspect
from collections.abc import Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from perdure.core.calls import Call, Outcome, Repeat
from perdure.core.policy import is_nothing, judge
from perdure.plan.problems import did_you_mean
from perdure.ports import Attempt, Desk, Memories
from perdure.tools.box import by_name, outside_of
from perdure.tools.calling import Function, Read, awaited, called, same
from perdure.tools.context import Context
from perdure.tools.declaring import found_out, parameters_of
from perdure.tools.failure import ToolFailure
from perdure.tools.guard import Guard, Unapproved
from perdure.tools.hands import Hands
from perdure.tools.process import in_process
from perdure.tools.threads import Threads
from perdure.tools.tool import AnyTool

if TYPE_CHECKING:
    from perdure.tools.rules import Rule

THREADS: Final = 32
"""Calls of plain functions at once."""


class ToolPerformer:
    """Does what tool steps ask for: `async` functions in the task, plain ones in a thread, isolated ones in a process.

    Cancelling the task ends the wait at once: the coroutine is cancelled, the process killed, the thread given up.
    """

    def __init__(  # noqa: PLR0913  each is a part of the world
        self,
        tools: Iterable[AnyTool],
        threads: int = THREADS,
        hands: Hands | None = None,
        *,
        thorough: bool = False,
        failures: "Sequence[Rule]" = (),
        memory: Memories | None = None,
        desk: Desk | None = None,
    ) -> None:
        """`thorough`: also those deeds are told that no rule has anything to say about.

        `failures`: the user's rules on what kind of failure is what. `memory`: what runs have taught. `desk`: who
        finds agents for work.
        """
        self._tools: Final = by_name(tools)
        self._threads: Final = Threads(threads)
        self._hands: Final = hands
        self._thorough: Final = thorough
        self._failures: Final = failures
        self._memory: Final = memory
        self._desk: Final = desk
        self.outside: Final = outside_of(self._tools)
        """What a tool by its name reads outside of the run, in words."""

    def perform(self, attempt: Attempt) -> Coroutine[Any, Any, Outcome]:
        """Do it."""
        tool = self._tools.get(attempt.call.name)
        if tool is None or attempt.call.kind != "tool":
            return self._unknown(attempt)
        if attempt.contained and (ended := self._refused(tool, attempt)) is not None:
            return _at_once(ended)
        if attempt.seconds is None and tool.timeout is not None:
            return self._within(tool.timeout, tool, attempt)
        return self._perform(tool, attempt, attempt.seconds)

    def tool_of(self, call: Call) -> AnyTool | None:
        """The tool that a call is for."""
        return self._tools.get(call.name) if call.kind == "tool" else None

    def may_rehearse(self, attempt: Attempt) -> bool:
        """Whether it touches nothing but what these hands reach."""
        tool = self.tool_of(attempt.call)
        return tool is not None and tool.may_rehearse(attempt.call.arguments, self._hands)

    async def judged(self, attempt: Attempt) -> Outcome:
        """What the rules say about a call as far as it can be foreseen, and nothing is done."""
        tool = self.tool_of(attempt.call)
        if tool is None:
            return await self._unknown(attempt)
        if attempt.contained and (ended := self._refused(tool, attempt)) is not None:
            return ended
        context = self._context(tool, attempt, None)
        outcome = self._classified(tool, attempt, await self._foreseen(tool, attempt, context))
        return replace(outcome, judged=context.judged)

    def _context(self, tool: AnyTool, attempt: Attempt, seconds: float | None) -> Context:
        hands = self._hands
        if attempt.contained:
            from perdure.tools.containing import hands_for  # noqa: PLC0415  few runs have branches

            hands = hands_for(attempt, hands)
        return Context(attempt, seconds, hands, lambda each: self._guard(tool, each), self._memory, self._desk)

    def _refused(self, tool: AnyTool, attempt: Attempt) -> Outcome | None:
        """How a step ends that is kept in a branch and cannot be done there."""
        from perdure.tools.containing import refused  # noqa: PLC0415  few runs have branches

        return refused(tool, attempt, self._hands)

    async def _foreseen(self, tool: AnyTool, attempt: Attempt, context: Context) -> Outcome:
        try:
            bound = tool.bind(attempt.call.arguments, context)
            context.guard.check(tool.deeds(attempt.call.arguments))
        except ToolFailure as refusal:
            return Outcome(exit="failure", failure=refusal.failure)
        except Unapproved as asked:
            return Outcome(exit="failure", approval=asked.approval)
        foresee = tool.declared.foresee
        return Outcome() if foresee is None else await self._aside(tool, foresee, context, bound)

    async def _within(self, seconds: float, tool: AnyTool, attempt: Attempt) -> Outcome:
        """The tool's own limit, where the plan has set none."""
        try:
            async with asyncio.timeout(seconds):
                return await self._perform(tool, attempt, seconds)
        except TimeoutError:
            return Outcome.failed("timeout", f'"{tool.name}" took longer than {seconds:g} seconds')

    async def _perform(self, tool: AnyTool, attempt: Attempt, seconds: float | None) -> Outcome:
        context = self._context(tool, attempt, seconds)
        try:
            outcome = await self._deed(tool, attempt, context)
        except asyncio.CancelledError:
            context.stop()
            raise
        if outcome.failure is not None:
            outcome = self._classified(tool, attempt, outcome)
        judged = context.judged
        outcome = replace(outcome, judged=judged) if judged else outcome
        return replace(outcome, **context.known) if context.known else outcome

    def _classified(self, tool: AnyTool, attempt: Attempt, outcome: Outcome) -> Outcome:
        """The failure with its kind, where that is for rules to say."""
        from perdure.tools.classifying import classified  # noqa: PLC0415  few calls fail
        from perdure.tools.signs import Told, safely  # noqa: PLC0415  few calls fail

        told = outcome.failure
        if not isinstance(told, Told):
            return outcome  # nothing failed, or the engine itself has said why
        repeat: Repeat = "safe"  # to look is harmless, and what takes back has to bear being called again
        if attempt.by == "call":
            repeat = safely(lambda: tool.repeat_of(attempt.call.arguments), "never")
        failure = classified(told, tool.name, repeat, self._failures, tool.declared.failures)
        return replace(outcome, failure=failure)

    def _guard(self, tool: AnyTool, attempt: Attempt) -> Guard:
        return Guard(attempt, lambda: tool.definition, thorough=self._thorough)

    def _is_minded(self, tool: AnyTool, attempt: Attempt) -> bool:
        """Whether any rule has something to say about a call, or about what it reaches."""
        if attempt.by != "call" or not attempt.layers:
            return False
        if self._thorough or tool.declared.reaches:
            return True
        return not is_nothing(judge(attempt.layers, tool.called))

    def _deed(self, tool: AnyTool, attempt: Attempt, context: Context) -> Coroutine[Any, Any, Outcome]:
        try:
            bound = self._bound(tool, attempt, context)
            if self._is_minded(tool, attempt):
                context.guard.check(tool.deeds(attempt.call.arguments))
        except ToolFailure as refusal:
            return _at_once(Outcome(exit="failure", failure=refusal.failure))
        except Unapproved as asked:
            return _at_once(Outcome(exit="failure", approval=asked.approval))
        if attempt.by != "call":
            return self._beside(tool, attempt, context, bound)
        if tool.isolate:
            return in_process(tool, attempt, context)
        if tool.is_async:
            if tool.signature.context is not None:
                context.follow(asyncio.current_task())
            return awaited(tool, bound)
        return self._threads.run(lambda: called(tool, bound))

    def _bound(self, tool: AnyTool, attempt: Attempt, context: Context) -> dict[str, Any]:
        """The arguments as the tool reads them; to take a call back, only those are there that it wants for that."""
        if attempt.by == "undo":
            return dict(attempt.call.arguments)
        return tool.bind(attempt.call.arguments, context)

    async def _beside(self, tool: AnyTool, attempt: Attempt, context: Context, bound: dict[str, Any]) -> Outcome:
        """Find out about a call, or take it back, with a function of its own."""
        function = tool.declared.probe if attempt.by == "probe" else tool.declared.undo
        if function is None:
            return Outcome.failed("invalid", f'"{tool.name}" has no {attempt.by}')
        read = found_out if attempt.by == "probe" else same
        return await self._aside(tool, function, context, {**bound, "output": attempt.output}, read)

    async def _aside(
        self, tool: AnyTool, function: Function, context: Context, bound: dict[str, Any], read: Read = same
    ) -> Outcome:
        """Call a function that belongs to a tool, with what it has parameters for."""
        known = {**bound, "key": context.key, "context": context}
        wanted = {name: known[name] for name in parameters_of(function) if name in known}
        if inspect.iscoroutinefunction(function):
            return await awaited(tool, wanted, function, read)
        return await self._threads.run(lambda: called(tool, wanted, function, read))

    async def _unknown(self, attempt: Attempt) -> Outcome:
        call = attempt.call
        if call.kind != "tool":
            return Outcome.failed("invalid", f'"{call.name}" is not a tool but {call.kind}, which is done elsewhere')
        hint = did_you_mean(call.name, self._tools)
        return Outcome.failed("invalid", f'there is no tool "{call.name}"' + (f"; {hint}" if hint else ""))


async def _at_once(outcome: Outcome) -> Outcome:
    """An end that is known before anything is done."""
    return outcome

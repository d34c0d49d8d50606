"""The engine: open a journal, start runs, and talk to them."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, cast

import msgspec

from perdure.collector import spare_what_is_loaded
from perdure.control import serve, socket_of
from perdure.core import events as e
from perdure.core.accepting import Look, Mended, accept, is_said_before, reopened
from perdure.core.evolve import evolve
from perdure.core.outline import Outline
from perdure.core.policy import Layer
from perdure.core.refusing import Refused
from perdure.core.state import State
from perdure.core.values import keep, well_formed
from perdure.engine.desk import FrontDesk
from perdure.engine.handle import RunHandle
from perdure.engine.heads import Heads, loops_of
from perdure.engine.ids import new_id
from perdure.engine.knowing import Everyone, knowledge_of
from perdure.engine.means import Means
from perdure.engine.memory import Recollection
from perdure.engine.planning import check_gate
from perdure.engine.reaching import Elsewhere, hands_for, layers_of, state_of, tools_of
from perdure.engine.replanning import let_replan
from perdure.engine.requests import replies_of
from perdure.engine.result import Result
from perdure.engine.secrets import Discreet, Secrets, kept_out_of_logs
from perdure.engine.starting import accepted, check_session, first_fact
from perdure.errors import PerdureError
from perdure.journal import open_journal
from perdure.plan import Plan
from perdure.plan.model.parts import Policy
from perdure.ports import Artifact, Clock, Journal, Model, ModelFailed, Performer
from perdure.runtime.clock import SystemClock
from perdure.runtime.host import Host
from perdure.runtime.room import Limits
from perdure.runtime.runner import Runner
from perdure.supervisor import Supervisor, flag_of
from perdure.tools import AnyTool, ToolPerformer, toolbox_of
from perdure.tools.box import by_name
from perdure.tools.hands import Hands, Tier

if TYPE_CHECKING:
    from perdure.agents.agent import Agent
    from perdure.core.adjusting import Adjuster
    from perdure.engine.forgetting import Forgotten
    from perdure.engine.redeciding import Redecided
    from perdure.engine.rehearsing import Rehearsal
    from perdure.engine.stubbing import Stubbed
    from perdure.estimates.sources import Means as Known
    from perdure.models import Models
    from perdure.plan import Toolbox
    from perdure.plan.edits import AnyEdit
    from perdure.plan.problems import Problem
    from perdure.tools.rules import Rule

_log: Final = logging.getLogger("perdure.engine")
NOTHING: Final[Mapping[str, Any]] = {}
Face = Callable[[Mapping[str, Any]], Awaitable[Any]]
"""Answers a request with plain data."""
PATIENCE: Final = 5.0
"""Seconds that attempts have to come to their end when an engine is closed."""


class Engine:
    """Carries out plans, and remembers how far each came. Open it with `Engine.open`."""

    def __init__(self, journal: Journal, host: Host, means: Means, plans: Mapping[str, Plan]) -> None:
        self.journal = journal
        self.host = host
        self._means = means
        named = {each.digest: each for each in map(Outline, plans.values())}
        host.named.update(named)
        self._named = [Artifact(digest, each.data) for digest, each in named.items()]
        self.state: Path | None = None
        """Where hands keep what is needed to take runs back."""
        self.idle = False
        """Whether it takes messages but begins nothing."""
        self._secrets = Secrets({})
        self._heads: Heads | None = None
        self.memory = Recollection(journal, host.clock, self._secrets)
        """What runs have taught."""
        self.faces: dict[str, Face] = {}
        """What other processes of the user may ask of a face that is open here, by the word they ask it with."""
        self.left: dict[str, PerdureError] = {}
        """Runs that were under way and could not be carried on here, and why."""
        host.why_not = self._why_not

    @classmethod
    @asynccontextmanager
    async def open(  # noqa: PLR0913  every part can be replaced, and most never are
        cls,
        path: Path | str = ":memory:",
        *,
        tools: Iterable[AnyTool] = (),
        plans: Mapping[str, Plan] | None = None,
        performer: Performer | None = None,
        strategies: Mapping[str, Any] | None = None,
        secrets: Mapping[str, str] | None = None,
        workspace: Path | str | None = None,
        policy: Policy | tuple[Layer, ...] | None = None,
        tier: Tier = "bwrap",
        toolchains: tuple[Path, ...] = (),
        limits: Limits | None = None,
        clock: Clock | None = None,
        resume: bool = False,
        idle: bool = False,
        patience: float = PATIENCE,
        network: bool = False,
        journal: Journal | None = None,
        supervise: bool = False,
        memory: int = 0,
        failures: "Sequence[Rule]" = (),
        agent_planning: bool = False,
        adjust: "Adjuster | None" = None,
        models: "Models | Mapping[str, Model | str] | Callable[[], Models] | None" = None,
        agents: "Iterable[Agent] | Callable[[], Iterable[Agent]]" = (),
    ) -> AsyncGenerator[Self]:
        """An engine on a journal, which is made if it is not there. `:memory:` keeps nothing.

        `workspace` is the directory that files, commands and git work on, and `policy` what may be done there and
        elsewhere: a plan can only take away from it. Without one, no host is reached. `tier` is what commands are
        kept in, and `toolchains` are directories that they see besides the system's programs.

        `models` are what `weak`, `default` and `strong` stand for: each a `provider:model`, or a model of your own.
        `agents` are whom plans may give work to; `strategies` are ways of working of your own.

        `performer` does what nobody else here does: models, agents, tools. `resume` goes on with all runs that
        were under way. `idle` takes messages but begins nothing. `secrets` are what `${secrets.NAME}` stands for; those
        that it lists are taken out of all that comes back.

        `supervise` has a process beside this one that ends it when its event loop is blocked and it has to end, or when
        it takes more than `memory` megabytes (0: no limit).

        `failures` are rules on what kind of failure is what; they count before those of tools and our own.

        `agent_planning` lets plans change while they are carried out: by the results of steps that `grow`, by the rules
        of the plan, by `adjust`, a pure function that is asked when a step is over, and by agents, who may call
        `planning.replan` then. Without it nothing changes.
        """
        spare_what_is_loaded()
        check_gate(adjust, is_open=agent_planning)
        agents = agents if callable(agents) else tuple(agents)
        own = [tool for each in loops_of(agents).values() for tool in each.tools]
        known = by_name([*tools_of(workspace), *tools, *own])
        named = dict(plans or {})
        held = Secrets({} if secrets is None else secrets)  # one that lists nothing may still have some
        layers = layers_of(policy)
        is_all = performer is None
        heads = Heads(models, agents, known, layers, is_all=is_all, planning=agent_planning)
        grown = heads.strategies(strategies or {})
        knowledge = knowledge_of(known.values(), named, grown, held, layers, is_all=is_all, expected=heads.expected)
        async with AsyncExitStack() as closing:
            hands = hands_for(workspace, path, (tier, toolchains), closing)
            closing.push_async_callback(heads.close)
            if secrets is not None:
                closing.enter_context(kept_out_of_logs(held))
            kept = journal or await open_journal(path, network=network)
            closing.push_async_callback(kept.close)
            time = clock or SystemClock()
            recollection = Recollection(kept, time, held)
            desk = FrontDesk(heads, recollection)
            doing: Performer = Everyone(known, performer, hands, failures, heads, recollection, desk)
            if secrets is not None:
                doing = Discreet(doing, held)
            host = Host(kept, doing, time, knowledge, _limits_of(known, limits or Limits()))
            desk.host, host.leave = host, heads.leave
            host.rules.planning, host.rules.adjust = agent_planning, adjust
            let_replan(host.rules, known, heads.lent)
            if performer is None and not idle:
                host.rules.toolbox = lambda: toolbox_of(known.values())
            engine = cls(kept, host, Means(known, host.rules, hands, is_all=is_all), named)
            engine._secrets, engine.memory, engine._heads = held, recollection, heads
            engine.state = hands.state if hands else None if str(path) == ":memory:" else state_of(path)
            closing.push_async_callback(host.close, patience)
            if idle:
                engine.idle = True
                host.room.close()
            await host.note_locks()
            if journal is None and str(path) != ":memory:":
                await closing.enter_async_context(serve(socket_of(Path(path)), replies_of(engine)))
                if supervise:
                    supervisor = Supervisor(flag_of(path), host.left, memory, host.grace)
                    host.heart = (await closing.enter_async_context(supervisor)).beat
            if resume:
                await engine.resume()
                engine._tell_left()
            yield engine

    # ------------------------------------------------------------ runs

    async def start(  # noqa: PLR0913  each is a word of its own, given by name
        self,
        plan: Plan,
        inputs: Mapping[str, Any] | None = None,
        *,
        session: str = "",
        parent: str = "",
        seed: int | None = None,
        workspace: str = "",
        run: str = "",
    ) -> RunHandle:
        """Begin a run. When this returns it is in the journal, and no crash makes it unheard of.

        `workspace` is the directory it is meant for; another one than that of the engine is refused. `run` is the id
        it gets, which no run must have; without it, one that nobody else has.
        """
        outline = self.prepare(plan)
        self._means.check_agents(outline, self._heads)
        place = self._means.place_for(outline, workspace)
        at = self.host.clock.now()
        run = run or new_id("r", at)
        check_session(session)
        given = accepted(plan, inputs or {})
        chance = int.from_bytes(run.encode()) % 2**32 if seed is None else seed
        started, artifacts = first_fact(
            outline, given, at, seed=chance, session=session, parent=parent, workspace=place
        )
        await self.host.start(run, started, [*artifacts, *self._named])
        return RunHandle(self, run)

    async def rehearse(
        self,
        plan: Plan,
        inputs: Mapping[str, Any] | None = None,
        *,
        like: str | Mapping[str, Any] = NOTHING,
        seed: int = 0,
    ) -> "Rehearsal":
        """Walk a plan and do nothing to the world: what it would read, write, run, connect to and ask.

        What changes files is done on a copy of the workspace. What is not known is assumed, or taken from an
        earlier run: `like` is its id, or what its steps gave.
        """
        from perdure.engine.copying import on_a_copy  # noqa: PLC0415  few need it
        from perdure.engine.rehearsing import Walk, outputs_of  # noqa: PLC0415  few need it, and it loads much

        outline, at = self.prepare(plan), self.host.clock.now()
        started, artifacts = first_fact(outline, accepted(plan, inputs or {}), at, seed=seed)
        kept = {each.digest: each.data for each in artifacts if each.data is not None}
        recorded = dict(outputs_of((await self.host.runner(like)).state)) if isinstance(like, str) else like

        async def walk(hands: Hands | None) -> "Rehearsal":
            performer = ToolPerformer(self._means.tools.values(), hands=hands, thorough=True, memory=self.memory)
            walking = Walk(
                replace(self.host.rules, strategies={}), performer, self.host.layers, recorded, self._secrets
            )
            return await walking.through(started, kept, at)

        found, diff = await on_a_copy(self._means.hands, walk)
        return replace(found, diff=self._secrets.redactor.text(diff))

    def lacks(self, plan: Plan, inputs: Mapping[str, Any] | None = None) -> "list[Problem]":
        """All that stands in the way of a plan here, before its first step: what is an error keeps it from its end.

        Tools, agents, ways of working and models that are not there, skills that nobody has, inputs and secrets that
        nobody gives, budgets that do not suffice even on the cheapest way. `start` refuses what it cannot begin; this
        also tells what would fail on the way.
        """
        from perdure.agents.feasibility import infeasible, lacking  # noqa: PLC0415  few ask

        means = self._means.told(inputs or {}, self._secrets, self._heads)
        return (infeasible if self._means.is_all else lacking)(plan, means)

    def prepare(self, plan: Plan) -> Outline:
        """Make a plan ready, once for all of its runs; `PlanError` if it cannot be carried out here."""
        found = self.host.ready(plan)
        if found is not None:
            return found
        outline = Outline(plan)
        self._means.check(outline)
        outline.make_ready()
        return self.host.remember(outline)

    def run(self, run: str) -> RunHandle:
        """A run by its id."""
        return RunHandle(self, run)

    async def find(self, name: str) -> RunHandle:
        """A run by its id, the beginning of its id, or `@last`."""
        return RunHandle(self, (await self.journal.run(name)).id)

    async def result(self, run: str) -> Result:
        """A run as it stands now."""
        return Result((await self.host.runner(run)).state)

    # ------------------------------------------------------------ messages

    async def resume(self, run: str | None = None, by: str = "", map: Mapping[str, str] | None = None) -> list[str]:  # noqa: A002  the word users write
        """Go on: with one run, also if it was paused; or with all that were under way when a process ended.

        A run that still calls what is not there any more stays as it was, and `Gone` says what that is; when all are
        resumed, such runs are in `left`. `map` says what a tool, a strategy or a plan is called now, by its old name.
        """
        if run is None:
            return await self._resume_all()
        runner = await self.host.runner(run)
        if map:
            runner = await self._map(runner, map, by)
        if runner.state.ended is None and runner.is_foreign:
            self._take_up(runner)
        for message in (e.RunResumed(by=well_formed(by)), Look()):  # one that was stuck and not paused tries again
            with suppress(Refused):
                await runner.send(message)
        return [run]

    async def retry(  # noqa: PLR0913  each is a word of its own, given by name
        self,
        run: str,
        step: str = "",
        by: str = "",
        *,
        edits: "Sequence[AnyEdit | Mapping[str, Any]]" = (),
        why: str = "",
        base: int | None = None,
        widen: bool = False,
    ) -> list[str]:
        """Go on with a run that failed or was cancelled: with a new visit of a step, or of whatever was cut off.

        `edits` change its plan first, as `revise` does: what comes again may be another step then. Both are done, or
        neither.
        """
        message = e.RunReopened(step=step, by=well_formed(by))
        if not edits:  # else what is left may be something else; what is new is looked at with the edits
            await self._check_reopened(await self.host.runner(run), message)
        runner = await self.host.reopened(run)
        if not edits:
            await runner.send(message)
        else:
            revised = self._revision(runner, edits, by=by, why=why, base=base, widen=widen)
            await runner.send(Mended(message, revised))
        return [run]

    async def fork(  # noqa: PLR0913  each is a word of its own, given by name
        self,
        run: str,
        *,
        at: int | None = None,
        step: str = "",
        inputs: Mapping[str, Any] | None = None,
        by: str = "",
        plan: Plan | None = None,
    ) -> RunHandle:
        """A new run that goes its own way from where another one stood. When this returns it is in the journal.

        It begins with the facts of `run`: the first `at` of them, or those before the last visit of `step`. Without
        either, those before the step whose failure it was, or all of them if the run is not over. What was done by then
        is not done again, and is not taken back here. `inputs` are seen in place of those of the run from there on.
        `plan` is what its plan is to be from there on: a revision, which may be refused.
        """
        from perdure.engine.forking import Fork, forked  # noqa: PLC0415  few need it

        wish = Fork(at, well_formed(step), inputs, well_formed(by), plan)
        rules, now = replace(self.host.rules), self.host.clock.now()
        made = await forked(self.journal, rules, run, wish, now, check=self._means.check_run)
        last = msgspec.structs.replace(made[-1], artifacts=[*made[-1].artifacts, *self._named])
        return RunHandle(self, (await self.host.begin([*made[:-1], last])).run)

    async def stub(self, run: str, plan: Plan | None = None, inputs: Mapping[str, Any] | None = None) -> "Stubbed":
        """Carry out the plan of a run, or a changed one, with what the run has recorded of the world.

        Nothing is executed and nothing is written. A call that was not recorded stops it.
        """
        from perdure.engine.stubbing import stubbed  # noqa: PLC0415  few need it

        return await stubbed(self.journal, replace(self.host.rules), run, plan, inputs)

    async def redecide(self, run: str) -> "Redecided":
        """Decide every turn of a run again, by the rules of today, up to the first that would be another one.

        Nothing is executed and nothing is written.
        """
        from perdure.engine.redeciding import redecided  # noqa: PLC0415  few need it

        return await redecided(self.journal, run, replace(self.host.rules), self._means.tools)

    async def at(self, run: str, seq: int) -> Result:
        """A run as it stood after its first `seq` facts."""
        from perdure.engine.viewing import View  # noqa: PLC0415  few need it

        return (await View.of(self.journal, run, seq)).result

    # ------------------------------------------------------------ what can be carried on here

    def _why_not(self, state: State) -> PerdureError | None:
        """Why a run cannot be carried on here."""
        return None if self.idle else self._means.why_not(state)  # where nothing begins, nothing is missed

    def _take_up(self, runner: Runner) -> None:
        """Carry a run on that could not be before: its plan was edited, or names of it stand for others now."""
        self._means.check_run(runner.state)
        runner.take_up()

    async def _check_reopened(self, runner: Runner, message: e.RunReopened) -> None:
        """Whether a run that is over could be carried on if it were not."""
        if runner.state.ended is None:
            return  # which is refused
        found, entries = await self.journal.load(runner.run)
        state = self.host.folded(found, entries)
        accept(state, message, state.at)
        evolve(state, e.RunReopened(step=reopened(state, message), by=message.by), state.at)
        self._means.check_run(state)

    async def _map(self, runner: Runner, names: Mapping[str, str], by: str) -> Runner:
        """Make a fact of what somebody says about names; also of a run that is over, which may be taken back."""
        message = self._means.here.mapped(runner.state, names, well_formed(by))
        self._means.check_place_of(runner.state)
        if runner.state.ended is not None:
            runner = await self.host.reopened(runner.run)
        await runner.send(message)
        return runner

    @property
    def tools(self) -> Iterable[str]:
        """The names of the tools that are known here."""
        return tuple(self._means.tools)

    @property
    def toolbox(self) -> "Toolbox | None":
        """What plans may rely on here; None: somebody else performs here too, and may know more."""
        return toolbox_of(self._means.tools.values()) if self._means.is_all else None

    @property
    def known(self) -> "Known":
        """What tools declare that they take, and what models cost: what an estimate rests on besides earlier runs."""
        from perdure.estimates.sources import Means as Known  # noqa: PLC0415  few look ahead

        tools = self._means.tools
        declared = {name: dict(tool.declared.estimate or {}) for name, tool in tools.items()}
        return Known(declared, self.host.room.limits.tools, self._price, self.host.room.limits.run)

    def _price(self, model: str, tokens_in: int, tokens_out: int) -> float | None:
        try:
            return None if self._heads is None else cast("Model", self._heads.find(model)).price(tokens_in, tokens_out)
        except (PerdureError, ModelFailed):
            return None

    @property
    def models(self) -> Mapping[str, str]:
        """What `weak`, `default` and `strong` stand for here, as far as models have names."""
        return {} if self._heads is None else self._heads.named

    async def _resume_all(self) -> list[str]:
        runs = await self.host.under_way()
        going = [run.id for run in runs if run.summary.status in {"running", "stopping"}]
        for run in runs:
            if run.summary.status == "waiting":
                self.host.note_sleeper(run)
        loaded = await asyncio.gather(*(self.host.runner(run) for run in going), return_exceptions=True)
        self.left = {run: why for run, found in zip(going, loaded, strict=True) if (why := self._why_left(found))}
        return [run for run in going if run not in self.left]

    def _tell_left(self) -> None:
        for run, why in self.left.items():
            _log.error("the run %s does not go on: %s: %s", run, why.code, why)

    def _why_left(self, found: Runner | BaseException) -> PerdureError | None:
        """One run that cannot be believed, or be carried on here, must not keep the others from going on."""
        if isinstance(found, Runner):
            return found.foreign
        if self.host.failure is not None or not isinstance(found, PerdureError):
            raise found
        return found

    async def pause(self, run: str, reason: str = "", by: str = "") -> None:
        """Begin nothing new in a run. What is at work goes on to its end."""
        await self._send(run, e.RunPaused(reason=well_formed(reason), by=well_formed(by)))

    async def cancel(self, run: str, step: str = "", reason: str = "", by: str = "") -> None:
        """End a run, or one of its steps, with `cancelled`. What was done stays done."""
        if step:
            await self._send(run, e.StepStopping(step=step))
        else:
            await self._send(run, e.RunStopping(exit="cancelled", reason=well_formed(reason), by=well_formed(by)))

    async def rollback(self, run: str, to: str = "", reason: str = "", by: str = "") -> list[str]:
        """Take back what a run has done, the latest first: all of it, or what came after a checkpoint.

        A run that is under way is stopped first. What could not be taken back stands in its failure.
        """
        state = (await self.host.runner(run)).state
        self._means.check_place_of(state)
        self._means.here.check_back(state)
        said: dict[str, Any] = {"reason": well_formed(reason), "by": well_formed(by)}
        runner = await self.host.reopened(run)
        await runner.send(e.RunStopping(exit="rolled_back", to=to, **said))
        if runner.is_foreign:  # what was still to come does not matter any more
            self._take_up(runner)
        return [run]

    async def answer(self, run: str, question: str, value: Any, by: str = "", reason: str = "") -> bool:
        """Answer a question; whether that is news. The first valid answer counts, and `Answered` tells who gave it.

        Whoever gives the same answer once more, because nobody told them that it had arrived, is not refused.
        """
        runner = await self.host.runner(run)
        about = {"by": well_formed(by), "reason": well_formed(reason)}
        message = e.QuestionAnswered(question=question, value=keep(value, runner.state.kept), **about)
        try:
            await runner.send(message)
        except Refused:
            if is_said_before(runner.state, message):
                return False
            raise
        return True

    async def signal(self, run: str, name: str, value: Any = None, by: str = "") -> None:
        """Tell a run that something happened outside. It is kept until a step takes it."""
        runner = await self.host.runner(run)
        kept = keep(value, runner.state.kept)
        await runner.send(e.SignalReceived(name=well_formed(name), value=kept, by=well_formed(by)))

    async def revise(  # noqa: PLR0913  each is a word of its own, given by name
        self,
        run: str,
        edits: "Sequence[AnyEdit | Mapping[str, Any]]",
        *,
        by: str = "",
        why: str = "",
        base: int | None = None,
        widen: bool = False,
    ) -> int:
        """Edit the plan of a run that is not over; the number of the new revision. One that failed: `retry`.

        What is over and what is at work stays as it is. `base` is the revision that the edits were made for; without
        it, the present one. `widen` says that a person lets the plan's budget or policy become wider. Edits are taken
        whole or refused whole: `NotRevised` has every reason.
        """
        from perdure.engine.revising import number_of  # noqa: PLC0415  few runs are revised

        runner = await self.host.runner(run)
        message = self._revision(runner, edits, by=by, why=why, base=base, widen=widen)
        await runner.send(message)
        return number_of(runner.state, message)

    async def proposed(
        self, run: str, edits: "Sequence[AnyEdit | Mapping[str, Any]]", **said: Any
    ) -> tuple[Plan, Plan]:
        """The plan of a run, and what `revise` would make of it. Nothing is written, and nobody else sees it."""
        from perdure.engine.revising import message_of, proposed  # noqa: PLC0415  few runs are revised

        message = message_of(edits, **said)
        self._check_reach(message, (await self.host.runner(run)).state)
        return await proposed(self.journal, self.host.rules, run, message)

    def _revision(
        self, runner: Runner, edits: "Sequence[AnyEdit | Mapping[str, Any]]", by: str, why: str, **said: Any
    ) -> e.RunRevised:
        """The message, after all that it needs is there."""
        from perdure.engine.revising import message_of  # noqa: PLC0415  as above

        message = message_of(edits, by=well_formed(by), why=well_formed(why), **said)
        self._check_reach(message, runner.state)
        runner.state.kept.update((each.digest, each.data) for each in self._named if each.data is not None)
        return message

    def _check_reach(self, message: e.RunRevised, state: State) -> None:
        """`Elsewhere` if a run that works on no directory would begin to: nobody has said on which."""
        from perdure.engine.revising import steps_in  # noqa: PLC0415  as above

        started = state.started
        new = Plan.model_construct(steps=tuple(steps_in(message)))
        if started is not None and not started.workspace and self._means.place_for(Outline(new), ""):
            told = "the run works on no directory, and a new step would"
            raise Elsewhere(told, "start a new run with the plan as it shall be")

    async def stop(self, by: str = "") -> list[str]:
        """The kill switch: cancel every run that is not over, at once."""
        runs = [run.id for run in await self.host.under_way()]
        await asyncio.gather(
            *(self.cancel(run, reason="stopped with all others", by=by) for run in runs), return_exceptions=True
        )
        return runs

    async def sweep(self, before: int, keep: int = 0) -> "Forgotten":
        """Forget runs that are over and were last touched before a time, in milliseconds, except the newest `keep`.

        What hands have kept for them goes too, once it is a day old: others may be at work meanwhile.
        """
        from perdure.engine.forgetting import AT_WORK, Beside, Forgotten, forget  # noqa: PLC0415  few need it

        if self.state is None:
            return Forgotten(*msgspec.structs.astuple(await self.journal.sweep(before, keep)))
        tier = self._means.hands.tier if self._means.hands else "bwrap"
        beside = Beside(self.state, tier, AT_WORK)
        return await forget(self.journal, beside, before, keep)

    async def _send(self, run: str, message: Any) -> Runner:
        runner = await self.host.runner(run)
        await runner.send(message)
        return runner


def run_sync(plan: Plan, inputs: Mapping[str, Any] | None = None, **settings: Any) -> Result:
    """Carry out a plan and wait for its end, in a script without an event loop. Settings are those of `Engine.open`."""

    async def carried_out() -> Result:
        async with Engine.open(**settings) as engine:
            return await (await engine.start(plan, inputs)).result()

    return asyncio.run(carried_out())


def _limits_of(tools: Mapping[str, AnyTool], said: Limits) -> Limits:
    """What tools say about themselves holds where nothing else was said."""
    by_tool = {tool.name: tool.limit for tool in tools.values() if tool.limit is not None}
    return replace(said, tools={**by_tool, **said.tools})

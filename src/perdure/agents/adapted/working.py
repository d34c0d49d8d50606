"""An adapted agent at work: its stretches, the calls of its tools, and the questions to its model."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from pydantic_ai import Tool as TheirTool
from pydantic_ai import UsageLimits
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import StructuredDict
from pydantic_ai.settings import ModelSettings
from pydantic_ai.toolsets import FunctionToolset

from perdure.agents.adapted.errors import Changed, NotAdapted
from perdure.agents.adapted.held import HeldLoop, Want
from perdure.agents.adapted.hooks import Holding
from perdure.agents.adapted.keeping import Kept, Place
from perdure.agents.adapted.reading import AnyAgent
from perdure.agents.adapted.recording import fact_of
from perdure.agents.adapted.telling import answer_of, failure_of, likely_price, price_of, prompt_of, usage_of
from perdure.agents.adapted.tier import ASKING, Tier
from perdure.agents.strategies.adapted import STRETCH, changes
from perdure.core.calls import Call, Earlier, Outcome
from perdure.errors import PerdureError
from perdure.models.answering import usage_of as taken_by
from perdure.models.failing import failed
from perdure.models.naming import outer
from perdure.models.performing import USUAL_TOKENS
from perdure.plan.tokens import FRAME, tokens_of
from perdure.ports import Attempt, ModelFailed
from perdure.ports import Model as Port
from perdure.tools import AnyTool, Context, Tool, ToolFailure
from perdure.tools.declaring import Declaration
from perdure.tools.given import Given
from perdure.tools.tool import checked_name

if TYPE_CHECKING:
    from perdure.models import Models

CALLING: Final[ContextVar[Context]] = ContextVar("perdure.adapted.calling")
WORDS: Final = ("task", "given", "context", "instructions", "returns", "results", "who")
TAKES: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["task", "who"],
    "properties": {each: {} for each in WORDS},
}
T = TypeVar("T")
Deps = Callable[[Mapping[str, Any]], Any]
"""What an agent depends on, from the facts that its step gives."""


class AdaptedLoop:
    """The loop of one agent, in as many runs as there are."""

    def __init__(  # noqa: PLR0913, PLR0917  each is a word of `adapted`
        self,
        name: str,
        agent: AnyAgent,
        who: Mapping[str, Any],
        own: Mapping[str, TheirTool[Any]],
        declared: Mapping[str, Mapping[str, Any]],
        deps: Deps | None,
        tier: str,
        wanted: Sequence[str],
        limits: UsageLimits | None = None,
    ) -> None:
        self._name: Final = name
        self._agent: Final = agent
        self._who: Final = who
        self._deps: Final = deps
        self._tier: Final = tier
        self._wanted: Final = wanted
        self._limits: Final = limits
        self._kept: Final = Kept()
        self._ours: Sequence[AnyTool] = ()
        self._models: Callable[[], Models] | None = None
        self._names: Final = {each: f"{name}.{each}" for each in own}
        self.tools: Final = (
            self._stretch_tool(),
            *(self._tool(each, declared.get(key, {})) for key, each in own.items()),
        )
        """What its steps call."""

    def meet(self, tools: Mapping[str, AnyTool], models: "Callable[[], Models]") -> None:
        """Learn what there is beside it: tools that it may call, and models that it may ask."""
        mine = {each.name for each in self.tools}
        named = sorted(each for each in tools if any(fnmatchcase(each, pattern) for pattern in self._wanted))
        self._ours = [tools[each] for each in named if each not in mine]
        self._names.update({outer(each.name): each.name for each in self._ours})
        self._models = models

    async def close(self) -> None:
        """Give up all loops; they can be led again to where they were."""
        await self._kept.close()

    def leave(self, run: str) -> None:
        """Give up what is kept for a run, which does not go on here."""
        self._kept.leave(run)

    # ------------------------------------------------------------ tools

    def _stretch_tool(self) -> AnyTool:
        async def stretch(arguments: dict[str, Any], context: Context) -> Any:
            return await self._stretch(arguments, context)

        stretch.__module__, stretch.__qualname__ = "pydantic_ai", self._name
        told = f"Let the agent {self._name} go on, up to what it wants next."
        return Tool(
            checked_name(f"{self._name}.{STRETCH}"),
            stretch,
            told,
            Given(TAKES),
            "safe",
            declared=Declaration(effects=()),
        )

    def _tool(self, theirs: TheirTool[Any], declared: Mapping[str, Any]) -> AnyTool:
        async def call(arguments: dict[str, Any], context: Context) -> Any:  # noqa: ARG001  the agent has them already
            return await self._call(context)

        call.__module__, call.__qualname__ = "pydantic_ai", self._name
        words = dict(declared)
        repeat, limit, timeout = words.pop("repeat", "never"), words.pop("limit", None), words.pop("timeout", None)
        name, told = checked_name(f"{self._name}.{theirs.name}"), (theirs.description or "").partition("\n")[0]
        said = Declaration(**words)
        return Tool(
            name,
            call,
            told,
            _Read(theirs.function_schema.json_schema),
            repeat,
            limit=limit,
            timeout=timeout,
            declared=said,
        )

    # ------------------------------------------------------------ a stretch

    async def _stretch(self, arguments: Mapping[str, Any], context: Context) -> Any:
        if told := changes(arguments["who"], self._who):
            raise ToolFailure("invalid", f"{Changed.code}: {told}")
        place = _place_of(context.run, context.step)
        with self._kept.used(place, lambda: self._begun(place, context.earlier, arguments)) as held:
            held.tell(arguments.get("results", ()))
            found = await self._or_dropped(place, held, held.settled())
            if held.is_over:
                self._kept.drop(place, held)
                return {"answer": answer_of(found.output)}
            _note_places(held, _number_of(context.step), held.wants)
            return {"wants": held.wants}

    async def _or_dropped(self, place: Place, held: HeldLoop, coming: Awaitable[T]) -> T:
        """What a loop comes to. One that has failed is of no use to the next try."""
        try:
            return await coming
        except Exception as error:
            self._kept.drop(place, held)
            raise failure_of(error) from error

    def _begun(self, place: Place, earlier: Sequence[Earlier], given: Mapping[str, Any] | None = None) -> HeldLoop:
        """A loop that is led to where the work is."""
        stretches = [each for each in earlier if each.call.name == f"{self._name}.{STRETCH}"]
        if given is None and not stretches:
            raise ToolFailure("invalid", f"only the agent {self._name} can call its own tools; give a step to it")
        known = [want for each in stretches for want in each.output.get("wants", ())]
        calls = [each.call.arguments for each in stretches] + ([given] if given is not None else [])
        results = [result for each in calls for result in each.get("results", ())]
        held = HeldLoop(known, results)
        for each in stretches:
            _note_places(held, _number_of(each.step), each.output.get("wants", ()))
        held.begin(lambda: self._run(held, calls[0], "/".join(place)))
        return held

    async def _run(self, held: HeldLoop, given: Mapping[str, Any], name: str) -> Any:
        facts: Mapping[str, Any] = given.get("given", {})
        form = given.get("returns")
        return await self._agent.run(
            prompt_of(given, {} if self._deps else facts),
            deps=self._deps(facts) if self._deps else None,
            model=self._model(),
            instructions=given.get("instructions"),
            output_type=None if form is None else StructuredDict(dict(form), "answer"),
            toolsets=[FunctionToolset([_stand_in(each) for each in self._ours])] if self._ours else None,
            capabilities=[Holding(held, self._names, self._ask)],
            usage_limits=self._limits,
            run_id=name,
            conversation_id=name,
            infer_name=False,
        )

    def _model(self) -> Model:
        own = self._agent.model
        if own is not None and not self._tier:
            return infer_model(own)
        return Tier(self._asked, self._port(), {outer(each.name): each.name for each in self._ours})

    @property
    def _asked(self) -> str:
        return self._tier or "default"

    def _port(self) -> Port:
        if self._models is None:
            raise NotAdapted("nobody said which models there are", "open an engine with `models=`")
        return self._models().find(self._asked)

    # ------------------------------------------------------------ a call

    async def _call(self, context: Context) -> Any:
        place = _place_of(context.run, context.step)
        with self._kept.used(place, lambda: self._begun(place, context.earlier)) as held:
            want = await self._or_dropped(place, held, held.wanted(_number_of(context.step)))
            want.context.run(CALLING.set, context)
            return await want.done()

    # ------------------------------------------------------------ a question

    async def ask(self, attempt: Attempt) -> Outcome:
        """Ask the agent's model what it is to be asked by a step."""
        place = _place_of(attempt.run, attempt.step)
        try:
            with self._kept.used(place, lambda: self._begun(place, attempt.earlier())) as held:
                want = await self._or_dropped(place, held, held.wanted(_number_of(attempt.step)))
                return await _asked_by(attempt, want)
        except Exception as error:  # noqa: BLE001  what a stranger's agent raises is a failure of its step
            return Outcome(exit="failure", failure=failure_of(error).failure)

    async def _ask(
        self,
        model: Model,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        form: ModelRequestParameters,
    ) -> Any:
        response = await model.request(messages, _within(settings, ASKING.get()), form)
        return fact_of(response, price_of(response))

    def expected(self, call: Call, said: Mapping[str, float]) -> Mapping[str, float]:
        """What a question may take, with what its step says of that."""
        given = call.arguments
        out = float(given.get("tokens", USUAL_TOKENS))
        tokens = said.get("tokens", tokens_of(str(given.get("prompt", ""))) + FRAME + out)
        usd = self._price(round(max(0.0, tokens - out)), round(min(tokens, out)))
        found = {"tokens": tokens, "calls": 1.0, **said}
        return found if usd is None or "usd" in said else {**found, "usd": usd}

    def _price(self, tokens_in: int, tokens_out: int) -> float | None:
        """What a question would cost; None: nobody knows."""
        own = self._agent.model
        if own is not None and not self._tier:
            return likely_price(own, tokens_in, tokens_out)
        try:
            return self._port().price(tokens_in, tokens_out)
        except PerdureError:
            return None


async def _asked_by(attempt: Attempt, want: Want) -> Outcome:
    """What comes of a question."""
    want.context.run(ASKING.set, attempt)
    try:
        output = await want.done()
    except Exception as error:  # noqa: BLE001  as above
        found = error if isinstance(error, ModelFailed) else failed(error, "")
        paid = None if found.answer is None else taken_by(found.answer)
        return Outcome(exit="failure", failure=found.failure, usage=paid)
    return Outcome(output, usage=usage_of(output))


def _within(settings: ModelSettings | None, attempt: Attempt) -> ModelSettings | None:
    """The settings, with no longer an answer than the step may have."""
    most = attempt.call.arguments.get("tokens")
    if most is None:
        return settings
    said = cast("Mapping[str, Any]", settings or {})
    return cast("ModelSettings", {**said, "max_tokens": min(most, said.get("max_tokens") or most)})


class _Read(Given):
    """Arguments that the agent has read already: what it lets pass may be less strict than their schema."""

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """As they are."""
        return {"arguments": dict(arguments)}


def _place_of(run: str, step: str) -> Place:
    return run, step.rpartition(".")[0]


def _number_of(step: str) -> int:
    return int(step.rpartition(".")[2])


def _note_places(held: HeldLoop, stretch: int, wants: Sequence[Mapping[str, Any]]) -> None:
    """The steps that are grown for what a stretch wants follow on it."""
    held.places.update({stretch + number: str(each["id"]) for number, each in enumerate(wants, 1)})


def _stand_in(tool: AnyTool) -> TheirTool[Any]:
    """A tool of ours, as the agent is told of it. Nobody calls it: a step does."""

    async def never(**_: Any) -> None:
        raise NotAdapted(f"{tool.name} is called by a step")

    return TheirTool.from_schema(never, outer(tool.name), tool.summary, dict(tool.signature.inputs))

"""A4: a step is given to an agent that is chosen for it, and to somebody else if that one cannot do it."""

import asyncio
from collections import Counter

import pytest

from perdure import Engine, Plan, tool
from perdure.agents import Agent
from perdure.plan.problems import PlanError
from perdure.testing.models import ScriptedModel, calls

DONE: list[str] = []


def take_back(what: str, output: object) -> None:
    """Not any more."""
    DONE.remove(what)


@tool(name="shop.take", repeat="keyed", effects=["writes"], undo=take_back)
def take(what: str) -> str:
    """Take something."""
    DONE.append(what)
    return what


@pytest.fixture(autouse=True)
def _nothing_done():
    DONE.clear()


def worker(name, *skills, **more):
    said = {"instructions": f"I am {name}.", "strategy": "single", **more}
    return Agent(name=name, skills=skills or ("python",), **said)


def who_asks(request):
    return request.instructions.removeprefix("I am ").split(".")[0]


def steps_of(**step):
    return {"steps": [{"id": "do", "agent": "any", "skills": ["python"], "task": "Do it", **step}]}


async def carried_out(document, agents, answer=who_asks, inputs=None, **more):
    model = ScriptedModel(answer)
    async with Engine.open(agents=agents, models={"default": model}, tools=[take], **more) as engine:
        run = await engine.start(Plan.model_validate(document), inputs)
        return await asyncio.wait_for(run.result(), 20)


def worked(*args, **more):
    return asyncio.run(carried_out(*args, **more))


def test_a4_a_step_is_given_to_who_has_the_skills_and_the_choice_is_a_fact():
    agents = [worker("lawyer", "law"), worker("coder", "python", "law"), worker("dear", price=9.0)]
    result = worked(steps_of(skills=["python", "law"]), agents)
    assert result.output == "coder"
    choice = result.steps["do/1.1"].output
    assert (choice["agent"], choice["why"]) == ("coder", ["has python, law", "it is new here", "0 at work"])
    assert [each["agent"] for each in choice["considered"]] == ["coder"]


def test_a4_what_the_step_says_reaches_whoever_does_it():
    heard = []

    def answer(request):
        heard.append(request)
        return {"verdict": "poor", "answer": {"n": 1}}

    steps = [{"id": "first", "tool": "shop.take", "with": {"what": "bread"}}]
    said = {"with": {"hint": "${inputs.hint}"}, "context": "all", "returns": {"type": "object"}, "verdicts": ["poor"]}
    step = {**steps_of(**said, on={"poor": "last"})["steps"][0], "task": "Look at ${steps.first.output}"}
    last = {"id": "last", "tool": "shop.take", "with": {"what": "${steps.do.output.n}"}}
    document = {"steps": [*steps, step, {"id": "no", "fail": "no"}, last], "inputs": {"hint": {"type": "string"}}}
    result = worked(document, [worker("coder")], answer, {"hint": "be ${quick}"})
    assert result.steps["do"].exit == "poor"
    [text] = [each.text for each in heard[0].remarks]
    assert text.startswith("Look at bread")
    assert "hint: be ${quick}" in text
    assert '"step":"first"' in text


def test_a4_a_step_may_say_how_whoever_does_it_works():
    result = worked(steps_of(strategy="sample"), [worker("coder")])
    assert len([name for name in result.steps if name.startswith("do/1.2/1.")]) > 1


def test_a4_nobody_with_the_skills_is_a_failure_that_says_so():
    result = worked(steps_of(), [worker("lawyer", "law")])
    assert (result.failure.kind, result.failure.message) == (
        "invalid",
        'nobody has the skill "python"; write one of: law',
    )


def test_a4_anybody_without_skills_is_refused_before_anything_begins():
    with pytest.raises(PlanError, match="PRD1418"):
        worked(steps_of(skills=[]), [worker("coder")])


# ------------------------------------------------------------------------------- fallbacks


def hasty(request):
    if who_asks(request) == "hasty":
        return calls("shop.take", what="bread") if len(request.remarks) == 1 else "none"
    return calls("shop.take", what="milk") if len(request.remarks) == 1 else {"a": 1}


def test_a4_when_one_fails_another_does_it_and_what_the_first_did_is_undone():
    known = {"strategy": "react", "tools": ("shop.*",), "options": {"repairs": 0}}
    agents = [worker("hasty", price=0.1, **known), worker("slow", price=1.0, **known)]
    result = worked(steps_of(returns={"type": "object"}), agents, hasty)
    assert (result.status, result.output) == ("succeeded", {"a": 1})
    assert [result.steps[f"do/1.{n}"].exit for n in (1, 2, 3, 4)] == ["success", "failure", "success", "success"]
    assert result.steps["do/1.3"].output["agent"] == "slow"
    assert DONE == ["milk"]


def test_a4_what_a_failed_agent_did_is_undone_before_the_next_one_begins():
    log = []

    async def undo(what: str, output: object) -> None:
        """Slowly."""
        await asyncio.sleep(0.2)
        log.append(f"un{what}")

    @tool(name="shop.put", repeat="keyed", effects=["writes"], undo=undo)
    def put(what: str) -> str:
        """Put something."""
        log.append(what)
        return what

    def answer(request):
        return calls("shop.put", what=who_asks(request)) if len(request.remarks) == 1 else "none"

    async def go():
        known = {"strategy": "react", "tools": ("shop.*",), "options": {"repairs": 0}}
        agents = [worker("a", price=0.1, **known), worker("b", price=1.0, **known)]
        async with Engine.open(agents=agents, models={"default": ScriptedModel(answer)}, tools=[put]) as engine:
            document = steps_of(returns={"type": "object"})
            return await asyncio.wait_for((await engine.start(Plan.model_validate(document))).result(), 20)

    assert asyncio.run(go()).status == "failed"
    assert log == ["a", "una", "b", "unb"]


def test_a4_a_named_agent_has_its_fallbacks_in_their_order():
    def answer(request):
        return {"a": 1} if who_asks(request) == "third" else "no"

    known = {"options": {"repairs": 0}}
    first = worker("first", "x", fallbacks=("second", "third"), **known)
    agents = [worker("third", "z", **known), worker("second", "y", **known), first]
    step = {"id": "do", "agent": "first", "task": "Do it", "returns": {"type": "object"}}
    result = worked({"steps": [step]}, agents, answer)
    assert result.output == {"a": 1}
    assert [result.steps[f"do/1.{n}"].output["agent"] for n in (1, 3, 5)] == ["first", "second", "third"]
    assert result.steps["do/1.3"].output["why"][0] == "it stands in for first"


def test_a4_when_all_have_failed_the_step_fails_with_the_last_reason():
    agents = [worker("a", options={"repairs": 0}), worker("b", options={"repairs": 0})]
    result = worked(steps_of(returns={"type": "object"}), agents, lambda _: "no")
    assert result.failure.kind == "invalid"
    assert result.failure.message.startswith("a, b could not do it, and nobody else could: ")


def test_a4_what_no_other_agent_could_mend_is_not_tried_by_one():
    result = worked(steps_of(budget={"tokens": 5}), [worker("a"), worker("b")])
    assert "do/1.3" not in result.steps
    assert result.failure.kind == "budget"


def test_a4_a_policy_that_allows_only_some_tools_has_to_allow_the_choice():
    result = worked(steps_of(policy={"tools": {"allow": ["shop.*"]}}), [worker("a")])
    assert result.failure.kind == "denied"
    assert "agents.choose" in result.failure.message
    allowed = {"tools": {"allow": ["shop.*", "agents.choose"]}}
    assert worked(steps_of(policy=allowed), [worker("a")]).output == "a"


def test_a4_agents_within_agents_are_counted_without_who_only_chooses():
    assert worked(steps_of(budget={"depth": 1}), [worker("coder")]).output == "coder"
    assert worked(steps_of(budget={"depth": 0}), [worker("coder")]).failure.kind == "budget"


# ------------------------------------------------------------------------------- load and limits


class Slow(ScriptedModel):
    """Takes a while, and counts who is asked at once."""

    def __init__(self, answer=who_asks, seconds=0.05):
        super().__init__(answer)
        self.now, self.most, self.seconds, self.order = Counter(), Counter(), seconds, []

    async def ask(self, request, heard):
        name = who_asks(request)
        self.order.append(request.remarks[0].text)
        self.now[name] += 1
        self.most[name] = max(self.most[name], self.now[name])
        await asyncio.sleep(self.seconds)
        self.now[name] -= 1
        return await super().ask(request, heard)


def many(number, **step):
    one = {"id": "one", "agent": "any", "skills": ["python"], "task": "${item}", **step}
    return {
        "steps": [{"id": "all", "map": "${inputs.items}", "steps": [one]}],
        "inputs": {"items": {"type": "array"}},
    }, {"items": [str(n) for n in range(number)]}


async def at_once(model, agents, document, inputs, runs=1):
    async with Engine.open(agents=agents, models={"default": model}, tools=[take]) as engine:
        plan = Plan.model_validate(document)
        begun = [await engine.start(plan, inputs) for _ in range(runs)]
        return [await asyncio.wait_for(each.result(), 60) for each in begun]


def test_a4_work_is_spread_over_all_who_could_do_it():
    model = Slow()
    asyncio.run(at_once(model, [worker("a"), worker("b"), worker("c")], *many(9)))
    assert model.most == {"a": 3, "b": 3, "c": 3}


@pytest.mark.parametrize("runs", [1, 3])
def test_a4_nobody_does_more_at_once_than_it_may_in_all_runs_together(runs):
    model = Slow()
    agents = [worker("a", limit=1), worker("b", limit=2)]
    results = asyncio.run(at_once(model, agents, *many(6 // runs), runs=runs))
    assert all(each.status == "succeeded" for each in results)
    assert model.most["a"] == 1
    assert model.most["b"] == 2


def test_a4_also_one_that_is_named_does_no_more_than_it_may():
    model = Slow()
    document, inputs = many(4, agent="a", skills=[])
    asyncio.run(at_once(model, [worker("a", limit=2)], document, inputs))
    assert model.most == {"a": 2}


def test_a4_an_agent_that_asks_for_itself_does_not_wait_for_itself():
    nested = {"strategy": "reflexion", "options": {"accept": ["true"], "strategy": "single"}, "limit": 1}
    assert worked(steps_of(agent="a", skills=[]), [worker("a", **nested)]).status == "succeeded"


def test_a4_what_is_more_important_goes_first_when_all_are_at_work():
    one = {"agent": "any", "skills": ["python"]}
    steps = [{**one, "id": f"s{n}", "task": f"{n}", "priority": n} for n in range(4)]
    model = Slow(seconds=1.5)
    document = {"mode": "graph", "steps": steps}
    asyncio.run(at_once(model, [worker("a", limit=1)], document, {}))
    assert model.order == ["3", "2", "1", "0"]


def test_a4_agents_that_wait_for_each_other_are_found_out_and_not_waited_for():
    def crossed(name, other):
        return worker(name, limit=1, strategy="reflexion", options={"strategy": "single", "judge": {"agent": other}})

    def answer(request):
        return {"score": 1} if "critic" in request.instructions else "x"

    steps = [{"id": name, "agent": name, "task": "Do it", "recovery": {"other": ["fail"]}} for name in ("a", "b")]
    document = {"mode": "graph", "join": "settled", "steps": steps}
    agents = [crossed("a", "b"), crossed("b", "a")]
    model = Slow(answer, 0.05)
    [result] = asyncio.run(at_once(model, agents, document, {}))
    assert result.status in {"succeeded", "failed"}


def test_a4_a_run_that_stands_still_keeps_no_place_from_others():
    async def go():
        model = Slow(seconds=0.7)
        async with Engine.open(agents=[worker("a", limit=1)], models={"default": model}) as engine:
            first = await engine.start(Plan.model_validate(steps_of()))
            await asyncio.sleep(0.2)
            important = await engine.start(Plan.model_validate(steps_of(priority=9)))
            await asyncio.sleep(0.2)
            await engine.pause(important.id)
            await first.result()
            other = await engine.start(Plan.model_validate(steps_of()))
            return await asyncio.wait_for(other.result(), 10)

    assert asyncio.run(go()).output == "a"


# ------------------------------------------------------------------------------- how it did before


def test_a4_who_failed_before_is_chosen_less_also_after_the_engine_was_closed(tmp_path):
    def answer(request):
        return {"a": 1} if who_asks(request) == "z_good" else "no"

    agents = [worker("a_bad", options={"repairs": 0}), worker("z_good", options={"repairs": 0})]
    said = steps_of(returns={"type": "object"})
    first = worked(said, agents, answer, path=tmp_path / "runs.db")
    assert [first.steps[f"do/1.{n}"].output["agent"] for n in (1, 3)] == ["a_bad", "z_good"]
    second = worked(said, agents, answer, path=tmp_path / "runs.db")
    choice = second.steps["do/1.1"].output
    assert choice["agent"] == "z_good"
    assert "1 of its last 1 tasks went well" in choice["why"]


def test_a4_what_was_no_fault_of_the_agent_is_not_counted(tmp_path):
    async def go():
        async with Engine.open(agents=[worker("a")], models={"default": ScriptedModel(who_asks)}) as engine:
            run = await engine.start(Plan.model_validate(steps_of(budget={"tokens": 1})))
            assert (await run.result()).failure.kind == "budget"
            return await engine.memory.memories(["task"])

    assert asyncio.run(go()) == []


def test_a4_tasks_are_not_among_what_is_remembered_in_words():
    async def go():
        async with Engine.open(agents=[worker("a")], models={"default": ScriptedModel(who_asks)}) as engine:
            await (await engine.start(Plan.model_validate(steps_of()))).result()
            return (
                await engine.memory.memories(),
                await engine.memory.search("success a"),
                await engine.memory.memories(["task"]),
            )

    every, found, tasks = asyncio.run(go())
    assert {each.kind for each in [*every, *found]} == {"outcome"}
    assert [(each.about, each.text, each.step) for each in tasks] == [("a", "success", "do/1.2")]


def test_a4_a_task_is_counted_once_for_who_did_it():
    async def go():
        model = ScriptedModel(who_asks)
        async with Engine.open(agents=[worker("a", limit=1)], models={"default": model}) as engine:
            await (await engine.start(Plan.model_validate(steps_of(agent="a", skills=[])))).result()
            return [each.step for each in await engine.memory.memories(["task"])]

    assert asyncio.run(go()) == ["do/1.2"]


# ------------------------------------------------------------------------------- the roster changes


def test_a4_what_has_begun_directly_goes_on_so_when_the_agent_gets_a_limit(tmp_path):
    step = {"id": "do", "agent": "a", "task": "Do it"}
    known = {"strategy": "react", "tools": ("shop.*",)}

    async def begin():
        held = asyncio.Event()

        def answer(request):
            return calls("shop.take", what="x")

        class Held(ScriptedModel):
            async def ask(self, request, heard):
                if len(request.remarks) > 1:
                    held.set()
                    await asyncio.sleep(60)
                return await super().ask(request, heard)

        async with Engine.open(
            tmp_path / "r.db",
            agents=[worker("a", **known)],
            models={"default": Held(answer)},
            tools=[take],
            patience=0.1,
        ) as engine:
            run = await engine.start(Plan.model_validate({"steps": [step]}))
            await asyncio.wait_for(held.wait(), 5)
            return run.id

    async def go_on(run):
        agents = [worker("a", **known, limit=1)]
        async with Engine.open(
            tmp_path / "r.db",
            agents=agents,
            models={"default": ScriptedModel(lambda _: "Done")},
            tools=[take],
            resume=True,
        ) as engine:
            return await asyncio.wait_for(engine.run(run).result(), 10)

    result = asyncio.run(go_on(asyncio.run(begin())))
    assert result.output == "Done"
    assert DONE == ["x"]

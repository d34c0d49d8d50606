"""What is counted, and of which happenings. Each metric is told once, here; the pages and the dashboard name these."""

from collections.abc import Callable, Iterable
from typing import Final

from perdure.observing.counts import Counts, Metric
from perdure.observing.happenings import Happening, What

_SHORT: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1_800.0)
_LONG: Final = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 86_400.0, 604_800.0)
_MANY: Final = (1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 50.0, 100.0, 500.0, 1_000.0, 5_000.0, 20_000.0)
DRAFT: Final = "draft"
"""The way of working whose result is a plan."""
PLANNING: Final = "planning"
"""What the plan is called by which a model is asked for one, in a run of its own."""

STARTED: Final = Metric("runs_started", "Runs that were started, by who made their plan.", ("planner",))
RUNS: Final = Metric(
    "runs", "Runs that are over, by how they ended. A run that was opened again ends again.", ("status",)
)
RUNS_BY_PLANNER: Final = Metric(
    "planned_runs", "Runs that are over, by who made their plan, and how they ended.", ("planner", "status")
)
RUN_SECONDS: Final = Metric("run_duration_seconds", "From the start of a run to its end.", ("status",), _LONG)
PLAN_STEPS: Final = Metric("plan_steps", "Steps in the plan of a run as it starts.", (), _MANY)
RUN_STEPS: Final = Metric("run_steps", "Visits of steps that were over when a run ended.", (), _MANY)
STEPS: Final = Metric(
    "steps", "Visits of steps that are over, by what the step calls and how it ended.", ("tool", "status")
)
STEP_SECONDS: Final = Metric(
    "step_duration_seconds", "From the beginning of a visit to its end, with all tries and waits.", ("kind",), _LONG
)
PASSED: Final = Metric("steps_passed", "Steps that were not entered, by why.", ("status",))
ATTEMPTS: Final = Metric(
    "attempts", "Tries that are over: deeds, and looks at deeds.", ("kind", "name", "deed", "status")
)
ATTEMPT_SECONDS: Final = Metric("attempt_duration_seconds", "How long single tries took.", ("kind", "name"), _SHORT)
FAILURES: Final = Metric("failures", "Tries that failed, by what failed, and how.", ("kind", "failure"))
FAILED_RUNS: Final = Metric(
    "failed_runs", "Runs that failed, by the kind of failure and by who made the plan.", ("failure", "planner")
)
RETRIES: Final = Metric("retries", "Tries that were put off to a later time because one had failed.", ("tool",))
RUNGS: Final = Metric("recoveries", "Other ways that were taken after a failure.", ("rung", "failure"))
KEPT: Final = Metric("effects_kept", "Effects that could not be taken back.", ("tool",))
TOKENS: Final = Metric("tokens", "Tokens of models, in and out.", ("provider", "model"))
CALLS: Final = Metric("model_calls", "Calls of models.", ("provider", "model"))
COST: Final = Metric(
    "cost_usd", "What is known of what it cost, by who made the plan of the run.", ("planner", "model")
)
UNPRICED: Final = Metric("unpriced_calls", "Calls of models of which nobody knows what they cost.", ("model",))
PLANNING_SECONDS: Final = Metric(
    "planning_duration_seconds", "How long a model took to make a plan, with all that it was asked.", ("status",), _LONG
)
CHOSEN: Final = Metric(
    "chosen_tools", "Tools that an agent has chosen while it worked, by whether the call went well.", ("status",)
)
REVISIONS: Final = Metric(
    "revisions", "Changes of plans under way, by who wanted them, and the failure they are against.", ("by", "failure")
)
REFUSALS: Final = Metric("revisions_refused", "Changes of plans that could not be.", ("by",))
ASKED: Final = Metric("questions", "Questions that people were asked, by what about.", ("about",))
ANSWERED: Final = Metric(
    "questions_closed", "Questions that are over: answered, late, or not needed any more.", ("about", "status")
)
ANSWER_SECONDS: Final = Metric(
    "answer_duration_seconds", "How long questions were open until an answer.", ("about",), _LONG
)

METRICS: Final = {
    each.name: each
    for each in (
        STARTED, RUNS, RUNS_BY_PLANNER, RUN_SECONDS, PLAN_STEPS, RUN_STEPS, STEPS, STEP_SECONDS, PASSED, ATTEMPTS,
        ATTEMPT_SECONDS, FAILURES, FAILED_RUNS, RETRIES, RUNGS, KEPT, TOKENS, CALLS, COST, UNPRICED, PLANNING_SECONDS,
        CHOSEN, REVISIONS, REFUSALS, ASKED, ANSWERED, ANSWER_SECONDS,
    )
}  # fmt: skip
"""All that is counted from facts, by name."""


def count(counts: Counts, happenings: Iterable[Happening]) -> None:
    """Add what some happenings come to."""
    for each in happenings:
        add = _ADD.get(each.what)
        if add is not None:
            add(counts, each)


def _started(counts: Counts, of: Happening) -> None:
    counts.count(STARTED, (of.planner,))
    counts.count(PLAN_STEPS, (), of.number)


def _run(counts: Counts, of: Happening) -> None:
    counts.count(RUNS, (of.exit,))
    counts.count(RUNS_BY_PLANNER, (of.planner, of.exit))
    counts.count(RUN_SECONDS, (of.exit,), of.seconds)
    counts.count(RUN_STEPS, (), of.number)
    if of.name == PLANNING:
        counts.count(PLANNING_SECONDS, (of.exit,), of.seconds)
    if of.failure:
        counts.count(FAILED_RUNS, (of.failure, of.planner))


def _visit(counts: Counts, of: Happening) -> None:
    counts.count(STEPS, (of.name if of.kind == "tool" else of.kind, of.exit))
    counts.count(STEP_SECONDS, (of.kind,), of.seconds)
    if of.strategy == DRAFT:
        counts.count(PLANNING_SECONDS, (of.exit,), of.seconds)
    if of.kind == "tool" and is_grown(of.step):
        counts.count(CHOSEN, ("success" if not of.failure and of.exit != "failure" else of.exit,))


def is_grown(step: str) -> bool:
    """Whether a step is one that an agent has chosen: its key ends with its number."""
    return "/" in step and step[step.rfind(".") + 1 :].isdecimal()


def _attempt(counts: Counts, of: Happening) -> None:
    counts.count(ATTEMPTS, (of.kind, of.name, of.deed, of.exit))
    counts.count(ATTEMPT_SECONDS, (of.kind, of.name), of.seconds)
    if of.failure:
        counts.count(FAILURES, (of.kind, of.failure))
    model = of.name if of.kind == "model" else ""
    about = (model.partition(":")[0] if ":" in model else "", model)
    if of.tokens:
        counts.count(TOKENS, about, of.tokens)
    if of.calls:
        counts.count(CALLS, about, of.calls)
    if of.usd is not None:
        counts.count(COST, (of.planner, model), of.usd)
    elif of.calls:
        counts.count(UNPRICED, (model,), of.calls)


def _question(counts: Counts, of: Happening) -> None:
    counts.count(ANSWERED, (of.kind, of.exit))
    if of.exit == "answered":
        counts.count(ANSWER_SECONDS, (of.kind,), of.seconds)


_ADD: Final[dict[What, Callable[[Counts, Happening], None]]] = {
    "started": _started,
    "run": _run,
    "visit": _visit,
    "attempt": _attempt,
    "question": _question,
    "passed": lambda counts, of: counts.count(PASSED, (of.exit,)),
    "retry": lambda counts, of: counts.count(RETRIES, (of.name or of.kind,)),
    "rung": lambda counts, of: counts.count(RUNGS, (of.exit, of.failure)),
    "kept": lambda counts, of: counts.count(KEPT, (of.name or of.kind,)),
    "asked": lambda counts, of: counts.count(ASKED, (of.kind,)),
    "revision": lambda counts, of: counts.count(REVISIONS, (of.name, of.failure)),
    "refusal": lambda counts, of: counts.count(REFUSALS, (of.name,)),
}

"""The fold: facts, one after another, become happenings. Whatever the pieces are in which they come, the same ones.

Facts are looked at by their type words and fields, so that one that this release does not know stands in nobody's way.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import structs

from perdure.core.events import ADJUSTER, NEXT_STEPS, PLANNER, REPLANNER, NamesMapped
from perdure.observing.happenings import Happening
from perdure.observing.naming import Documents, Fetch, Naming
from perdure.observing.story import Story
from perdure.plan.raw import is_mapping
from perdure.ports import Entry

Body = Mapping[str, Any]
_RULES: Final = frozenset({NEXT_STEPS, ADJUSTER, REPLANNER, PLANNER})
_BROKEN: Final = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What comes of facts that do not fit together. They are for others to complain of."""


class Fold:
    """Many runs at once."""

    def __init__(self, fetch: Fetch) -> None:
        self._documents: Final = Documents(fetch)
        self.stories: Final = dict[str, Story]()

    def story(self, run: str) -> Story:
        """A run, as far as it was told."""
        found = self.stories.get(run)
        if found is None:
            found = self.stories[run] = Story(run, self._documents)
        return found

    def take(self, run: str, entries: Iterable[Entry]) -> list[Happening]:
        """What follows from the next facts of a run. One that was taken before changes nothing."""
        story, found = self.story(run), list[Happening]()
        for entry in entries:
            if entry.seq > story.seq:
                found += _taken(story, entry)
        return found

    def pause(self, run: str) -> list[Happening]:
        """At the end of a turn: whether the run rests now."""
        story = self.story(run)
        return [*story.rest("rested")] if story.active is not None and story.rests else []

    def forget(self, run: str) -> None:
        """Nothing more is expected of a run. If something comes, what it had been has to be told first."""
        self.stories.pop(run, None)


def _taken(story: Story, entry: Entry) -> list[Happening]:
    is_lost = entry.type == "attempt_lost"
    is_found_dead = is_lost and not story.is_losing and story.active is not None
    found = [*story.rest("lost")] if is_found_dead else []  # somebody else goes on from here
    story.is_losing = is_lost
    story.seq, story.at = entry.seq, max(story.at, entry.at)
    story.active = story.active or story.now()
    change = _CHANGES.get(entry.type)
    if change is not None:
        try:
            body = msgspec.json.decode(entry.body)
            found += change(story, body)
        except _BROKEN:
            return found
    return found


# ------------------------------------------------------------------------------- the run


def _started(story: Story, body: Body) -> Iterator[Happening]:
    story.digest = str(body.get("plan", ""))
    story.naming = Naming(story.documents, story.digest)
    document = story.naming.document
    story.plan, story.planner = document.name, document.planner
    story.parent, story.session = str(body.get("parent", "")), str(body.get("session", ""))
    story.began = story.now()
    yield story.told("started", name=story.plan, number=len(document.steps))


def _forked(story: Story, _: Body) -> Iterator[Happening]:
    """What came before is the story of another run."""
    story.drop()
    story.began = story.active = story.now()
    story.over = story.before = 0
    yield story.told("started", name=story.plan, number=len(story.naming.document.steps) if story.naming else 0)


def _ended(story: Story, body: Body) -> Iterator[Happening]:
    status, failure = str(body.get("status", "")), _kind_of(body.get("failure"))
    story.failure = failure
    story.drop()
    yield story.told("run", story.began, name=story.plan, number=story.over, exit=status, failure=failure)


def _reopened(story: Story, _: Body) -> Iterator[Happening]:
    """It ends again, and is measured from here on."""
    story.failure = ""
    story.began = story.now()
    return iter(())


def _revised(story: Story, body: Body) -> Iterator[Happening]:
    story.revisions += 1
    if story.naming is not None:
        story.naming.revised(body.get("edits", ()))
    after, kind = str(body.get("after", "")), str(body.get("kind", ""))
    yield story.told("revision", step=after, name=_who(body), failure=kind)


def _refused(story: Story, body: Body) -> Iterator[Happening]:
    yield story.told("refusal", step=str(body.get("after", "")), name=_who(body))


def _mapped(story: Story, body: Body) -> Iterator[Happening]:
    if story.naming is not None:
        story.naming.mapped(msgspec.convert(body, NamesMapped))
    return iter(())


# ------------------------------------------------------------------------------- steps


def _entered(story: Story, body: Body) -> Iterator[Happening]:
    step, visit = body["step"], body.get("visit", 1)
    if story.naming is not None:
        story.naming.entered(step, visit, str(body.get("plan", "")))
    story.visits[step] = story.now(visit, word=str(body.get("strategy", "")))
    return iter(())


def _passed(story: Story, body: Body) -> Iterator[Happening]:
    exit_, failure = str(body.get("exit", "skipped")), _kind_of(body.get("failure"))
    yield story.about("passed", body["step"], exit=exit_, failure=failure)


def _visited(story: Story, body: Body) -> Iterator[Happening]:
    """A visit is over."""
    step, visit = body["step"], body.get("visit", 1)
    story.retrying.discard(step)
    begun = story.visits.pop(step, None) or story.now(visit)
    story.over += 1
    exit_, failure = str(body.get("exit", "success")), _kind_of(body.get("failure"))
    if begun.word:
        yield story.worked(step, begun, exit=exit_, failure=failure)
    yield story.about("visit", step, begun, visit=visit, strategy=begun.word, exit=exit_, failure=failure)


def _grew(story: Story, body: Body) -> Iterator[Happening]:
    if story.naming is not None:
        story.naming.grown(body["step"], body.get("visit", 1), body.get("add", ()))
    return iter(())


def _again(story: Story, body: Body) -> Iterator[Happening]:
    step = body["step"]
    story.retrying.add(step)
    if story.naming is not None:
        story.naming.again(step, body.get("visit", 1))
    yield story.about("retry", step, failure=_kind_of(body.get("rejected")))


def _rung(story: Story, body: Body) -> Iterator[Happening]:
    step, rung = body["step"], str(body.get("rung", ""))
    if story.naming is not None:
        story.naming.rung(step, body.get("visit", 1), rung, str(body.get("tool", "")))
    yield story.about("rung", step, exit=rung, failure=str(body.get("kind", "")))


def _kept(story: Story, body: Body) -> Iterator[Happening]:
    yield story.about("kept", body["step"], failure=_kind_of(body.get("failure")))


# ------------------------------------------------------------------------------- attempts


def _began(story: Story, body: Body) -> Iterator[Happening]:
    """An attempt begins, and with the first one the visit, unless another fact has said so."""
    step, visit, deed = body["step"], body.get("visit", 1), body.get("deed", "do")
    story.retrying.discard(step)
    story.attempts[step, deed] = story.now(visit, body.get("attempt", 1))
    known = story.visits.get(step)
    if deed == "do" and (known is None or known.visit != visit):
        yield from _entered(story, body)


def _tried(story: Story, body: Body) -> Iterator[Happening]:
    """An attempt is over, and the visit too if it says where that leads."""
    exit_ = "asked" if body.get("approval") else str(body.get("exit", "success"))
    yield _attempt(story, body, exit_, _kind_of(body.get("failure")))
    if body.get("to"):
        yield from _visited(story, body)


def _lost(story: Story, body: Body) -> Iterator[Happening]:
    """Its process is gone since the run was last at work, however long ago that was."""
    found = _attempt(story, body, "lost", "in_doubt")
    yield structs.replace(found, till=max(found.at, min(found.till, story.rested_at)))


def _attempt(story: Story, body: Body, exit_: str, failure: str) -> Happening:
    step, deed = body["step"], body.get("deed", "do")
    begun = story.attempts.pop((step, deed), None) or story.now(body.get("visit", 1), body.get("attempt", 1))
    kind, name = ("judge", "") if deed == "judge" else story.callee(step)
    usage: Body = body.get("usage") or {}
    used = {"tokens": usage.get("tokens", 0), "calls": usage.get("calls", 0), "usd": usage.get("usd")}
    about: dict[str, Any] = {"visit": begun.visit, "attempt": begun.attempt, "deed": deed, "kind": kind, "name": name}
    about["inside"] = story.inside(step)
    return story.told("attempt", begun, step, exit=exit_, failure=failure, **about, **used)


# ------------------------------------------------------------------------------- people


def _asked(story: Story, body: Body) -> Iterator[Happening]:
    about = str(body.get("about", "plan"))
    story.questions[str(body.get("question", ""))] = story.now(word=about)
    yield story.told("asked", step=body["step"], kind=about)


def _answered(story: Story, body: Body) -> Iterator[Happening]:
    return _over(story, body, "answered")


def _closed(story: Story, body: Body) -> Iterator[Happening]:
    return _over(story, body, "late" if body.get("late") else "closed")


def _over(story: Story, body: Body, how: str) -> Iterator[Happening]:
    begun = story.questions.pop(str(body.get("question", "")), None)
    if begun is not None:
        yield story.told("question", begun, kind=begun.word, exit=how)


# ------------------------------------------------------------------------------- words


def _kind_of(failure: Any) -> str:
    return str(failure.get("kind", "unknown")) if is_mapping(failure) else ""


def _who(body: Body) -> str:
    """Who wanted the plan changed: a rule by its word, or a person, whose name no number needs."""
    by = str(body.get("by", ""))
    return by if by in _RULES else "rule" if body.get("after") else "person"


_CHANGES: Final[dict[str, Callable[[Story, Body], Iterator[Happening]]]] = {
    "run_started": _started,
    "run_forked": _forked,
    "run_ended": _ended,
    "run_reopened": _reopened,
    "run_revised": _revised,
    "revision_refused": _refused,
    "names_mapped": _mapped,
    "step_entered": _entered,
    "step_passed": _passed,
    "step_ended": _visited,
    "steps_grown": _grew,
    "attempt_started": _began,
    "attempt_ended": _tried,
    "attempt_lost": _lost,
    "retry_planned": _again,
    "rung_taken": _rung,
    "effect_kept": _kept,
    "question_asked": _asked,
    "question_answered": _answered,
    "question_closed": _closed,
}
"""What each kind of fact changes. Of the others nothing follows here."""

"""What a picture promises, whatever the plan: nothing overlaps, nothing sticks out, lines begin and end at borders."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.plan.drawing.cards import PILL
from perdure.plan.drawing.flow import Flow
from perdure.plan.drawing.lanes import BETWEEN, Lane, Port, lay
from perdure.plan.drawing.layout import layout
from perdure.plan.drawing.lettering import fitted, folded, width_of
from perdure.plan.drawing.order import settled
from perdure.plan.model.document import Plan

TITLES = (
    "",
    "",
    "Short",
    "A rather long title that will not fit on one line of a card at all",
    "とても長い日本語の題名です。箱に入りません。",
    "W" * 60,
)
EXITS = ("failure", "success", "cancelled", "needs_work", "wants_a_good_deal_more_of_thought")


class Author:
    """Writes plans by lot: serial groups with jumps, graphs, parallel groups, maps and sub-plans within each other."""

    def __init__(self, rng):
        self.rng = rng
        self.count = 0

    def plan(self):
        return {"goal": "g", **self.group(3, ())}

    def group(self, depth, targets):
        sort = self.rng.choice(("serial", "graph", "parallel"))
        ids = [f"s{self.count + number}" for number in range(self.rng.randint(1, 7))]
        self.count += len(ids)
        reach = (*targets, *ids) if sort == "serial" else targets
        steps = [self.step(name, depth, reach) for name in ids]
        if sort == "graph":
            for place, step in enumerate(steps):
                step["needs"] = self.rng.sample(ids[:place], self.rng.randint(0, min(place, 3)))
        more = {"parallel": steps} if sort == "parallel" else {"mode": sort, "steps": steps}
        return {**more, "limit": 3} if self.rng.random() < 0.2 else more

    def step(self, name, depth, targets):
        step = {"id": name, "title": self.rng.choice(TITLES), **self.kind(depth, targets)}
        if self.rng.random() < 0.2:
            step["when"] = "steps.a.output.score > 0.5"
        if "done" not in step:
            count = self.rng.choice((0, 0, 1, 1, 2, 4))
            step["on"] = {self.rng.choice(EXITS): self.rng.choice((*targets, "done", "next")) for _ in range(count)}
        return step

    def kind(self, depth, targets):
        chosen = self.rng.sample(targets, min(len(targets), 4))
        plain = (
            {"tool": "some_domain.some_tool", "max_visits": 3},
            {"ask": "Shall we go on with all of this?"},
            {"decide": "x", "choices": [*chosen, "other"]},
            {"done": True},
        )
        if not depth or self.rng.random() < 0.5:
            return self.rng.choice(plain)
        holding = self.rng.choice(("group", "map", "plan"))
        inside = self.group(depth - 1, targets if holding == "group" else ())
        return (
            {"plan": inside} if holding == "plan" else {"map": "${inputs.x}", **inside} if holding == "map" else inside
        )


plans = st.randoms(use_true_random=False).map(lambda rng: Plan.model_validate(Author(rng).plan()))


def ancestors(shape):
    while shape is not None:
        yield shape
        shape = shape.parent


def inside(point, box, by=0.5):
    x, y, w, h = box
    return x + by < point[0] < x + w - by and y + by < point[1] < y + h - by


def box_of(frame):
    return (frame.x, frame.y, frame.w, frame.h)


def apart(one, other):
    return (
        one[0] + one[2] <= other[0] + 0.01
        or other[0] + other[2] <= one[0] + 0.01
        or one[1] + one[3] <= other[1] + 0.01
        or other[1] + other[3] <= one[1] + 0.01
    )


def points_on(stroke):
    here = stroke.start
    for leg in stroke.legs:
        for step in range(1, 13):
            t = step / 12
            if len(leg) == 2:
                yield (here[0] + (leg[0] - here[0]) * t, here[1] + (leg[1] - here[1]) * t)
            else:
                a, b, c, d = (1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3
                yield tuple(a * here[n] + b * leg[n] + c * leg[2 + n] + d * leg[4 + n] for n in (0, 1))
        here = leg[-2:]


def on_border(point, box):
    x, y, w, h = box
    across = min(abs(point[0] - x), abs(point[0] - x - w)) < 0.01 and y - 0.01 <= point[1] <= y + h + 0.01
    along = min(abs(point[1] - y), abs(point[1] - y - h)) < 0.01 and x - 0.01 <= point[0] <= x + w + 0.01
    return across or along


def note_box(note):
    return (note.x if note.anchor == "start" else note.x - note.width, note.y - 9, note.width, 10)


def drawn(plan):
    found = layout(Flow(plan))
    return found, {frame.shape: frame for frame in found.frames}


@settings(max_examples=150, deadline=None)
@given(plans)
def test_steps_keep_apart_and_inside_their_box(plan):
    found, frames = drawn(plan)
    for one, other in combinations(found.frames, 2):
        if one.shape not in ancestors(other.shape) and other.shape not in ancestors(one.shape):
            assert apart(box_of(one), box_of(other))
    for frame in found.frames:
        around = frames.get(frame.shape.parent)
        x, y, w, h = box_of(around) if around else (0, 0, found.w, found.h)
        top = y + around.card.h if around else y
        assert x < frame.x and frame.right < x + w and top <= frame.y and frame.bottom < y + h  # noqa: PT018  one box


@settings(max_examples=100, deadline=None)
@given(plans)
def test_what_is_written_fits(plan):
    for frame in drawn(plan)[0].frames:
        for line in frame.card.lines:
            assert line.x + line.width <= frame.w - 8
        for pill in frame.card.pills:
            assert pill.x + pill.w <= frame.w - 8
            assert pill.y + PILL <= frame.card.h <= frame.h
            assert width_of(pill.text, 10.5) <= pill.w


@settings(max_examples=150, deadline=None)
@given(plans)
def test_lines_begin_and_end_at_borders_and_cross_no_step(plan):
    found, frames = drawn(plan)
    for stroke in found.strokes:
        if stroke.source:
            assert on_border(stroke.start, box_of(frames[stroke.source]))
        if stroke.target:
            assert on_border(stroke.end, box_of(frames[stroke.target]))
        assert stroke.source or stroke.target
        around = set(ancestors((stroke.source or stroke.target).parent))
        boxes = [box_of(frame) for frame in found.frames if frame.shape not in around]
        assert not [point for point in points_on(stroke) if any(inside(point, box) for box in boxes)]


@settings(max_examples=150, deadline=None)
@given(plans)
def test_every_edge_is_drawn(plan):
    flow = Flow(plan)
    found = layout(flow)
    arriving = {stroke.target for stroke in found.strokes}
    leaving = {stroke.source for stroke in found.strokes}
    for edge in flow.edges:
        if edge.target is not None:
            assert edge.target in arriving
            assert edge.leaves in leaving


@settings(max_examples=150, deadline=None)
@given(plans)
def test_words_beside_lines_lie_on_nothing(plan):
    found, _ = drawn(plan)
    notes = [stroke.note for stroke in found.strokes if stroke.note]
    assert all(apart(note_box(one), note_box(other)) for one, other in combinations(notes, 2))
    plain = [box_of(frame) for frame in found.frames if not frame.shape.inside]
    assert all(apart(note_box(note), box) for note in notes for box in plain)
    for stroke in found.strokes:
        assert not [point for point in points_on(stroke) if any(inside(point, note_box(note)) for note in notes)]


def test_a_long_word_beside_an_arrow_keeps_the_lanes_away():
    a = {"id": "a", "tool": "x.y", "verdicts": [EXITS[-1]], "on": {EXITS[-1]: "b", "success": "b"}}
    b = {"id": "b", "tool": "x.y", "on": {"failure": "a"}}
    test_words_beside_lines_lie_on_nothing.hypothesis.inner_test(Plan.model_validate({"steps": [a, b]}))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=25))
def test_lanes_that_pass_the_same_step_keep_their_distance(ends):
    lanes = []
    for at, to in dict.fromkeys(ends):
        lane = Lane()
        lane.hub = Port(lane, to, is_source=False)
        lane.spokes.append(Port(lane, at, is_source=True, note="failure"))
        lanes.append(lane)
    reaches = [60.0 + place % 7 * 20 for place in range(31)]
    lay(lanes, reaches)
    for one, other in combinations(lanes, 2):
        if one.span[0] <= other.span[1] and other.span[0] <= one.span[1]:
            assert abs(one.x - other.x) >= BETWEEN - 0.01
    for lane in lanes:
        assert all(lane.x > reaches[place] for place in range(lane.span[0], lane.span[1] + 1))


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0.1, 60)), min_size=1, max_size=20))
def test_settled_numbers_rise_and_stay_where_they_may(wishes):
    wanted, weights = zip(*wishes, strict=True)
    found = settled(wanted, weights)
    assert all(one <= other + 1e-6 for one, other in pairwise(found))
    if list(wanted) == sorted(set(wanted)):
        assert found == pytest.approx(list(wanted))


@given(st.text(max_size=80), st.floats(30, 300))
def test_cut_and_folded_texts_fit(text, room):
    assert width_of(fitted(text, 12, room), 12) <= room + 0.01
    lines = folded(text, 12, room, 2)
    assert len(lines) <= 2
    assert all(width_of(line, 12) <= room + 0.01 for line in lines)


def test_a_wide_row_is_broken():
    steps = [{"id": f"s{number}", "tool": "a.b"} for number in range(40)]
    found, _ = drawn(Plan.model_validate({"parallel": steps}))
    rows = {frame.y for frame in found.frames}
    assert len(rows) >= 4
    assert found.w < 2000


def test_a_graph_stands_below_what_it_needs():
    needs = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["a", "d"]}
    steps = [{"id": name, "tool": "a.b", "needs": before} for name, before in needs.items()]
    _, frames = drawn(Plan.model_validate({"steps": steps}))
    at = {shape.id: frame for shape, frame in frames.items()}
    assert all(at[name].y > at[before].bottom for name, all_before in needs.items() for before in all_before)
    assert at["b"].y == at["c"].y


def test_a_circle_of_needs_is_drawn_all_the_same():
    steps = [{"id": "a", "tool": "x.y", "needs": ["b"]}, {"id": "b", "tool": "x.y", "needs": ["a"]}]
    found, _ = drawn(Plan.model_validate({"steps": steps}))
    assert len(found.strokes) == 2

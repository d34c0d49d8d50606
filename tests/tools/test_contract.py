"""The contract that ships for authors of tools: good tools keep it, and each way to break it is told by its law.

E20.
"""

import json
from contextlib import contextmanager

import pytest

from perdure import Context, Deed, Happened, NotHappened, ToolFailure, tool
from perdure.testing.tools import Trial, check_tool, laws_for
from perdure.tools.hands import Hands


class Shop:
    """Orders by key, as a far side keeps them."""

    def __init__(self):
        self.orders = {}
        self.is_open = True

    def take(self, key, article):
        self.orders.setdefault(key, article)
        return {"order": key, "article": article}

    def look(self):
        if not self.is_open:
            raise ConnectionError("the shop is closed")
        return self.orders

    @contextmanager
    def closed(self):
        self.is_open = False
        yield
        self.is_open = True


def trial(shop, order):
    return Trial(order, {"article": "A-7"}, world=lambda: shop.orders, unreachable=shop.closed)


def made(**changed):
    """A good tool, in a shop of its own, with one thing changed."""

    def make():
        shop = Shop()

        def probe(key, article):
            return Happened({"order": key, "article": article}) if key in shop.look() else NotHappened()

        def undo(key):
            shop.orders.pop(key, None)

        def order(article: str, context: Context) -> dict[str, str]:
            return shop.take(context.key, article)

        given = {
            "probe": probe,
            "undo": undo,
            "order": order,
            "effects": ["network", "irreversible"],
            "repeat": "never",
        }
        given |= {
            word: (value(shop) if word in ("probe", "undo", "order") and value else value)
            for word, value in changed.items()
        }
        function = given.pop("order")
        return trial(
            shop,
            tool(name="shop.order", **{word: value for word, value in given.items() if value is not None})(function),
        )

    return make


def test_a_good_tool_keeps_all_laws():
    assert len(check_tool(made())) == 9
    assert len(check_tool(made(repeat="keyed"))) == 10


def test_only_what_is_declared_is_tried():
    assert check_tool(made(probe=None, undo=None, effects=[])) == ["_it_succeeds"]
    assert "_a_repetition_changes_nothing" in check_tool(made(repeat="safe"))

    def by_arguments(article):
        return "safe"

    assert "_a_repetition_changes_nothing" not in check_tool(made(repeat=by_arguments))


def raising(shop):
    def order(article: str) -> None:
        raise ToolFailure("logic", "sold out")

    return order


def counting(shop):
    def order(article: str) -> str:
        shop.orders[len(shop.orders)] = article
        return article

    return order


def with_another_answer(shop):
    def order(article: str, context: Context) -> int:
        shop.take(context.key, article)
        shop.count = getattr(shop, "count", 0) + 1
        return shop.count

    return order


BROKEN = [
    ({"order": raising}, "the call of a trial succeeds"),
    ({"order": counting, "repeat": "keyed", "probe": None}, "changes nothing"),
    ({"order": counting, "repeat": "safe", "probe": None}, "changes nothing"),
    ({"order": with_another_answer, "repeat": "keyed", "probe": None}, "gives what the first one gave"),
    ({"probe": lambda shop: NotHappened}, "it would be done twice"),
    ({"probe": lambda shop: lambda key: "yes" if key in shop.look() else NotHappened()}, "a probe finds what happened"),
    ({"probe": lambda shop: lambda key: Happened(key) if key in shop.look() else NotHappened()}, "carries what the call gave"),
    ({"probe": lambda shop: lambda key, article: Happened(shop.take(key, article))}, "it would never be done"),
    ({"probe": lambda shop: lambda key, article: Happened({"order": key, "article": article}) if key in shop.look() else None}, "finds that nothing"),
    ({"probe": lambda shop: lambda key, article: NotHappened() if not shop.is_open or key not in shop.orders else Happened({"order": key, "article": article})}, "cannot reach the world"),
    ({"undo": lambda shop: lambda: None}, "leaves the world as it was"),
    ({"undo": lambda shop: lambda key: shop.orders.pop(key) and None}, "undo of what was undone succeeds"),
    ({"undo": lambda shop: lambda key: shop.orders.update(x=1) if key not in shop.orders else shop.orders.pop(key)}, "undone changes nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "law"), BROKEN, ids=[law for _, law in BROKEN])
def test_a_broken_law_is_named(changed, law):
    with pytest.raises(AssertionError, match=law):
        check_tool(made(**changed))


def test_a_probe_that_changes_the_world_is_caught():
    def probe(shop):
        def probe(key, article):
            found = shop.look()
            shop.orders["looked"] = True
            return Happened({"order": key, "article": article}) if key in found else NotHappened()

        return probe

    with pytest.raises(AssertionError, match="a probe changes nothing"):
        check_tool(made(probe=probe))


def test_a_tool_with_a_probe_is_tried_with_an_unreachable_world():
    def make():
        found = made()()
        return Trial(found.tool, found.arguments, found.world)

    with pytest.raises(AssertionError, match="hand in `unreachable`"):
        check_tool(make)


# ------------------------------------------------------------ tools that judge their own deeds


def saving(tmp_path, *, early=False, deeds=True):
    """A tool that writes a file, and asks before; or does it too early, or does not ask at all."""
    number = iter(range(1000))

    def make():
        workspace = tmp_path / str(next(number))
        workspace.mkdir()

        @tool(name="notes.save", repeat="safe", effects=["writes"], judges=True)
        def save(name: str, text: str, context: Context) -> int:
            path = context.hands.workspace / name
            if early:
                path.write_text(text)
            if deeds:
                context.guard.check([Deed("write", name)], shown=text)
            return path.write_text(text)

        hands = Hands(workspace, tmp_path)
        return Trial(save, {"name": "a.txt", "text": "hi"}, lambda: [each.name for each in workspace.iterdir()], hands)

    return make


def test_a_tool_that_judges_is_held_to_it(tmp_path):
    assert check_tool(saving(tmp_path)) == [
        "_it_succeeds", "_a_repetition_changes_nothing", "_what_is_denied_is_not_done", "_what_is_asked_about_waits",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "law"), [({"early": True}, "what is denied is not done"), ({"deeds": False}, "fails with `denied`")]
)
def test_a_tool_that_acts_before_it_asks_is_caught(tmp_path, given, law):
    with pytest.raises(AssertionError, match=law):
        check_tool(saving(tmp_path, **given))


def test_an_async_tool_and_an_async_probe_are_tried_too():
    def make():
        shop = Shop()

        async def probe(key):
            return Happened(key) if key in shop.look() else NotHappened()

        @tool(name="shop.order", effects=[], probe=probe)
        async def order(article: str, context: Context) -> str:
            return shop.take(context.key, article)["order"]

        return trial(shop, order)

    assert len(check_tool(make)) == 5


def test_what_is_said_is_short():
    def make():
        @tool(name="a.b", effects=[], repeat="safe")
        def fail(article: str) -> None:
            raise ToolFailure("logic", "x" * 2000)

        return Trial(fail, {"article": "1"}, dict)

    with pytest.raises(AssertionError) as caught:
        check_tool(make)
    assert len(str(caught.value)) < 600
    assert json.dumps(str(caught.value))


def test_laws_follow_from_the_declaration():
    names = {law.__name__ for law in laws_for(made()().tool)}
    assert {"_a_crash_leaves_one_effect", "_an_undo_may_be_repeated", "_what_is_asked_about_waits"} <= names

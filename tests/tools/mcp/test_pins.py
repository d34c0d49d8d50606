"""S10: what was approved is kept in a file that only its user can change, whole or not at all."""

import json
import multiprocessing

import pytest
from pin_rivals import approve_many, definition

from perdure.tools.mcp.definition import Offer
from perdure.tools.mcp.errors import BadPins
from perdure.tools.mcp.pins import Pins


def offer(text="Adds.", name="shop.add"):
    return Offer({name: definition(text)})


@pytest.fixture
def pins(tmp_path):
    return Pins(tmp_path / "state" / "pins.json")


def test_being_seen_approves_nothing(pins):
    assert not pins.knows("shop")
    pins.see("shop", offer())
    assert pins.knows("shop")
    assert pins.pin("shop", "shop.add").standing == "new"


def test_what_is_approved_holds_for_exactly_that(pins):
    pins.see("shop", offer())
    pins.approve("shop", {"shop.add": definition()})
    pins.see("shop", offer())
    assert pins.pin("shop", "shop.add").standing == "approved"
    pins.see("shop", offer("Adds, and more."))
    changed = pins.pin("shop", "shop.add")
    assert (changed.standing, changed.approved.description, changed.offered.description) == (
        "changed",
        "Adds.",
        "Adds, and more.",
    )
    pins.see("shop", offer())
    assert pins.pin("shop", "shop.add").standing == "approved"


def test_an_approval_survives_a_tool_that_is_gone_for_a_while(pins):
    pins.approve("shop", {"shop.add": definition()})
    pins.see("shop", Offer({}))
    pins.see("shop", offer("Other words."))
    assert pins.pin("shop", "shop.add").standing == "changed"


def test_what_was_only_seen_is_forgotten_when_it_is_gone(pins):
    pins.see("shop", offer())
    pins.see("shop", Offer({}))
    assert pins.of("shop") == {}
    assert pins.knows("shop")


def test_another_process_sees_it_and_only_the_user_can_change_it(pins):
    pins.see("shop", offer())
    other = Pins(pins.path)
    assert other.pin("shop", "shop.add").standing == "new"
    pins.approve("shop", {"shop.add": definition()})
    assert other.pin("shop", "shop.add").standing == "approved"
    assert pins.path.stat().st_mode & 0o777 == 0o600
    assert pins.path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o622, 0o660])
def test_a_file_that_others_can_change_approves_nothing(pins, mode):
    pins.approve("shop", {"shop.add": definition()})
    pins.path.chmod(mode)
    with pytest.raises(BadPins, match="others can change"):
        Pins(pins.path).of("shop")


@pytest.mark.parametrize("damage", [lambda text: text.replace("Adds.", "Adds!"), lambda text: text[:-9], lambda text: "[]", lambda text: "{" * 9999, lambda text: text.replace("pins/1", "pins/9"), lambda text: text.replace('"definition"', '"x"')])  # fmt: skip
def test_a_damaged_file_approves_nothing(pins, damage):
    pins.approve("shop", {"shop.add": definition()})
    pins.path.write_text(damage(pins.path.read_text()))
    with pytest.raises(BadPins):
        Pins(pins.path).of("shop")


def test_what_was_not_hashed_is_no_approval(pins):
    pins.approve("shop", {"shop.add": definition()})
    stored = json.loads(pins.path.read_text())
    stored["servers"]["shop"]["shop.add"]["approved"]["definition"]["inputSchema"] = {}
    pins.path.write_text(json.dumps(stored))
    with pytest.raises(BadPins, match="not what was approved"):
        Pins(pins.path).of("shop")


def test_those_who_approve_at_the_same_time_lose_nothing(pins):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=approve_many, args=(pins.path, name)) for name in ("a", "b", "c")]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert [len(pins.of(name)) for name in ("a", "b", "c")] == [20, 20, 20]
    assert list(pins.path.parent.glob(".*")) == []

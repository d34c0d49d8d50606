"""T9: a round of refinement leads to the next one, until a check of completeness holds, or a bound is reached."""

import json
import re

from repositories.project import FILES
from ways import Workshop, told_in

from perdure.kits.coding.report import markdown
from perdure.ports import Answer
from perdure.testing.clock import FakeClock
from perdure.testing.models import calls

MULTIPLY = f"{FILES['calc.py']}\n\ndef multiply(a, b):\n    return a * b\n"
DIVIDE = f"{MULTIPLY}\n\ndef divide(a, b):\n    return a / b\n"
BROKEN = MULTIPLY.replace("a - b", "b - a")
GOAL = {"goal": "Complete the calculator"}
STEPS = ("shape_refine", "shape_complete")
DIAGNOSIS = {"cause": "the order is wrong", "mend": "turn it round", "lesson": "Order counts in a difference."}


def writes(text, said):
    """An agent that writes the module, and says so."""
    return [calls("files.write", path="calc.py", text=text), said]


def judged(verdict, answer):
    return {"verdict": verdict, "answer": answer}


def more(request):
    """Somebody who writes one function more than there are."""
    found = int(re.search(r"missing: (\d*)", told_in(request)).group(1) or 0) + 1
    functions = [f"\n\ndef add_{n}(a):\n    return a + {n}\n" for n in range(found)]
    return calls("files.write", path="calc.py", text=FILES["calc.py"] + "".join(functions))


def counted(request):
    """Somebody who says how many there are, and that it is not enough."""
    found = told_in(request).count("add_") or re.search(r"done: (\d+)", told_in(request)).group(1)
    return judged("incomplete", f"{found} are not enough")


def last_of(request):
    return str(request.remarks[1].wishes[0].arguments["text"].count("add_"))


ENDLESS = {"Bring this nearer": [more, last_of], "Is this complete?": counted}


def test_t9_it_goes_round_until_the_check_holds_and_is_told_what_is_missing(tmp_path):
    script = {
        "missing: Division is missing": writes(DIVIDE, "It divides."),
        "Bring this nearer": writes(MULTIPLY, "It multiplies."),
        "done: It multiplies.": judged("incomplete", "Division is missing"),
        "done: It divides.": judged("success", "All four are there."),
    }
    done = Workshop(tmp_path, script).carry("refine", inputs=GOAL)
    done.assert_kept()
    assert [exit_ for _, exit_ in done.path(*STEPS)] == ["success", "incomplete", "success", "success"]
    assert "missing: null" in done.told("Bring this nearer")[0]
    assert done.files()["calc.py"] == DIVIDE
    assert (done.log(), done.changed()) == (["Complete the calculator"], {"calc.py"})
    assert done.report.summary == "Complete the calculator"
    assert not done.result.partial


def test_t9_it_is_bounded_by_visits(tmp_path):
    done = Workshop(tmp_path, ENDLESS).carry("refine", inputs=GOAL)
    done.assert_kept()
    assert done.path(*STEPS) == [("shape_refine", "success"), ("shape_complete", "incomplete")] * 6
    assert done.log() == ["Complete the calculator, as far as it came"]
    assert "as far as it came" in markdown(done.report)


def test_t9_it_is_bounded_by_time(tmp_path):
    clock = FakeClock()

    def slowly(request):
        clock.set_by(700)
        return counted(request)

    done = Workshop(tmp_path, {**ENDLESS, "Is this complete?": slowly}).carry("refine", inputs=GOAL, clock=clock)
    done.assert_kept()
    assert done.path("shape_complete") == [("shape_complete", "incomplete")] * 3
    assert done.path("shape_refine")[-1] == ("shape_refine", "cancelled")
    assert "It is done, as far as it came." in markdown(done.report)
    assert done.result.usage.budgets["shape_rounds"]["seconds"].spent > 1800
    assert done.result.partial
    assert done.log() == ["Complete the calculator, as far as it came"]


def test_t9_it_is_bounded_by_cost(tmp_path):
    def dearly(request):
        return Answer(json.dumps(counted(request)), tokens_in=900, tokens_out=100, usd=1.5)

    done = Workshop(tmp_path, {**ENDLESS, "Is this complete?": dearly}, usd=0.2).carry("refine", inputs=GOAL)
    done.assert_kept()
    spent = done.result.usage.budgets["shape_rounds"]["usd"]
    assert spent.spent <= spent.limit
    assert 1 <= len(done.path("shape_refine")) < 6
    assert done.result.partial
    assert done.log() == ["Complete the calculator, as far as it came"]


def test_t9_rounds_of_which_nothing_new_comes_are_enough(tmp_path):
    same = {
        "Bring this nearer": writes(MULTIPLY, "There is more of it."),
        "Is this complete?": judged("incomplete", "It is never complete."),
    }
    done = Workshop(tmp_path, same).carry("refine", inputs=GOAL)
    done.assert_kept()
    assert len(done.path("shape_refine")) == 3
    assert done.log() == ["Complete the calculator, as far as it came"]


def test_e22_what_gets_worse_and_cannot_be_mended_leaves_nothing(tmp_path):
    script = {
        "Bring this nearer": writes(BROKEN, "It is nicer now."),
        "Is this complete?": judged("success", "It looks complete."),
        "Tests fail after a change": DIAGNOSIS,
        "Mend what the tests have found": "I cannot find anything wrong.",
    }
    done = Workshop(tmp_path, script).carry("refine", inputs=GOAL)
    done.assert_nothing_kept("after 5 rounds", "test_subtract")
    assert [len(each.failing) for each in done.report.rounds] == [0, 1, 1, 1, 1, 1]
    assert done.report.rounds[1].lesson == DIAGNOSIS["lesson"]

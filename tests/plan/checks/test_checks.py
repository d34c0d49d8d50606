"""E1: every problem at once, each with its code, its place and what to write instead."""

import pytest

from perdure.plan.problems import written
from perdure.plan.reading import read_text
from perdure.plan.toolbox import Toolbox


def found(text, toolbox=None):
    return [(problem.code, written(problem.path)) for problem in read_text(text, toolbox=toolbox).problems]


CASES = {
    # names
    "duplicate id": (
        "steps: [{id: a, tool: x.y}, {id: g, steps: [{id: a, tool: x.y}]}]",
        [("PRD1107", "steps[1].steps[0].id")],
    ),
    "reserved id": ("steps: [{id: next, tool: x.y}]", [("PRD1108", "steps[0].id")]),
    "id that an expression cannot name": ("steps: [{id: in, tool: x.y}]", [("PRD1108", "steps[0].id")]),
    # targets
    "unknown target": ("steps: [{id: a, tool: x.y, on: {failure: b}}]", [("PRD1301", "steps[0].on.failure")]),
    "inward jump": (
        "steps: [{id: a, tool: x.y, on: {failure: in_g}}, {id: g, steps: [{id: in_g, tool: x.y}]}]",
        [("PRD1302", "steps[0].on.failure")],
    ),
    "jump to a sibling of a graph": (
        "steps: [{id: g, parallel: [{id: a, tool: x.y, on: {failure: b}}, {id: b, tool: x.y}]}]",
        [("PRD1307", "steps[0].parallel[0].on.failure")],
    ),
    "jump out of a map": (
        "steps: [{id: m, map: [1], steps: [{id: a, tool: x.y, on: {failure: z}}]}, {id: z, tool: x.y}]",
        [("PRD1313", "steps[0].steps[0].on.failure")],
    ),
    "jump out of a sub-plan": (
        "steps: [{id: m, plan: {steps: [{id: a, tool: x.y, on: {failure: z}}]}}, {id: z, tool: x.y}]",
        [("PRD1313", "steps[0].plan.steps[0].on.failure")],
    ),
    "undeclared verdict": (
        "steps: [{id: a, agent: x, on: {needs_work: b}}, {id: b, tool: x.y}]",
        [("PRD1310", "steps[0].on.needs_work")],
    ),
    "a tool is not approved": (
        "steps: [{id: a, tool: x.y, on: {approved: next}}]",
        [("PRD1310", "steps[0].on.approved")],
    ),
    "choice without a target": (
        "steps: [{id: a, decide: inputs.x, choices: [b, c]}, {id: b, tool: x.y}]\ninputs: {x: {type: string}}",
        [("PRD1311", "steps[0].choices[1]")],
    ),
    # needs
    "needs in a serial group": (
        "mode: serial\nsteps: [{id: a, tool: x.y}, {id: b, tool: x.y, needs: [a]}]",
        [("PRD1304", "steps[1].needs")],
    ),
    "needs that are not answered": (
        "steps: [{id: a, tool: x.y}, {id: b, tool: x.y, needs: [a]}, {id: c, tool: x.y}]",
        [("PRD1303", "steps[2]")],
    ),
    "dangling needs": (
        "steps: [{id: a, tool: x.y}, {id: b, tool: x.y, needs: [a, zz]}]",
        [("PRD1305", "steps[1].needs[1]")],
    ),
    "circular needs": (
        "steps: [{id: a, tool: x.y, needs: [c]}, {id: b, tool: x.y, needs: [a]}, {id: c, tool: x.y, needs: [b]}]",
        [("PRD1306", "steps[0].needs")],
    ),
    "a step that needs itself": (
        "mode: graph\nsteps: [{id: a, tool: x.y, needs: [a]}]",
        [("PRD1306", "steps[0].needs")],
    ),
    # loops and dead ends
    "unreachable step": (
        "steps: [{id: a, tool: x.y, on: {success: done}}, {id: b, tool: x.y}]",
        [("PRD1308", "steps[1]")],
    ),
    "unreachable after an end": ("steps: [{id: a, done: true}, {id: b, tool: x.y}]", [("PRD1308", "steps[1]")]),
    "unbounded loop": (
        "steps: [{id: a, tool: x.y}, {id: b, tool: x.y, on: {failure: a}}]",
        [("PRD1309", "steps[0]")],
    ),
    "unbounded self-loop": ("steps: [{id: a, tool: x.y, on: {failure: a}}]", [("PRD1309", "steps[0]")]),
    "a bound inside a group does not bound the loop around it": (
        "steps: [{id: g, steps: [{id: a, tool: x.y, max_visits: 2, on: {failure: g}}]}]",
        [("PRD1309", "steps[0]")],
    ),
    # joins
    "impossible quorum": (
        "steps: [{id: g, parallel: [{id: a, tool: x.y}], join: {quorum: 2}}]",
        [("PRD1312", "steps[0].join")],
    ),
    "impossible quorum of a map": (
        "steps: [{id: g, map: [1, 2], steps: [{id: a, tool: x.y}], join: {quorum: 3}}]",
        [("PRD1312", "steps[0].join")],
    ),
    "join of a serial group": (
        "steps: [{id: g, steps: [{id: a, tool: x.y}], join: any}]",
        [("PRD1314", "steps[0].join")],
    ),
    # references
    "syntax": ("steps: [{id: a, tool: x.y, when: 'inputs.'}]", [("PRD1201", "steps[0].when")]),
    "unclosed reference": ("steps: [{id: a, tool: x.y, with: {u: '${inputs.x'}}]", [("PRD1201", "steps[0].with.u")]),
    "unknown step": (
        "steps: [{id: a, tool: x.y, with: {u: '${steps.b.output}'}}]",
        [("PRD1202", "steps[0].with.u")],
    ),
    "unknown attribute of a step": (
        "steps: [{id: a, tool: x.y}, {id: b, tool: x.y, with: {u: '${steps.a.result}'}}]",
        [("PRD1202", "steps[1].with.u")],
    ),
    "field that the output does not have": (
        "steps:\n"
        "  - {id: draft, model: weak, prompt: Hi, returns: {type: object, properties: {email: {type: string}}}}\n"
        "  - {id: send, tool: mail.send, with: {to: '${steps.draft.output.emial}'}}",
        [("PRD1203", "steps[1].with.to")],
    ),
    "reference to a later step": (
        "steps: [{id: a, tool: x.y, with: {u: '${steps.b.output}'}}, {id: b, tool: x.y}]",
        [("PRD1204", "steps[0].with.u")],
    ),
    "reference to the group around": (
        "steps: [{id: g, steps: [{id: a, tool: x.y, with: {u: '${steps.g.output}'}}]}]",
        [("PRD1204", "steps[0].steps[0].with.u")],
    ),
    "reference to a step that runs side by side": (
        "steps: [{id: g, parallel: [{id: a, tool: x.y}, {id: b, tool: x.y, with: {u: '${steps.a.output}'}}]}]",
        [("PRD1204", "steps[0].parallel[1].with.u")],
    ),
    "reference to itself": (
        "steps: [{id: a, tool: x.y, with: {u: '${steps.a.output}'}}]",
        [("PRD1204", "steps[0].with.u")],
    ),
    "optional reference to itself without a loop": (
        "steps: [{id: a, tool: x.y, with: {u: '${steps.?a.output}'}}]",
        [("PRD1204", "steps[0].with.u")],
    ),
    "reference into a map": (
        "steps: [{id: m, map: [1], steps: [{id: a, tool: x.y}]}, {id: b, tool: x.y, with: {u: '${steps.a.output}'}}]",
        [("PRD1213", "steps[1].with.u")],
    ),
    "reference out of a map": (
        "steps: [{id: b, tool: x.y}, {id: m, map: [1], steps: [{id: a, tool: x.y, with: {u: '${steps.b.output}'}}]}]",
        [("PRD1213", "steps[1].steps[0].with.u")],
    ),
    "unknown input": ("steps: [{id: a, tool: x.y, with: {u: '${inputs.x}'}}]", [("PRD1205", "steps[0].with.u")]),
    "input of the plan around a sub-plan": (
        "inputs: {x: {}}\nsteps: [{id: p, plan: {steps: [{id: a, tool: x.y, with: {u: '${inputs.x}'}}]}}]",
        [("PRD1205", "steps[0].plan.steps[0].with.u")],
    ),
    "map in an expression": (
        "steps: [{id: a, tool: x.y, when: '[1].map(x, x) == [1]'}]",
        [("PRD1206", "steps[0].when")],
    ),
    "text as a condition": (
        "inputs: {x: {type: string}}\nsteps: [{id: a, tool: x.y, when: inputs.x}]",
        [("PRD1207", "steps[0].when")],
    ),
    "number against text": (
        "inputs: {x: {type: integer}}\nsteps: [{id: a, tool: x.y, when: \"inputs.x > 'a'\"}]",
        [("PRD1207", "steps[0].when")],
    ),
    "secret outside of with": (
        "steps: [{id: a, model: weak, prompt: 'Say ${secrets.KEY}'}]",
        [("PRD1208", "steps[0].prompt")],
    ),
    "item outside of a map": ("steps: [{id: a, tool: x.y, with: {u: '${item}'}}]", [("PRD1208", "steps[0].with.u")]),
    "output before there is one": ("steps: [{id: a, tool: x.y, when: output.ok}]", [("PRD1208", "steps[0].when")]),
    "steps in a goal": ("goal: '${steps.a.output}'\nsteps: [{id: a, tool: x.y}]", [("PRD1208", "goal")]),
    "unknown root": ("steps: [{id: a, tool: x.y, with: {u: '${input.x}'}}]", [("PRD1209", "steps[0].with.u")]),
    # contracts
    "undo of an undo": (
        "steps: [{id: a, tool: x.y, undo: {tool: x.z, undo: {tool: x.w}}}]",
        [("PRD1404", "steps[0].undo.undo")],
    ),
    "budget over the one around": (
        "budget: {usd: 1}\nsteps: [{id: g, steps: [{id: a, agent: x, budget: {usd: 2, steps: 5}}]}]",
        [("PRD1405", "steps[0].steps[0].budget.usd")],
    ),
    "budget over one further out": (
        "budget: {usd: 1}\nsteps: [{id: g, budget: {tokens: 5}, steps: [{id: a, agent: x, budget: {usd: 2}}]}]",
        [("PRD1405", "steps[0].steps[0].budget.usd")],
    ),
    "lookahead without a checkpoint": (
        "requires_lookahead: true\nsteps: [{id: a, tool: x.y}]",
        [("PRD1406", "requires_lookahead")],
    ),
    "checkpoint that is none": ("checkpoints: [a]\nsteps: [{id: a, tool: x.y}]", [("PRD1407", "checkpoints[0]")]),
    "rollback to nothing": ("steps: [{id: a, rollback: b}]", [("PRD1408", "steps[0].rollback")]),
    "rollback to what comes later": (
        "steps: [{id: a, rollback: b}, {id: b, checkpoint: true}]",
        [("PRD1204", "steps[0].rollback")],
    ),
    "input of an unknown type": (
        "inputs: {x: {type: text}}\nsteps: [{id: a, tool: x.y}]",
        [("PRD1410", "inputs.x.type")],
    ),
    "model asked nothing": ("steps: [{id: a, model: default}]", [("PRD1102", "steps[0]")]),
    "results of no calls": (
        "steps: [{id: a, model: default, prompt: x}, {id: b, model: default, prompt: y, results: [a]}]",
        [("PRD1416", "steps[1].results")],
    ),
    "choices and a schema": (
        "steps: [{id: a, model: default, prompt: x, choices: [l, r], returns: {type: string}}]",
        [("PRD1416", "steps[0].choices")],
    ),
    "a conversation with a tool": (
        "steps: [{id: a, tool: x.y}, {id: b, model: default, prompt: y, after: a}]",
        [("PRD1416", "steps[1].after")],
    ),
    "a conversation with nobody": (
        "steps: [{id: b, model: default, prompt: y, after: a, results: [c]}]",
        [("PRD1202", "steps[0].after"), ("PRD1202", "steps[0].results[0]")],
    ),
    "choice without choices": ("steps: [{id: a, ask: Which?, answer: choice}]", [("PRD1411", "steps[0].answer")]),
    "form without a form": ("steps: [{id: a, ask: Which?, answer: form}]", [("PRD1411", "steps[0].answer")]),
    "default that is no answer": (
        "steps: [{id: a, ask: Which?, choices: [x, y], default: z, deadline: 1d}]",
        [("PRD1411", "steps[0].default")],
    ),
    "context of an unknown step": (
        "steps: [{id: a, agent: x, context: [zz]}]",
        [("PRD1202", "steps[0].context[0]")],
    ),
    "context of an unknown step, written out": (
        "steps: [{id: a, agent: x, context: {from: [zz], tokens: 50}}]",
        [("PRD1202", "steps[0].context.from[0]")],
    ),
    "an approval does not succeed": (
        "steps: [{id: a, ask: Publish?, on: {success: b}}, {id: b, tool: x.y}]",
        [("PRD1310", "steps[0].on.success")],
    ),
    "a clock does not succeed": (
        "steps: [{id: a, wait: 10s, on: {success: next}}]",
        [("PRD1310", "steps[0].on.success")],
    ),
    "a choice that every step has": (
        "steps: [{id: a, decide: \"'x'\", choices: [failure], on: {failure: next}}]",
        [("PRD1315", "steps[0].choices[0]")],
    ),
    "a verdict that every step has": (
        "steps: [{id: a, agent: x, verdicts: [skipped]}]",
        [("PRD1315", "steps[0].verdicts[0]")],
    ),
    "a result that only a loop can bring": (
        "steps: [{id: a, tool: x.y, max_visits: 3, with: {u: '${steps.b.output}'}}, {id: b, tool: x.y, on: {failure: a}}]",
        [("PRD1204", "steps[0].with.u")],
    ),
    "a bound whose end leads back": (
        "steps: [{id: a, tool: x.y, max_visits: 2, on: {success: done, failure: a, exhausted: a}}]",
        [("PRD1309", "steps[0]")],
    ),
    "a bound that is gone around when it is used up": (
        "steps: [{id: a, tool: x.y, max_visits: 3, on: {exhausted: b}}, {id: b, tool: x.y, on: {success: a}}]",
        [("PRD1309", "steps[0]")],
    ),
    "a bound that is gone around when it is skipped": (
        "inputs: {x: {type: boolean}}\nsteps: [{id: a, tool: x.y, when: inputs.x, max_visits: 3}, {id: b, tool: x.y, on: {success: a}}]",
        [("PRD1309", "steps[0]")],
    ),
    "a sub-plan that lacks an input": (
        "steps: [{id: p, plan: {inputs: {x: {type: string}}, steps: [{id: a, tool: x.y}]}, with: {y: 1}}]",
        [("PRD1413", "steps[0]"), ("PRD1205", "steps[0].with.y")],
    ),
    "an input whose default is of another type": (
        "inputs: {x: {type: integer, default: foo}}\nsteps: [{id: a, tool: x.y}]",
        [("PRD1410", "inputs.x.default")],
    ),
    "a moment that is none": ("steps: [{id: a, wait: {until: tomorrow}}]", [("PRD1103", "steps[0].wait")]),
    "a number that cannot be hashed": (
        "steps: [{id: a, tool: x.y, seed: 99999999999999999}]",
        [("PRD1103", "steps[0].seed")],
    ),
    "a broken id hides no other mistake": (
        "steps: [{id: a-b, tool: x.y}, {id: c, tool: x.y, with: {v: '${steps.nope.output}'}}, {id: d, tool: x.y, on: {failure: nowhere}}]",
        [("PRD1106", "steps[0].id"), ("PRD1202", "steps[1].with.v"), ("PRD1301", "steps[2].on.failure")],
    ),
    "broken choices are said once": (
        "steps: [{id: a, decide: \"'b'\", choices: b}, {id: b, done: true}]",
        [("PRD1103", "steps[0].choices")],
    ),
    "broken steps are said once": ("steps: abc", [("PRD1103", "steps")]),
    "broken wait": (
        "steps: [{id: a, wait: {signal: 'x y'}, on: {success: next}}]",
        [("PRD1103", "steps[0].wait.signal")],
    ),
    "two loops without a bound": (
        "steps: [{id: a, tool: x.y, on: {failure: a}}, {id: b, tool: x.y, on: {failure: b}}]",
        [("PRD1309", "steps[0]"), ("PRD1309", "steps[1]")],
    ),
    "two circles of needs": (
        "mode: graph\nsteps: [{id: a, tool: x.y, needs: [a]}, {id: b, tool: x.y, needs: [c]}, {id: c, tool: x.y, needs: [b]}]",
        [("PRD1306", "steps[0].needs"), ("PRD1306", "steps[1].needs")],
    ),
    "budget of a sub-plan over that of its step": (
        "steps: [{id: p, budget: {usd: 1}, plan: {budget: {usd: 5}, steps: [{id: a, tool: x.y}]}}]",
        [("PRD1405", "steps[0].plan.budget.usd")],
    ),
    "checkpoint of another scope": (
        "checkpoints: [c]\nsteps: [{id: m, map: [1], steps: [{id: c, checkpoint: true}]}]",
        [("PRD1407", "checkpoints[0]")],
    ),
    "type of a result that does not exist": (
        "steps: [{id: a, model: m, prompt: p, returns: {properties: {x: {type: text}}}}]",
        [("PRD1410", "steps[0].returns.properties.x.type")],
    ),
    "default without a deadline": ("steps: [{id: a, ask: Go?, default: approved}]", [("PRD1411", "steps[0].default")]),
    "map over a text": ("steps: [{id: m, map: text, steps: [{id: a, tool: x.y}]}]", [("PRD1103", "steps[0].map")]),
    # what follows from a mistake is not said again
    "misspelt target": (
        "steps: [{id: a, tool: x.y, on: {success: done, failure: apologise}}, {id: apology, tool: x.y}]",
        [("PRD1301", "steps[0].on.failure")],
    ),
    "misspelt kind of a step that jumps": (
        "steps: [{id: a, tol: x.y, on: {success: done, failure: c}}, {id: c, tool: x.y}]",
        [("PRD1104", "steps[0]")],
    ),
    "group without an id": (
        "steps: [{steps: [{id: a, tool: x.y}]}, {id: b, tool: x.y, with: {u: '${steps.a.output}'}}]",
        [("PRD1102", "steps[0]")],
    ),
    "wrong bound of a loop": (
        "steps: [{id: a, tool: x.y, max_visits: 0, on: {failure: a}}]",
        [("PRD1103", "steps[0].max_visits")],
    ),
    "wrong verdicts": (
        "steps: [{id: a, agent: x, verdicts: bad, on: {bad: b}}, {id: b, tool: x.y}]",
        [("PRD1103", "steps[0].verdicts")],
    ),
    "wrong inputs": (
        "inputs: {city: string}\nsteps: [{id: a, tool: x.y, with: {u: '${inputs.city}'}}]",
        [("PRD1103", "inputs.city")],
    ),
    "id with a hyphen": (
        "steps: [{id: fetch-it, tool: x.y}, {id: b, tool: x.y, with: {u: '${steps.fetch-it.output}'}}]",
        [("PRD1106", "steps[0].id")],
    ),
    "alias": ("x: 1\nsteps: [{id: a, tool: x.y, with: *w}]", [("PRD1101", "x"), ("PRD1007", "steps[0].with")]),
    "steps and parallel": (
        "steps: [{id: a, tool: x.y}]\nparallel: [{id: b, tool: x.y}]",
        [("PRD1105", "")],
    ),
    "parallel in a serial group": (
        "steps: [{id: g, mode: serial, parallel: [{id: a, tool: x.y}]}]",
        [("PRD1105", "steps[0].mode")],
    ),
    "kind that contradicts its key": ("steps: [{id: a, kind: tool, agent: x}]", [("PRD1105", "steps[0].kind")]),
    "join of an unknown sort": (
        "steps: [{id: g, parallel: [{id: a, tool: x.y}], join: {majority: 2}}]",
        [("PRD1103", "steps[0].join")],
    ),
    "number that is a text": ("budget: {usd: abc}\nsteps: [{id: a, tool: x.y}]", [("PRD1103", "budget.usd")]),
    "format that equals one": ("perdure: true\nsteps: [{id: a, tool: x.y}]", [("PRD1005", "perdure")]),
    "number too large inside a value": (
        "steps: [{id: a, tool: x.y, with: {n: [9007199254740993]}}]",
        [("PRD1008", "steps[0].with.n[0]")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_problem_is_found_in_its_place_and_alone(name):
    text, expected = CASES[name]
    assert found(text) == expected


@pytest.mark.parametrize("name", CASES)
def test_each_problem_says_what_to_write_instead(name):
    text, _ = CASES[name]
    for problem in read_text(text).problems:
        assert problem.message
        assert problem.help, problem
        assert problem.line > 0


FINE = {
    "steps and jumps": (
        "steps: [{id: a, tool: x.y, max_visits: 3}, {id: b, tool: x.y, on: {failure: a}}, {id: c, done: true}]"
    ),
    "a jump outward leaves the groups around it": (
        "steps: [{id: a, tool: x.y, max_visits: 2}, {id: g, parallel: [{id: b, tool: x.y, on: {failure: a}}]}]"
    ),
    "a group's exit sees its own steps": (
        "steps: [{id: g, verdicts: [big], exit: \"steps.a.output > 3 ? 'big' : 'success'\", steps: [{id: a, tool: x.y}]}]"
    ),
    "a step in a group is seen from outside the group": (
        "steps: [{id: g, steps: [{id: a, tool: x.y}]}, {id: b, tool: x.y, with: {u: '${steps.a.output}'}}]"
    ),
    "indirect needs are needs": (
        "mode: graph\nsteps: [{id: a, tool: x.y}, {id: b, tool: x.y, needs: [a]},"
        " {id: c, tool: x.y, needs: [b], with: {u: '${steps.a.output}'}}]"
    ),
    "a step may look at its own visit before": (
        "steps: [{id: a, tool: x.y, max_visits: 3, with: {u: '${steps.?a.output}'}, on: {failure: a}}]"
    ),
    "a loop carries results back": (
        "steps: [{id: a, tool: x.y, max_visits: 3, with: {u: '${steps.?b.output}'}}, {id: b, tool: x.y, on: {failure: a}}]"
    ),
    "a choice names a step": "steps: [{id: a, decide: \"'b'\", choices: [b, c]}, {id: b, done: true}, {id: c, tool: x.y}]",
    "in a graph a choice is a value": (
        "mode: graph\nsteps: [{id: a, decide: \"'b'\", choices: [b]}, {id: c, tool: x.y, needs: [a], when: \"steps.a.output == 'b'\"}]"
    ),
    "continue lets a failure go on": (
        "recovery: {other: [continue]}\nsteps: [{id: a, tool: x.y, on: {success: c}}, {id: b, tool: x.y}, {id: c, tool: x.y}]"
    ),
    "integers compare with fractions": "inputs: {x: {type: integer}}\nsteps: [{id: a, tool: x.y, when: inputs.x > 2.5}]",
    "free fields of an open schema": (
        "steps: [{id: a, model: m, prompt: p, returns: {properties: {x: {}}, additionalProperties: true}},"
        " {id: b, tool: x.y, with: {u: '${steps.a.output.z}'}}]"
    ),
    "a map hands values in": (
        "steps: [{id: b, tool: x.y}, {id: m, map: [1], with: {v: '${steps.b.output}'},"
        " steps: [{id: a, tool: x.y, with: {u: '${inputs.v}', i: '${item}', n: '${index}'}}]}]"
    ),
}


@pytest.mark.parametrize("name", FINE)
def test_what_is_right_is_left_alone(name):
    assert found(FINE[name]) == []


TOOLBOX = Toolbox.model_validate(
    {
        "tools": {
            "mail.send": {
                "inputs": {"type": "object", "properties": {"to": {}, "text": {}}, "required": ["to"]},
                "returns": {"type": "object", "properties": {"id": {"type": "string"}}},
            },
            "x.y": {},
        },
        "agents": ["code"],
        "plans": ["sub"],
    }
)

KNOWN = {
    "unknown tool": ("steps: [{id: a, tool: mail.sent}]", [("PRD1401", "steps[0].tool")]),
    "unknown tool to undo with": (
        "steps: [{id: a, tool: x.y, undo: {tool: x.z}}]",
        [("PRD1401", "steps[0].undo.tool")],
    ),
    "unknown agent": ("steps: [{id: a, agent: coder}]", [("PRD1402", "steps[0].agent")]),
    "unknown agent that chooses": (
        "steps: [{id: a, decide: {agent: zz}, choices: [b]}, {id: b, done: true}]",
        [("PRD1402", "steps[0].decide.agent")],
    ),
    "unknown argument": (
        "steps: [{id: a, tool: mail.send, with: {to: me, txt: hi}}]",
        [("PRD1403", "steps[0].with.txt")],
    ),
    "missing argument": ("steps: [{id: a, tool: mail.send, with: {text: hi}}]", [("PRD1403", "steps[0]")]),
    "unknown judge": (
        "steps: [{id: a, agent: code, accept: [{tool: no.such}, {agent: nobody}]}]",
        [("PRD1401", "steps[0].accept[0].tool"), ("PRD1402", "steps[0].accept[1].agent")],
    ),
    "unknown plan": ("steps: [{id: a, plan: sup}]", [("PRD1409", "steps[0].plan")]),
    "field that a tool does not return": (
        "steps: [{id: a, tool: mail.send, with: {to: me}}, {id: b, tool: x.y, with: {u: '${steps.a.output.idd}'}}]",
        [("PRD1203", "steps[1].with.u")],
    ),
    "type that a tool returns": (
        "steps: [{id: a, tool: mail.send, with: {to: me}}, {id: b, tool: x.y, when: steps.a.output.id}]",
        [("PRD1207", "steps[1].when")],
    ),
    "all known": ("steps: [{id: a, tool: mail.send, with: {to: me}}, {id: b, agent: code}, {id: c, plan: sub}]", []),
}


@pytest.mark.parametrize("name", KNOWN)
def test_names_are_checked_against_a_toolbox(name):
    text, expected = KNOWN[name]
    assert found(text, TOOLBOX) == expected
    if expected:
        assert all(problem.help for problem in read_text(text, toolbox=TOOLBOX).problems)


def test_all_problems_come_at_once():
    text = """
steps:
  - {id: a, tool: x.y, retyr: {attempts: 2}}
  - {id: b, tol: x.y}
  - {id: c, tool: xy, on: {failure: zz}}
  - {id: d, agent: code, timeout: soon, max_visits: 0}
  - {id: d, agent: code, with: {u: "${steps.nobody.output}"}}
"""
    assert found(text) == [
        ("PRD1101", "steps[0].retyr"),
        ("PRD1104", "steps[1]"),
        ("PRD1103", "steps[2].tool"),
        ("PRD1103", "steps[3].timeout"),
        ("PRD1103", "steps[3].max_visits"),
        ("PRD1107", "steps[4].id"),
        ("PRD1202", "steps[4].with.u"),
    ]


def test_hints_name_the_nearest_word():
    text = "steps: [{id: fetch, tool: x.y, retyr: {}}, {id: b, tol: x.y}, {id: c, tool: x.y, with: {u: '${steps.fech.output}'}}]"
    hints = [problem.help for problem in read_text(text).problems]
    assert hints == ['did you mean "retry"?', '"tol": did you mean "tool"?', 'did you mean "fetch"?']

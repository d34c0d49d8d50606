"""Whatever a server writes, a call ends in an outcome, and nothing is raised that nobody caught."""

import json
import random

import pytest

from perdure.tools.failure import KINDS
from perdure.tools.mcp.wire import NONSENSE

pytestmark = pytest.mark.anyio
GOOD = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"hi"}],"isError":false}}'
ODD = [
    "null", "true", "-1", "1e999", '"x"', "[]", "{}", '{"content":null}', '{"content":{}}', '{"content":[1]}', '{"content":[{}]}',
    '{"content":[{"type":"text"}]}', '{"content":[{"type":"text","text":3}]}', '{"content":[],"isError":"yes"}',
    '{"content":[],"structuredContent":[1]}', '{"content":[],"structuredContent":1e400}', '{"content":[{"type":"resource"}]}',
    '{"content":[{"type":"image","data":"\\ud800","mimeType":"x"}]}', '{"resultType":"input_required"}', '{"ttlMs":-5}',
    '{"_meta":3}', '{"content":[],"_meta":{"a":' + "[" * 300 + "]" * 300 + "}}",
]  # fmt: skip
FRAMES = [
    '{"jsonrpc":"2.0","id":ID,"result":%s}',
    '{"jsonrpc":"2.0","id":ID,"error":%s}',
    '{"jsonrpc":"2.0","id":ID,"error":{"code":%s,"message":"x"}}',
    '{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":%s}}',
    '{"jsonrpc":"2.0","id":%s,"result":{}}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":%s}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":ID,"progress":%s,"total":%s}}',
    '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":%s}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}',
    '{"jsonrpc":"2.0","method":"notifications/message","params":%s}',
    '{"jsonrpc":"2.0","id":%s,"method":"roots/list"}',
    '{"jsonrpc":"2.0","id":"ID","method":"sampling/createMessage","params":%s}',
    '{"jsonrpc":"2.0","id":ID,"method":"elicitation/create","params":%s}',
    '{"jsonrpc":"1.0","id":ID,"result":%s}',
]


def line_of(seed):
    chance = random.Random(f"7 {seed}")
    line = GOOD if seed % 10 == 0 else chance.choice(FRAMES).replace("%s", chance.choice(ODD))
    for _ in range(chance.choice((0, 0, 1, 3))):
        at = chance.randrange(len(line))
        odd = chance.choice(['"', "\\", "{", "]", "9", "\x00", "é", ""])
        line = line[:at] + odd + line[at + chance.choice((0, 1)) :]
    return line.replace("\n", " ")


@pytest.mark.campaign("answers of MCP servers that are damaged", "R19", of="answers")
async def test_no_answer_does_more_than_fail_the_call(place, trials):
    await place.approved("raw", "echo")
    answered = 0
    for seed in trials(400):
        line = line_of(seed)
        if trials.tried % NONSENSE == 0:
            await place.toolset.close()  # so much nonsense would end the connection
        outcome = await place.call("raw", line=line)
        assert outcome.failure is None or outcome.failure.kind in KINDS, line
        answered += outcome.failure is None
        json.dumps(outcome.output)
    assert answered > 0 or not trials.suffice
    assert (await place.call("echo", text="x")).output == "x"


async def test_many_lines_of_nonsense_end_the_connection(place):
    await place.approved("much_nonsense")
    failure = (await place.call("much_nonsense")).failure
    assert failure.kind == "in_doubt"
    assert "more than 100 lines that are no messages" in failure.message

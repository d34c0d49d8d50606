"""Runs inside: gives code its inputs, and its result to those outside.

It stands alone: it is started by its path. The code comes as JSON on the standard input, which it then finds empty.
"""

import json
import os
import runpy
import sys
import traceback
from pathlib import Path
from types import TracebackType


def main(result: int) -> None:
    """Run the code as a program of its own, and write down what it calls `result`."""
    told = json.load(sys.stdin)
    os.set_inheritable(result, False)  # noqa: FBT003  the name says it
    program = Path(os.environ["TMPDIR"]) / "code.py"
    program.write_text(told["code"], encoding="utf-8")
    sys.argv = [str(program)]
    try:
        found = runpy.run_path(str(program), {"inputs": told["inputs"]}, "__main__").get("result")
    except Exception as error:  # noqa: BLE001  whatever the code does
        traceback.print_exception(error.with_traceback(_own_part(error, str(program))))
        sys.exit(1)
    if found is not None:
        _give(result, found)


def _own_part(error: BaseException, program: str) -> TracebackType | None:
    """Where the code itself went wrong, without the way there."""
    found = error.__traceback__
    while found is not None and found.tb_frame.f_code.co_filename != program:
        found = found.tb_next
    return found


def _give(result: int, value: object) -> None:
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        sys.exit(f"result is not JSON: {error}")
    with os.fdopen(result, "w", encoding="utf-8") as out:
        out.write(text)


if __name__ == "__main__":
    main(int(sys.argv[1]))

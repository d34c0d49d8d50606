"""The front door: open a journal, start runs, and talk to them. The only place where the parts meet."""

from perdure.engine.engine import Engine as Engine
from perdure.engine.engine import run_sync as run_sync
from perdure.engine.handle import RunHandle as RunHandle
from perdure.engine.history import Visit as Visit
from perdure.engine.history import history as history
from perdure.engine.history import visit_of as visit_of
from perdure.engine.result import Result as Result
from perdure.engine.result import StepResult as StepResult
from perdure.engine.viewing import View as View

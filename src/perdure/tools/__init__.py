"""Tools: what a step can have done, as Python functions.

`@tool` makes a function a tool, `ToolPerformer` does what tool steps ask for, `toolbox_of` tells the checks of a plan
what there is, and `BUILTIN` has enough to try plans without any Python.
"""

from perdure.core.deeds import Deed as Deed
from perdure.tools.box import load_tools as load_tools
from perdure.tools.box import toolbox_of as toolbox_of
from perdure.tools.builtin import BUILTIN as BUILTIN
from perdure.tools.context import Context as Context
from perdure.tools.declaring import Happened as Happened
from perdure.tools.declaring import NotHappened as NotHappened
from perdure.tools.failure import ToolFailure as ToolFailure
from perdure.tools.performing import ToolPerformer as ToolPerformer
from perdure.tools.tool import AnyTool as AnyTool
from perdure.tools.tool import Tool as Tool
from perdure.tools.tool import tool as tool

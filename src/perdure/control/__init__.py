"""The control socket: how other processes talk to the one that writes a journal.

The owner listens with `serve` at `socket_of(journal)`; anybody else of the same user asks with `ask`. A request is one
line of JSON and so is its answer. What the requests mean is not known here.
"""

from perdure.control.address import socket_of as socket_of
from perdure.control.client import ask as ask
from perdure.control.errors import CannotListen as CannotListen
from perdure.control.errors import ControlError as ControlError
from perdure.control.errors import Garbled as Garbled
from perdure.control.errors import NameTooLong as NameTooLong
from perdure.control.errors import NoAnswer as NoAnswer
from perdure.control.errors import NoOwner as NoOwner
from perdure.control.errors import OtherVersion as OtherVersion
from perdure.control.errors import OwnerRefused as OwnerRefused
from perdure.control.errors import Stranger as Stranger
from perdure.control.errors import TooLong as TooLong
from perdure.control.server import Handle as Handle
from perdure.control.server import Limits as Limits
from perdure.control.server import Request as Request
from perdure.control.server import serve as serve

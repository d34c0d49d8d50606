"""A journal that is elsewhere: it is read over HTTP, and messages to its owner go the same way."""

from perdure.remote.journal import RemoteJournal as RemoteJournal
from perdure.remote.line import Line as Line
from perdure.remote.messages import tell as tell
from perdure.remote.messages import who as who

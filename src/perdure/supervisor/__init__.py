"""The supervisor: a small process beside an engine, which ends it when it cannot end itself.

An event loop that a tool blocks hears neither a clock nor a person. So whoever has to be obeyed in any case stands
outside: the kill switch, the wall clock, and the limit of memory. It records nothing. What was under way is found in
the journal by whoever opens it next.
"""

from perdure.supervisor.flag import flag_of as flag_of
from perdure.supervisor.flag import raised as raised
from perdure.supervisor.supervisor import Supervisor as Supervisor

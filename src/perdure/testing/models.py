"""Models for tests: `ScriptedModel` plays by a script, costs nothing, needs no key, and says the same every time.

It stands in `perdure.models`, because a script can also be tried from the command line, as `script:answers.yaml`.
"""

from perdure.models.scripted import ScriptedModel, calls, calls_all, news_in

__all__ = ["ScriptedModel", "calls", "calls_all", "news_in"]

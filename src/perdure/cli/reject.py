"""`perdure reject`: say no to a question of a run."""

from perdure.cli.saying import saying

reject = saying(yes=False)

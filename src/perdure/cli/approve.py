"""`perdure approve`: say yes to a question of a run."""

from perdure.cli.saying import saying

approve = saying(yes=True)

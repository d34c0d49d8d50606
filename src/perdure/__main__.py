"""`python -m perdure` is `perdure`."""

from perdure.cli import main

main()

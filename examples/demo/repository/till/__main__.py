"""Lets `python3 -m till` start the order desk."""

import sys

from till.cli import main

sys.exit(main(sys.argv[1:]))

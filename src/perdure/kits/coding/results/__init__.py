"""Test results: what a run of tests has left, read into one report; two runs, and before and after.

All of it is pure. Where a JUnit file is there it is believed first, then what pytest or unittest have said, then the
exit code; a command that ends with a code other than 0 never counts as well.
"""

from perdure.kits.coding.results.comparing import Comparison as Comparison
from perdure.kits.coding.results.comparing import compare as compare
from perdure.kits.coding.results.found import Ran as Ran
from perdure.kits.coding.results.report import Failing as Failing
from perdure.kits.coding.results.report import Report as Report
from perdure.kits.coding.results.rerun import broken as broken
from perdure.kits.coding.results.rerun import report_of as report_of

"""S7: data never becomes code. What does so is not in the source at all; names that decide are known one by one."""

import re
from pathlib import Path

import pytest
from code_from_data import BY_NAME, found_in

SOURCE = Path(__file__).parents[1] / "src"
FILES = sorted(SOURCE.rglob("*.py"))
TABLE = "the name is one of a table that stands in the source"
WORDS = "the user's own words on the command line, or an installed package: whoever says them may run anything"
PARENT = "a process of its own imports the tool that its parent had loaded, by the address the parent gives"
CAGED = "it is `python.run` itself, inside the sandbox"

BY_A_NAME = {
    ("perdure/__init__.py", "__getattr__", "getattr"): TABLE,
    ("perdure/__init__.py", "__getattr__", "import_module"): TABLE,
    ("perdure/agents/__init__.py", "__getattr__", "getattr"): TABLE,
    ("perdure/agents/__init__.py", "__getattr__", "import_module"): TABLE,
    ("perdure/agents/cheapest.py", "_declared", "getattr"): TABLE,
    ("perdure/agents/contracts/drafting.py", "draft", "getattr"): TABLE,
    ("perdure/agents/feasibility.py", "_beside", "getattr"): TABLE,
    ("perdure/agents/feasibility.py", "_budgets", "getattr"): TABLE,
    ("perdure/agents/feasibility.py", "_planners", "getattr"): TABLE,
    ("perdure/agents/strategies/judging.py", "Judge._one", "getattr"): TABLE,
    ("perdure/cli/__init__.py", "LazyGroup.get_command", "getattr"): TABLE,
    ("perdure/cli/__init__.py", "LazyGroup.get_command", "import_module"): TABLE,
    ("perdure/cli/__init__.py", "_mend_streams", "getattr"): TABLE,
    ("perdure/cli/__init__.py", "_mend_streams", "setattr"): TABLE,
    ("perdure/cli/agents.py", "_amounts", "getattr"): TABLE,
    ("perdure/cli/agents.py", "_lines", "getattr"): TABLE,
    ("perdure/cli/policy.py", "_rows", "getattr"): TABLE,
    ("perdure/core/conversing.py", "asked_of_model", "getattr"): TABLE,
    ("perdure/core/ledger.py", "Ledger.limit", "getattr"): TABLE,
    ("perdure/core/lending.py", "called_by", "getattr"): TABLE,
    ("perdure/core/names.py", "Names.after", "getattr"): TABLE,
    ("perdure/core/names.py", "flaw_in", "getattr"): TABLE,
    ("perdure/core/outline.py", "_estimate_of", "getattr"): TABLE,
    ("perdure/core/policy.py", "_verdict", "getattr"): TABLE,
    ("perdure/core/seeing.py", "bare_call", "getattr"): TABLE,
    ("perdure/core/staying.py", "limits_of", "getattr"): TABLE,
    ("perdure/core/widening.py", "_limited", "getattr"): TABLE,
    ("perdure/core/widening.py", "_more", "getattr"): TABLE,
    ("perdure/documents/artifacts.py", "_named", "getattr"): TABLE,
    ("perdure/documents/memories.py", "_memory", "getattr"): TABLE,
    ("perdure/documents/progress.py", "progress_document", "getattr"): TABLE,
    ("perdure/engine/memory.py", "Recollection.remember", "getattr"): TABLE,
    ("perdure/engine/rehearsing.py", "Walk._count", "getattr"): TABLE,
    ("perdure/engine/requests.py", "_about_run.about_run", "getattr"): TABLE,
    ("perdure/engine/upgrading.py", "Here._kinds_of", "getattr"): TABLE,
    ("perdure/engine/upgrading.py", "Here._refuse_unknown", "getattr"): TABLE,
    ("perdure/estimates/capacity.py", "allowances", "getattr"): TABLE,
    ("perdure/journal/parcel.py", "header", "getattr"): TABLE,
    ("perdure/kits/coding/report.py", "report", "getattr"): TABLE,
    ("perdure/observing/spans.py", "_attempt", "getattr"): TABLE,
    ("perdure/plan/__init__.py", "__getattr__", "getattr"): TABLE,
    ("perdure/plan/__init__.py", "__getattr__", "import_module"): TABLE,
    ("perdure/plan/checks/adjusting.py", "_named", "getattr"): TABLE,
    ("perdure/plan/checks/contracts.py", "_amounts", "getattr"): TABLE,
    ("perdure/plan/checks/delegating.py", "check_delegation", "getattr"): TABLE,
    ("perdure/plan/checks/policy.py", "_lists", "getattr"): TABLE,
    ("perdure/plan/checks/ways.py", "_check_offers", "getattr"): TABLE,
    ("perdure/plan/grafting.py", "_kept", "getattr"): TABLE,
    ("perdure/plan/measures.py", "_declared", "getattr"): TABLE,
    ("perdure/plan/measures.py", "_leaf", "getattr"): TABLE,
    ("perdure/plan/reading/labels.py", "record_of", "getattr"): TABLE,
    ("perdure/remote/journal.py", "RemoteJournal.runs", "getattr"): TABLE,
    ("perdure/server/callers.py", "caller_of", "getattr"): TABLE,
    ("perdure/server/here.py", "_new_run", "getattr"): TABLE,
    ("perdure/tools/box.py", "_imported", "import_module"): WORDS,
    ("perdure/tools/box.py", "load_tools", "getattr"): WORDS,
    ("perdure/tools/builtin/__init__.py", "__getattr__", "getattr"): TABLE,
    ("perdure/tools/builtin/__init__.py", "__getattr__", "import_module"): TABLE,
    ("perdure/tools/builtin/memory.py", "_shown", "getattr"): TABLE,
    ("perdure/tools/child.py", "_tool_at", "getattr"): PARENT,
    ("perdure/tools/child.py", "_tool_at", "import_module"): PARENT,
    ("perdure/tools/describing.py", "_reached", "getattr"): TABLE,
    ("perdure/tools/offers.py", "Offer.load", "EntryPoint"): WORDS,
    ("perdure/tools/rules.py", "_flaws", "getattr"): TABLE,
    ("perdure/tools/sandbox/landlock.py", "_limit", "getattr"): TABLE,
    ("perdure/tools/sandbox/overlay.py", "_call", "getattr"): TABLE,
    ("perdure/tools/sandbox/starter.py", "main", "run_path"): CAGED,
    ("perdure/tools/signs.py", "_at", "getattr"): TABLE,
    ("perdure/tools/vetting.py", "_flaws", "getattr"): TABLE,
}
"""Where a name that is not written there decides what is imported or called, and why no plan and no journal says it."""


def places():
    for path in FILES:
        for found in found_in(path.read_text(encoding="utf-8")):
            yield str(path.relative_to(SOURCE)), found


def test_s7_nothing_in_the_source_makes_code_of_data():
    """There is no list of exceptions."""
    assert [(file, found) for file, found in places() if found.rule not in BY_NAME] == []


def test_s7_names_that_decide_are_known_and_none_of_them_comes_from_data():
    seen = {(file, found.where, found.rule) for file, found in places() if found.rule in BY_NAME}
    assert sorted(seen - BY_A_NAME.keys()) == []
    assert sorted(BY_A_NAME.keys() - seen) == [], "a reason for what is not there any more"


def test_s7_no_line_is_let_off_the_rules_of_the_linter():
    rules = re.compile(r"noqa:.*\bS(?:102|202|30[12]|307|506|60[1245]|70[12])\b")
    assert [str(path) for path in FILES if rules.search(path.read_text(encoding="utf-8"))] == []


HARMFUL = {
    "eval": "eval(given)", "exec": "exec(given)", "compile": "f = compile", "__import__": "__import__(given)",
    "builtins.eval": "import builtins\nbuiltins.eval(given)", "builtins.exec": "from builtins import exec as run",
    "pickle": "import pickle", "dill": "from dill import loads", "marshal": "import marshal as m", "shelve": "import shelve",
    "jinja2": "from jinja2.sandbox import SandboxedEnvironment", "mako": "import mako.template", "code": "import code",
    "string.Template": "from string import Template", "string.Formatter": "import string\nstring.Formatter()",
    "yaml.load": "import yaml\nyaml.load(given, Loader=yaml.SafeLoader)", "yaml.unsafe_load": "import yaml as y\ny.unsafe_load(given)",
    "yaml.FullLoader": "from yaml import FullLoader", "format": "given.format(1)", "format_map": "'{a}'.format_map(given)",
    "shell=True": "run(given, shell=True)", "os.system": "import os\nos.system(given)", "os.popen": "from os import popen",
    "subprocess.getoutput": "import subprocess as s\ns.getoutput(given)", "types.CodeType": "import types\ntypes.CodeType()",
    "asyncio.create_subprocess_shell": "import asyncio\nasyncio.create_subprocess_shell(given)",
    "extractall": "tarfile.open(given).extractall()", "shutil.unpack_archive": "import shutil\nshutil.unpack_archive(given)",
    "import_module": "import_module(given)", "getattr": "getattr(thing, given)()", "setattr": "setattr(thing, given, 1)",
    "run_path": "runpy.run_path(given)", "attrgetter": "attrgetter(given)", "__reduce__": "class A:\n def __reduce__(self): ...",
    "EntryPoint": "EntryPoint('a', given, 'b').load()", "operator.methodcaller": "from operator import methodcaller",
}  # fmt: skip


@pytest.mark.parametrize("rule", HARMFUL)
def test_each_form_is_found(rule):
    assert rule in {found.rule for found in found_in(HARMFUL[rule])}


def test_a_shell_that_is_decided_elsewhere_is_found():
    assert [found.rule for found in found_in("def f(a):\n run(a, shell=a)")] == ["shell=True"]


@pytest.mark.parametrize(
    "text",
    [
        "import re\nre.compile('a')", "program.eval(data={})", "'{}'.format(1)", "A = '{}'\nA.format(1)", "getattr(a, 'b', None)",
        "import_module('perdure.cli')", "import yaml\nyaml.parse(given, Loader=yaml.SafeLoader)", "run(given, shell=False)",
        "source.format == 'json'", "import os\nos.environ", "journal.load(run)", "def evaluate(): ...",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_is_let_be(text):
    assert found_in(text) == []

"""Repositories that want a program run, by hooks, settings or attributes. Each program leaves a mark of its name."""

import shlex

from git_shop import git
from traps import arm_hooks

from repositories.project import beside, commit, mark_of, project, trap, write

SETTINGS = {
    "core.fsmonitor": "{}", "core.sshCommand": "{}", "core.editor": "{}", "core.pager": "{}", "core.askPass": "{}",
    "core.gitProxy": "{}", "sequence.editor": "{}", "credential.helper": "!{}", "diff.external": "{}", "gpg.program": "{}",
    "alias.st": "!{}",
}  # fmt: skip
"""Settings with a program in them, and how they name it."""
ATTRIBUTES = {
    "filter.evil.clean": "{}", "filter.evil.smudge": "{}", "diff.evil.textconv": "{}", "merge.evil.driver": "{} %O %A %B",
}  # fmt: skip
"""Those that files ask for, by `.gitattributes`."""


def hooks(path):
    """Every hook of the user's side is there and waits."""
    arm_hooks(project(path) / ".git/hooks", lambda name: mark_of(path, name))
    return path


def hooks_path(path):
    """The hooks are files of the repository, and `core.hooksPath` leads to them."""
    project(path)
    arm_hooks(path / "tools", lambda name: mark_of(path, name))
    commit(path, "Add tools")
    git(path, "config", "core.hooksPath", "tools")
    return path


def settings(path):
    """`.git/config` has a program for everything; commits are signed by one, and the remote is reached by one."""
    project(path)
    _set(path, SETTINGS)
    git(path, "config", "commit.gpgSign", "true")
    git(path, "config", "remote.origin.url", "ssh://nobody.invalid/calc.git")
    return path


def included_settings(path):
    """`.git/config` reads a file of the repository, and that one names a program."""
    project(path)
    commit(path, "Share settings", {"shared.cfg": f"[core]\n\tfsmonitor = {_quoted(path, 'core.fsmonitor')}\n"})
    git(path, "config", "include.path", "../shared.cfg")
    return path


def filters(path):
    """All files go through programs: on their way in and out, to be shown and to be merged."""
    project(path)
    commit(path, "Add attributes", {".gitattributes": "* filter=evil diff=evil merge=evil\n"})
    _set(path, ATTRIBUTES)
    git(path, "config", "filter.evil.required", "true")
    return path


def private_filters(path):
    """The same by `.git/info/attributes`: nothing of it is in a commit."""
    project(path)
    write(path, {".git/info/attributes": "* filter=evil diff=evil merge=evil\n"})
    _set(path, ATTRIBUTES)
    return path


def reaching_tests(path):
    """The project's own tests try to leave marks, in the repository's settings too; some commands must not be trusted."""
    project(path)
    mark = str(mark_of(path, "tests"))
    text = (
        "import pathlib\nimport unittest\n\n\nclass Reach(unittest.TestCase):\n    def test_reach(self):\n"
        f"        for place in ({mark!r}, {str(path / '.git/hooks/post-commit')!r}, {str(beside(path, 'new'))!r}):\n"
        "            try:\n                pathlib.Path(place).parent.mkdir(exist_ok=True)\n"
        "                pathlib.Path(place).write_text('')\n"
        "            except OSError:\n                pass\n"
    )
    commit(path, "Test more", {"test_reach.py": text})
    return path


def all_at_once(path):
    """Hooks, settings and filters together."""
    filters(path)
    arm_hooks(path / ".git/hooks", lambda name: mark_of(path, name))
    _set(path, SETTINGS)
    return path


def _set(path, rows):
    for key, form in rows.items():
        git(path, "config", key, form.format(_quoted(path, key)))


def _quoted(path, name):
    return shlex.quote(str(trap(path, name)))


BUILDERS = {
    build.__name__: build
    for build in (
        hooks, hooks_path, settings, included_settings, filters, private_filters, reaching_tests, all_at_once,
    )
}  # fmt: skip

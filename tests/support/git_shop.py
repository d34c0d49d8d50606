"""A real repository with history, and hands to work on it."""

import asyncio
import itertools
import os
import subprocess
from pathlib import Path

from snapshots import look

from perdure.core.calls import Call
from perdure.ports import Attempt
from perdure.tools import ToolPerformer
from perdure.tools.builtin import HANDS
from perdure.tools.hands import Hands

PLAIN = {
    "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com", "LC_ALL": "C.UTF-8", "TZ": "UTC",
    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
}  # fmt: skip
NUMBERS = itertools.count(1)


def git(place, *words, given=None, check=True, strip=True):
    """The user's own git, in the user's own repository."""
    done = subprocess.run(
        ["/usr/bin/git", *words], cwd=place, env=PLAIN, input=given or b"", capture_output=True, check=False, timeout=60
    )
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(words)}: {done.stderr.decode()}")
    said = done.stdout.decode("utf-8", "surrogateescape")
    return said.strip() if strip else said


def history(place):
    """A repository with a few commits, a branch, a tag, ignored and untracked files, something staged, a stash."""
    place.mkdir(parents=True, exist_ok=True)
    git(place, "init", "-q", "-b", "main")
    (place / "src").mkdir()
    for name, text in {
        "README.md": "# shop\n",
        "src/a.py": "a = 1\n",
        "src/b.py": "b = 1\n",
        ".gitignore": "*.log\n",
    }.items():
        (place / name).write_text(text)
    git(place, "add", ".")
    git(place, "commit", "-qm", "Begin")
    (place / "src/a.py").write_text("a = 2\n")
    git(place, "commit", "-qam", "Change a")
    git(place, "branch", "older", "HEAD~1")
    git(place, "tag", "v1", "HEAD~1")
    (place / "src/b.py").write_text("b = 'stashed'\n")
    git(place, "stash", "-q")
    return place


class Shop:
    """A workspace with a repository, the engine's state beside it, and a performer."""

    def __init__(self, root, tier="none"):
        self.root = history(root / "shop")
        self.state = root / "state"
        self.state.mkdir(mode=0o700, exist_ok=True)
        self.performer = self.performer_for(self.root, self.state, tier)
        self.run = "r_1"

    @staticmethod
    def performer_for(root, state, tier="none"):
        return ToolPerformer(HANDS, hands=Hands(root, state, tier))

    def attempt(self, name, key=None, **more):
        arguments = more.pop("arguments", {})
        return Attempt(self.run, "step", 1, 1, key or f"key-{next(NUMBERS)}", Call("tool", name, arguments), **more)

    def outcome(self, name, /, key=None, layers=(), approved=frozenset(), **arguments):
        made = self.attempt(name, key, arguments=arguments, layers=layers, approved=approved)
        return asyncio.run(self.performer.perform(made))

    def do(self, name, /, key=None, **arguments):
        """What a call gives; it must not fail."""
        outcome = self.outcome(name, key, **arguments)
        assert outcome.failure is None, outcome.failure
        assert outcome.approval is None, outcome.approval
        return outcome.output

    def fail(self, name, /, key=None, **arguments):
        """How a call fails; it must."""
        outcome = self.outcome(name, key, **arguments)
        assert outcome.failure is not None, outcome
        return outcome.failure

    def inside(self, name, /, *groups, key=None, **arguments):
        """What comes of a call in groups that are contained, one in the other."""
        made = self.attempt(name, key, arguments=arguments, contained=groups or ("work",))
        return asyncio.run(self.performer.perform(made))

    def open(self, *groups, **arguments):
        """What opening a branch gives; it must not fail."""
        outcome = self.inside("branch.open", *groups, **arguments)
        assert outcome.failure is None, outcome.failure
        return outcome.output

    def copy(self, branch):
        """Where a branch has its files."""
        return self.state / "branches" / branch / "workspace"

    def agreed(self, name, /, key=None, **arguments):
        """What comes of a call when a person says yes to the push it asks about; to nothing else."""
        key = key or f"key-{next(NUMBERS)}"
        asked = self.outcome(name, key, **arguments)
        if asked.approval is None or "leaves this repository" not in asked.approval.text:
            return asked
        return self.outcome(name, key, approved=frozenset({asked.approval.digest}), **arguments)

    def undo(self, name, output, /, key="other", approved=frozenset(), **arguments):
        made = self.attempt(name, key, arguments=arguments, by="undo", deed="undo", output=output, approved=approved)
        return asyncio.run(self.performer.perform(made))

    def git(self, *words, **more):
        return git(self.root, *words, **more)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def refs(self):
        return self.git("for-each-ref", "--format=%(refname) %(objectname)")

    def theirs(self):
        """All that is the user's: refs, HEAD, index, stash, files."""
        return {
            "refs": self.refs(),
            "head": (self.root / ".git/HEAD").read_bytes(),
            "index": (self.root / ".git/index").read_bytes(),
            "stash": self.git("stash", "list"),
            "files": files_of(self.root),
            "status": self.git("--no-optional-locks", "status", "--porcelain", "--ignored"),
            "config": (self.root / ".git/config").read_bytes(),
        }


def files_of(root):
    found = {}
    for place, folders, names in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        for name in names:
            path = Path(place, name)
            found[str(path.relative_to(root))] = look(path)
    return found

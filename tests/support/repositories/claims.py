"""What is claimed of repositories, and how one looks at them without changing anything."""

from git_shop import git
from snapshots import difference, snapshot

from repositories.project import marks


class Claims:
    """For each repository a check, of the same name, that it has what its builder says."""

    def __init__(self, builders):
        self.builders, self._checks = builders, {}

    def __call__(self, check):
        self._checks[check.__name__] = check
        return check

    def hold(self, name, root, *, changes=False):
        """It is what it says, nothing has run while it was made, and looking at it has not changed it."""
        build = self.builders[name]
        place = build(root / "project")
        assert build.__doc__
        assert marks(root / "project") == set()
        before = snapshot(root)
        assert self._checks[name](place), f"{name}: {build.__doc__}"
        assert changes or difference(before, snapshot(root)) == {}


def tracked(place):
    """The names that git knows."""
    return set(git(place, "ls-files", "-z", strip=False).split("\0")[:-1])


def status(place):
    """What git says is new and changed, line by line."""
    return git(place, "--no-optional-locks", "status", "--porcelain", strip=False).splitlines()


def head(place):
    """The branch that HEAD is on; nothing if it is on none."""
    return git(place, "symbolic-ref", "-q", "HEAD", check=False)


def top(place):
    """Where git sees the repository's tree begin; nothing if there is none."""
    return git(place, "rev-parse", "--show-toplevel", check=False)

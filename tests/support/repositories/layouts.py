"""Repositories that are not where one looks for them, and directories that are none."""

from git_shop import git
from traps import arm_hooks

from repositories.project import FILES, beside, commit, mark_of, project, write

ALLOWED = ("-c", "protocol.file.allow=always")
"""For the builders alone: git takes no submodule from the disk."""


def plain(path):
    """Nothing is odd."""
    return project(path)


def submodule(path):
    """Another repository is a part of it, at a commit of its own."""
    other = project(beside(path, "library"))
    git(project(path), *ALLOWED, "submodule", "--quiet", "add", str(other), "vendor/library")
    commit(path, "Add a library")
    return path


def missing_submodule(path):
    """The same as it is cloned: the part is named, and its directory is empty."""
    origin = submodule(beside(path, "origin"))
    git(path.parent, "clone", "-q", str(origin), path.name)
    return path


def nested(path):
    """A repository that git does not know lies in the tree, with hooks of its own that wait."""
    inner = project(project(path) / "nested")
    arm_hooks(inner / ".git/hooks", lambda name: mark_of(path, name))
    return path


def bare(path):
    """Only git's own files, no tree."""
    git(path.parent, "clone", "-q", "--bare", str(project(beside(path, "origin"))), path.name)
    return path


def linked_worktree(path):
    """A second tree of a repository that lies elsewhere; `.git` is a file."""
    git(project(beside(path, "main")), "worktree", "add", "-q", "-b", "side", str(path))
    return path


def shallow(path):
    """A clone with the last commit alone."""
    origin = project(beside(path, "origin"))
    git(path.parent, *ALLOWED, "clone", "-q", "--depth=1", f"file://{origin}", path.name)
    return path


def borrowing(path):
    """A clone that has no objects of its own and borrows them from another repository."""
    git(path.parent, "clone", "-q", "--shared", str(project(beside(path, "origin"))), path.name)
    return path


def sparse(path):
    """Only a part of the files is checked out."""
    commit(project(path), "Add docs", {"docs/guide.md": "# guide\n", "src/a.py": "a = 1\n"})
    git(path, "sparse-checkout", "set", "src")
    return path


def inner_directory(path):
    """Where it is started is a directory inside a repository."""
    commit(project(path), "Add a part", {f"part/{name}": FILES[name] for name in ("calc.py", "test_calc.py")})
    return path / "part"


def separate(path):
    """`.git` is a file and leads to a directory elsewhere (`git init --separate-git-dir`)."""
    git(project(path), "init", "-q", f"--separate-git-dir={beside(path, 'kept.git')}")
    return path


def astray(path):
    """`.git` is a file and leads to nothing."""
    return write(path, {**FILES, ".git": "gitdir: ../nowhere.git\n"})


def linked(path):
    """`.git` is a link to the one of another repository."""
    other = project(beside(path, "other"))
    write(path, FILES)
    (path / ".git").symlink_to(other / ".git")
    return path


def no_git(path):
    """The project without any git."""
    return write(path, FILES)


def empty(path):
    """A directory with nothing in it."""
    path.mkdir(parents=True)
    return path


BUILDERS = {
    build.__name__: build
    for build in (
        plain, submodule, missing_submodule, nested, bare, linked_worktree, shallow, borrowing, sparse, inner_directory,
        separate, astray, linked, no_git, empty,
    )
}  # fmt: skip

"""Repositories in whose middle somebody is at work."""

from git_shop import git

from repositories.project import commit, project, write

OURS = "def add(a, b):\n    return b + a\n"
THEIRS = "def add(a, b):\n    return sum((a, b))\n"


def staged(path):
    """Something is staged: a change, a new file, one that is gone."""
    git(write(project(path), {"calc.py": OURS, "new.py": "new = 1\n"}), "add", "calc.py", "new.py")
    git(path, "rm", "-q", "README.md")
    return path


def unstaged(path):
    """A file is changed and another is gone; nothing of it is staged."""
    write(project(path), {"calc.py": OURS})
    (path / "README.md").unlink()
    return path


def untracked(path):
    """There are files that git does not know, and some that it ignores."""
    return write(project(path), {"notes.txt": "mine\n", "drafts/one.py": "one = 1\n", "build.log": "ignored\n"})


def stashed(path):
    """Something lies in the stash, untracked files too."""
    git(untracked(path), "stash", "-q", "--include-untracked")
    return path


def dirty(path):
    """All at once: staged and changed again, unstaged, untracked, and a stash."""
    stashed(path)
    git(write(path, {"calc.py": OURS}), "add", "calc.py")
    return write(path, {"calc.py": THEIRS, "README.md": "# mine\n", "notes.txt": "mine\n"})


def intended(path):
    """A file is only announced (`git add --intent-to-add`), one is assumed unchanged, one is skipped."""
    git(write(project(path), {"soon.py": "soon = 1\n"}), "add", "--intent-to-add", "soon.py")
    git(path, "update-index", "--assume-unchanged", "calc.py")
    git(path, "update-index", "--skip-worktree", "README.md")
    return write(path, {"calc.py": OURS, "README.md": "# mine\n"})


def merging(path):
    """A merge has stopped at a conflict."""
    git(_two_sides(path), "merge", "-q", "theirs", check=False)
    return path


def rebasing(path):
    """A rebase has stopped at a conflict; HEAD is on no branch."""
    git(_two_sides(path), "rebase", "-q", "theirs", check=False)
    return path


def picking(path):
    """A cherry-pick has stopped at a conflict."""
    git(_two_sides(path), "cherry-pick", "theirs", check=False)
    return path


def bisecting(path):
    """Somebody looks for a bad commit; HEAD is on no branch."""
    commit(project(path), "Go on", {"calc.py": OURS})
    git(path, "bisect", "start", "HEAD", "HEAD~2")
    return path


def detached(path):
    """HEAD is on a commit and on no branch."""
    git(project(path), "checkout", "-q", "--detach", "HEAD~1")
    return path


def unborn(path):
    """`main` has no commit yet; its files are there, and some are staged."""
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main", "--template=")
    git(write(path, {"calc.py": OURS, "notes.txt": "mine\n"}), "add", "calc.py")
    return path


def locked(path):
    """Another git is at work, or died: there is a lock on the index, and one on the branch."""
    write(project(path), {".git/index.lock": "", ".git/refs/heads/main.lock": ""})
    return path


def broken(path):
    """An object that the branch needs is gone."""
    tree = git(project(path), "rev-parse", "HEAD^{tree}")
    (path / ".git/objects" / tree[:2] / tree[2:]).unlink()
    return path


def odd_branch(path):
    """The branch has a name that looks like a path, a number, an option."""
    git(project(path), "checkout", "-q", "-b", "feature/ü-1/@x")
    for name in ("1234567", "HEAD2", "perdure", "refs/heads/main"):
        git(path, "branch", name)
    git(path, "tag", "main")
    return path


def _two_sides(path):
    project(path)
    git(path, "checkout", "-q", "-b", "theirs")
    commit(path, "Theirs", {"calc.py": THEIRS})
    git(path, "checkout", "-q", "main")
    commit(path, "Ours", {"calc.py": OURS})
    return path


BUILDERS = {
    build.__name__: build
    for build in (
        staged, unstaged, untracked, stashed, dirty, intended, merging, rebasing, picking, bisecting, detached, unborn, locked,
        broken, odd_branch,
    )
}  # fmt: skip

"""A repository with some history whose last commit is what a change set is to bring about. git itself says what it is."""

from git_shop import git

LINES = 40
FOLDERS = ("", "src/", "src/deep/er/", "docs/", "with space/")


def history_by_lot(place, draw, files=24):
    """Start, patch and wanted: a repository as it is, what `git diff` says, and a checkout of what it leads to."""
    shop, wanted = place / "start", place / "wanted"
    shop.mkdir(parents=True)
    git(shop, "init", "-q", "-b", "main")
    names = [f"{draw.choice(FOLDERS)}f{n}" for n in range(files)]
    for name in names:
        _write(shop / name, draw)
    (shop / "link").symlink_to(names[0])
    (shop / ".gitignore").write_text("*.log\n")
    _commit(shop, "Begin")
    for name in draw.sample(names, 5):
        _edit(shop / name, draw)
    _commit(shop, "Go on")
    git(place, "clone", "-q", str(shop), str(wanted))
    _change(wanted, names, draw)
    _commit(wanted, "Wanted")
    return shop, git(wanted, "diff", "-M", "HEAD~1", "HEAD", strip=False), wanted


def _commit(shop, message):
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", message)


def _write(path, draw):
    path.parent.mkdir(parents=True, exist_ok=True)
    end = draw.choice(["\n", "\n", "\r\n"])
    text = end.join(f"{n} {draw.random()}" for n in range(draw.randrange(1, LINES)))
    path.write_bytes((text + draw.choice(["", end])).encode())
    path.chmod(draw.choice([0o644, 0o755]))


def _edit(path, draw):
    lines = path.read_bytes().split(b"\n")
    for _ in range(draw.randrange(1, 4)):
        lines[draw.randrange(len(lines))] = f"edited {draw.random()}".encode()
    path.write_bytes(b"\n".join(lines))


def _change(shop, names, draw):
    """Edits, moves, deletions, new files and modes, so that each name has one of them at most."""
    left = draw.sample(names, len(names))
    for _ in range(6):
        _edit(shop / left.pop(), draw)
    for n in range(3):
        path = shop / f"moved/{n}/to"
        path.parent.mkdir(parents=True)
        (shop / left.pop()).rename(path)
        (shop / left.pop()).unlink()
        _write(shop / f"new/{n}/file", draw)
        mode = (shop / left[-1]).stat().st_mode
        (shop / left.pop()).chmod(mode ^ 0o111)

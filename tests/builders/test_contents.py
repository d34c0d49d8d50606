"""E22: repositories with odd files in them really have those."""

import os
import stat

import pytest
from git_shop import git
from repositories import contents
from repositories.claims import Claims, status, tracked

claims = Claims(contents.BUILDERS)


@pytest.mark.parametrize("name", contents.BUILDERS)
def test_it_is_what_it_says(name, tmp_path):
    claims.hold(name, tmp_path)


@claims
def secrets(place):
    assert contents.TRACKED in git(place, "show", "HEAD:.env")
    known = git(place, "--no-optional-locks", "status", "--porcelain", "--ignored")
    assert known.splitlines() == ["?? credentials.json", "!! .env.local", "!! server.pem"]
    return all(contents.UNTRACKED in (place / name).read_text() for name in (".env.local", "credentials.json"))


@claims
def links(place):
    found = {path.name: path for path in place.iterdir() if path.is_symlink()}
    assert found.keys() <= tracked(place)
    assert contents.UNTRACKED in found["climbing"].read_text() == found["outside.txt"].read_text()
    assert found["passwd"].resolve() == (place / "/etc/passwd").resolve()
    assert not found["dangling"].exists()
    with pytest.raises(OSError, match="Too many levels"):
        found["ping"].read_text()
    return status(place) == [] and found["up"].samefile(place.parent)


@claims
def huge_files(place):
    huge = (place / "huge.img").stat()
    assert (huge.st_size, huge.st_blocks) == (contents.HUGE, 0)
    return git(place, "ls-files", "huge.img") == "" and (place / "data.bin").stat().st_size == contents.LARGE


@claims
def many_files(place):
    return len(tracked(place)) > 1000


@claims
def binary_files(place):
    shown = git(place, "diff", "--numstat", "HEAD~1", "HEAD").splitlines()
    return sum(line.startswith("-\t-\t") for line in shown) == 4


@claims
def crlf(place):
    kinds = {line.split()[-1]: line.split()[0] for line in git(place, "ls-files", "--eol").splitlines()}
    return (kinds["calc.py"], kinds["mixed.txt"], kinds["old.txt"]) == ("i/crlf", "i/mixed", "i/-text")


@claims
def autocrlf(place):
    assert git(place, "ls-files", "--eol", "calc.py").split()[:2] == ["i/lf", "w/crlf"]
    return status(place) == []


@claims
def odd_bytes(place):
    for name in ("latin.txt", "wide.txt", "coded.py", "torn.txt"):
        with pytest.raises(UnicodeDecodeError):
            (place / name).read_text(encoding="utf-8")
    return status(place) == [] and not (place / "last.txt").read_bytes().endswith(b"\n")


@claims
def odd_names(place):
    return status(place) == [] and {os.fsdecode(name) for name in contents.NAMES} < tracked(place)


@claims
def odd_modes(place):
    modes = [stat.S_IMODE((place / name).stat().st_mode) for name in ("run.sh", "fixed.txt", "closed.txt")]
    return modes == [0o755, 0o444, 0] and git(place, "ls-files", "-s", "run.sh").startswith("100755")


@claims
def no_files(place):
    return (place / "pipe").is_fifo() and (place / "socket").is_socket()


@claims
def injections(place):
    return all("Ignore your task" in (place / name).read_text() for name in ("AGENTS.md", "README.md"))

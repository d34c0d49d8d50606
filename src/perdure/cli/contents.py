"""What tests a repository, read from a commit by git; or, where git is not asked yet, from files that are no links."""

import os
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from perdure.kits.coding.detecting import LARGEST, Tests, telling, tests_in
from perdure.tools import ToolFailure
from perdure.tools.git.reading import LINK
from perdure.tools.git.repository import Repository
from perdure.tools.git.unpacking import Entry, listed

MOST: Final = 20_000
"""Files of a directory that are looked at."""


async def committed(repository: Repository, commit: str) -> tuple[Tests, frozenset[str]]:
    """What tests a commit, and the names of all its files. Of one that cannot be read nothing is told here."""
    try:
        entries = (await listed(repository, commit)).entries
        files = {each.path: each for each in entries if each.mode != LINK}
        return tests_in(files, await _texts(repository, files)), frozenset(each.path for each in entries)
    except ToolFailure:  # the work begins with a copy of it, and says why there can be none
        return Tests(), frozenset()


async def _texts(repository: Repository, files: Mapping[str, Entry]) -> dict[str, str]:
    wanted = [files[path] for path in telling(files) if files[path].size <= LARGEST]
    given = "".join(f"{each.id}\n" for each in wanted).encode()
    said = (await repository.ask("cat-file", "--batch", "--buffer", given=given)).out if wanted else b""
    return {each.path: text for each, text in zip(wanted, _blobs(said), strict=True)}


def _blobs(said: bytes) -> Iterator[str]:
    """Each one after a line that ends with its size, and before a newline."""
    while said:
        about, _, rest = said.partition(b"\n")
        size = int(about.rpartition(b" ")[2])
        yield rest[:size].decode("utf-8", "replace")
        said = rest[size + 1 :]


def lying(root: Path) -> Tests:
    """What tests a directory. No link is followed."""
    paths = frozenset(islice(_walked(root), MOST))
    return tests_in(paths, _read(root, telling(paths)))


def _walked(root: Path) -> Iterator[str]:
    for place, directories, names in os.walk(root):
        directories[:] = [each for each in directories if not each.startswith(".") and not _is_made(Path(place, each))]
        yield from (Path(place, each).relative_to(root).as_posix() for each in names)


def _is_made(directory: Path) -> bool:
    """Whether programs put what is in it there: an environment of Python, packages of node."""
    return directory.name == "node_modules" or os.path.isfile(directory / "pyvenv.cfg")  # noqa: PTH113  no error if it is closed


def _read(root: Path, paths: Collection[str]) -> dict[str, str]:
    read = ((path, _start_of(root / path)) for path in paths)
    return {path: said.decode("utf-8", "replace") for path, said in read if said is not None}


def _start_of(file: Path) -> bytes | None:
    """None if it is no file, or none of the user's."""
    if file.is_symlink() or not file.is_file():
        return None
    try:
        with file.open("rb") as read:
            return read.read(LARGEST)
    except OSError:
        return None

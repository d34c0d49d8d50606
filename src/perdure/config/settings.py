"""What can be set, and what can be wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from perdure.errors import PerdureError

if TYPE_CHECKING:
    from perdure.tools.rules import Rule

PROJECT_STATE: Final = ".perdure"
"""A directory of the project that holds its journal."""
JOURNAL: Final = "runs.db"
TOOLS: Final = "limits.tools"
ONE_TOOL: Final = f"{TOOLS}.TOOL"
FAILURES: Final = "failures"
"""The table of rules on failures, which only the user has."""
PLANNING: Final = "agent_planning"
TRACES: Final = "traces.endpoint"
LOG: Final = "log.to"
MODELS: Final = "models"
PROVIDERS: Final = "providers"
PROVIDER_WORDS: Final = ("url", "key")
SERVER: Final = "server"
PRICES: Final = "prices"
PRICE_WORDS: Final = ("in", "out")
LARGEST_NUMBER: Final = 1_000_000

Value = bool | int | float | str | Path


class ConfigError(PerdureError):
    """The settings cannot be used."""

    exit_code: int = 6


class SettingsFileError(ConfigError):
    """A file of settings cannot be read."""

    code: ClassVar[str] = "PRD1701"


class UnknownSettingError(ConfigError):
    """There is no such setting."""

    code: ClassVar[str] = "PRD1702"


class SettingValueError(ConfigError):
    """The value does not fit the setting."""

    code: ClassVar[str] = "PRD1703"


class ProjectSettingError(ConfigError):
    """A project file says something that is not for it to say."""

    code: ClassVar[str] = "PRD1704"


class PolicyPlaceError(ConfigError):
    """Others than the user could have written the user's policy."""

    code: ClassVar[str] = "PRD1705"


class PolicyFileError(ConfigError):
    """The user's policy says something that cannot be understood."""

    code: ClassVar[str] = "PRD1706"


class FailureRuleError(ConfigError):
    """A rule on failures cannot be meant."""

    code: ClassVar[str] = "PRD1707"


@dataclass(frozen=True, slots=True)
class Limits:
    """Most attempts at once."""

    run: int
    total: int
    memory: int
    """Megabytes; 0: as many as there are."""
    tools: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Retention:
    """How long runs that are over are kept."""

    days: int
    keep: int


@dataclass(frozen=True, slots=True)
class Heads:
    """Which models may be asked."""

    tiers: Mapping[str, str] = field(default_factory=dict[str, str])
    """`provider:model` by tier."""
    providers: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """Where providers are, the variables that their keys are in, and what their models cost."""
    named: frozenset[str] = frozenset()
    """Providers of models that the user has set; what a project sets names none."""


@dataclass(frozen=True, slots=True)
class Server:
    """The server that has the journal, where it is elsewhere."""

    url: str = ""
    """Empty: the journal is here."""
    key: Path = Path()
    """The file of the key, if the environment has none."""
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Telling:
    """Who is told what runs do, besides whoever looks at the journal."""

    traces: str = ""
    """Where a collector of OpenTelemetry is; empty: where the variables of the environment say, if they do."""
    log: str = ""
    """`stderr`, or the file that lines are added to; empty: none."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set."""

    db: Path
    limits: Limits
    retention: Retention
    network_disk: bool
    agent_planning: bool = False
    failures: "tuple[Rule, ...]" = ()
    """What kind of failure is what, where the user says so."""
    heads: Heads = field(default_factory=Heads)
    server: Server = field(default_factory=Server)
    telling: Telling = field(default_factory=Telling)

    def flat(self) -> dict[str, Value]:
        """Every setting by its full name."""
        tools = {f"{TOOLS}.{tool}": most for tool, most in self.limits.tools.items()}
        tiers = {f"{MODELS}.{tier}": model for tier, model in self.heads.tiers.items()}
        places = {
            f"{PROVIDERS}.{name}.{word}": text
            for name, words in self.heads.providers.items()
            for word, text in words.items()
        }
        return {
            "db": self.db,
            "limits.run": self.limits.run,
            "limits.total": self.limits.total,
            "limits.memory": self.limits.memory,
            **tools,
            "retention.days": self.retention.days,
            "retention.keep": self.retention.keep,
            "network_disk": self.network_disk,
            "agent_planning": self.agent_planning,
            **{name: text for name, text in {TRACES: self.telling.traces, LOG: self.telling.log}.items() if text},
            **tiers,
            **places,
            **({f"{SERVER}.url": self.server.url} if self.server.url else {}),
            f"{SERVER}.key": self.server.key,
            f"{SERVER}.plain": self.server.plain,
        }


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that can be set."""

    name: str
    kind: Literal["path", "number", "switch", "model", "text", "price"]
    default: str
    """As it would be written; for a path, in words."""
    meaning: str
    least: int = 0
    user_only: bool = False
    """A project file cannot set it."""

    @property
    def takes(self) -> str:
        """What may be written."""
        numbers = f"a whole number from {self.least} to {LARGEST_NUMBER:,}"
        others = {
            "path": "a path",
            "switch": "true or false",
            "model": "`provider:model` or `script:FILE`",
            "text": "a text",
            "price": "US dollars for a million tokens",
        }
        return others.get(self.kind, numbers)


SETTINGS: Final = (
    Setting(
        "db",
        "path",
        f"`{PROJECT_STATE}/{JOURNAL}` in a project with that directory, else `$XDG_STATE_HOME/perdure/{JOURNAL}`",
        "The file of the journal. In a file, a relative path begins at the file; a project's journal lies inside it.",
    ),
    Setting("limits.run", "number", "64", "Most attempts at once in one run.", least=1),
    Setting("limits.total", "number", "256", "Most attempts at once in the whole process.", least=1),
    Setting(
        "limits.memory",
        "number",
        "0",
        "Megabytes that a process and its tools may take before they are ended; 0: no limit.",
        user_only=True,
    ),
    Setting(ONE_TOOL, "number", "", "Most attempts at once of one tool, as in `limits.tools.http.get`.", least=1),
    Setting("retention.days", "number", "30", "`perdure gc` forgets runs that have been over for longer, in days."),
    Setting("retention.keep", "number", "100", "`perdure gc` keeps so many of the newest runs, however old they are."),
    Setting(
        "network_disk",
        "switch",
        "false",
        "Take a journal on a network disk, whose locks and syncs cannot be trusted; then trust is yours.",
        user_only=True,
    ),
    Setting(
        PLANNING,
        "switch",
        "false",
        "Let plans change by rule while they are carried out. The command line does, unless it is told otherwise.",
        user_only=True,
    ),
    Setting(
        TRACES,
        "text",
        "",
        "Where a collector of OpenTelemetry takes traces, as in `http://localhost:4318`; `OTEL_*` holds, too.",
        user_only=True,
    ),
    Setting(
        LOG,
        "text",
        "",
        "Where runs are told of in lines of JSON while they go on: `stderr`, or a file that they are added to.",
        user_only=True,
    ),
    Setting(
        f"{MODELS}.default",
        "model",
        "",
        "The model that is asked where a plan says `default`, or a tier that is not set; `PERDURE_MODEL` sets it, too. "
        "A project can choose among the providers that you name. `script:FILE` plays by a file with answers.",
    ),
    Setting(f"{MODELS}.weak", "model", "", "The model for what is easy, and should be cheap and quick."),
    Setting(f"{MODELS}.strong", "model", "", "The model for what is hard."),
    Setting(
        f"{PROVIDERS}.NAME.url",
        "text",
        "",
        "Where a server is that understands what OpenAI's clients say; its models are `NAME:model`.",
        user_only=True,
    ),
    Setting(
        f"{PROVIDERS}.NAME.key",
        "text",
        "",
        "The variable of the environment that has the key for it; without one, no key is sent.",
        user_only=True,
    ),
    Setting(
        f"{SERVER}.url",
        "text",
        "",
        "The server that has the journal, as in `https://runs.example.org`: commands look there, and send "
        "their messages there. `--server` and `PERDURE_SERVER` say the same; `--db` says that the journal is here.",
        user_only=True,
    ),
    Setting(
        f"{SERVER}.key",
        "path",
        "`server.key` beside your own file of settings",
        "The file with the key for it, which only you can read. `PERDURE_KEY` goes before it.",
        user_only=True,
    ),
    Setting(
        f"{SERVER}.plain",
        "switch",
        "false",
        "Send the key also without TLS to another machine, where everybody on the way can read it.",
        user_only=True,
    ),
    *(
        Setting(
            f"{PROVIDERS}.NAME.{PRICES}.MODEL.{word}",
            "price",
            "",
            f"US dollars for a million tokens {told}, of one of its models; of all others, if it is called `*`.",
            user_only=True,
        )
        for word, told in zip(PRICE_WORDS, ("that it reads", "that it writes"), strict=True)
    ),
)
BY_NAME: Final = {setting.name: setting for setting in SETTINGS}
TABLES: Final = {"limits", TOOLS, "retention", "traces", "log", MODELS, PROVIDERS, SERVER}
POLICY_WORDS: Final = frozenset(
    ("policy", "files", "network", "commands", "tools", "resources", "ask", "deny", "sandbox", "secrets", "http")
)
"""Words of the user's policy, which has a file of its own."""

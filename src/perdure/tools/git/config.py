"""The settings of a repository, looked at before git reads them for its own ends: some of them are programs.

What is known to be harmless is allowed, what `hardening` overrides is without effect. All the rest has to be agreed
to by a person, who sees file, key and value; what reads further files cannot be agreed to, because those may change.
"""

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple

from perdure.tools.failure import ToolFailure
from perdure.tools.git.hardening import OVERRIDDEN
from perdure.tools.git.layout import Layout
from perdure.tools.git.refusing import CONFIG, refusal
from perdure.tools.git.running import Job, run
from perdure.tools.hands import Tier

HARMLESS: Final = (
    "core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase",
    "core.precomposeunicode", "core.symlinks", "core.autocrlf", "core.eol", "core.safecrlf", "core.quotepath",
    "core.abbrev", "core.compression", "core.loosecompression", "core.bigfilethreshold", "core.sharedrepository",
    "core.sparsecheckout", "core.sparsecheckoutcone", "core.preloadindex", "core.checkstat", "core.trustctime",
    "core.commitgraph", "core.multipackindex", "core.whitespace", "core.commentchar", "core.longpaths",
    "core.splitindex", "core.deltabasecachelimit", "core.packedgitlimit",
    "extensions.objectformat", "extensions.worktreeconfig", "extensions.noop", "extensions.preciousobjects",
    "user.name", "user.email", "user.signingkey", "author.*", "committer.*",
    "remote.*.url", "remote.*.pushurl", "remote.*.fetch", "remote.*.push", "remote.*.tagopt", "remote.*.prune",
    "remote.*.prunetags", "remote.*.mirror", "remote.*.skipdefaultupdate", "remote.*.skipfetchall",
    "remote.pushdefault", "branch.*.remote", "branch.*.pushremote", "branch.*.merge", "branch.*.rebase",
    "branch.*.description", "branch.*.vscode-merge-base", "branch.*.gh-merge-base", "branch.autosetupmerge",
    "branch.autosetuprebase", "branch.sort", "tag.sort", "init.defaultbranch", "pull.rebase", "pull.ff", "pull.octopus",
    "push.default", "push.autosetupremote", "push.useforceifincludes", "fetch.prune", "fetch.prunetags",
    "fetch.parallel", "fetch.writecommitgraph", "merge.conflictstyle", "merge.ff", "merge.log", "merge.renames",
    "merge.renamelimit", "merge.directoryrenames", "merge.stat", "merge.tool", "merge.branchdesc",
    "diff.algorithm", "diff.renames", "diff.renamelimit", "diff.colormoved", "diff.colormovedws", "diff.context",
    "diff.interhunkcontext", "diff.indentheuristic", "diff.submodule", "diff.tool", "diff.wserrorhighlight",
    "color.*", "column.*", "advice.*", "status.*", "format.pretty", "format.signoff", "help.autocorrect",
    "log.date", "log.decorate", "log.follow", "log.abbrevcommit", "pack.*", "index.version", "index.threads",
    "gc.auto*", "gc.prune*", "gc.reflog*", "maintenance.*", "rerere.autoupdate",
    "rebase.autosquash", "rebase.autostash", "rebase.updaterefs",
    "rebase.abbreviatecommands", "feature.*", "submodule.active", "submodule.*.url", "submodule.*.active",
    "submodule.*.branch", "receive.denynonfastforwards", "receive.denydeletes", "receive.fsckobjects",
    "transfer.fsckobjects", "fetch.fsckobjects", "lfs.repositoryformatversion", "gui.*", "blame.date",
)  # fmt: skip
"""Settings that start nothing, read nothing and reach nothing, whatever stands in them."""
READS_FURTHER: Final = ("include.*", "includeif.*")
LARGEST: Final = 1_000_000
_WITHOUT_EFFECT: Final = frozenset(key.lower() for key in OVERRIDDEN)


class Setting(NamedTuple):
    """One line of the settings."""

    file: str
    key: str
    """Section and name are in lower case."""
    value: str

    @property
    def is_harmless(self) -> bool:
        """Whether git may find it there."""
        key = self.key.lower()
        return key in _WITHOUT_EFFECT or any(fnmatchcase(key, pattern) for pattern in HARMLESS)


async def settings_of(layout: Layout, tier: Tier = "none") -> list[Setting]:
    """All settings that git would find in a repository."""
    files = [layout.common / "config", *{each / "config.worktree" for each in (layout.common, layout.own)}]
    return [setting for file in sorted(files) if file.exists() for setting in await settings_in(file, tier)]


async def settings_in(file: Path, tier: Tier = "none") -> list[Setting]:
    """All settings of one file, and of none that it names."""
    words = ("config", "--file", str(file), "--no-includes", "--null", "--list")
    said = await run(Job(words, Path("/"), most=LARGEST, sees=(file,), tier=tier))
    if said.code:
        raise refusal(CONFIG, "denied", f"{file} cannot be understood: {said.err}", file=str(file))
    lines = said.out.decode("utf-8", "backslashreplace").split("\0")[:-1]
    return [Setting(str(file), key, value) for key, _, value in (line.partition("\n") for line in lines)]


def suspects_of(layout: Layout, settings: list[Setting]) -> list[Setting]:
    """What a person has to agree to. Raises on what nobody can agree to."""
    for each in settings:
        if any(fnmatchcase(each.key, pattern) for pattern in READS_FURTHER):
            raise _reads_further(each)
    return [each for each in settings if not each.is_harmless] + _borrowed(layout)


def _reads_further(setting: Setting) -> ToolFailure:
    return refusal(
        CONFIG, "denied",
        f"{setting.file} has {setting.key}, which takes settings from another file; copy them or take the line out",
        file=setting.file, key=setting.key,
    )  # fmt: skip


def _borrowed(layout: Layout) -> list[Setting]:
    """Objects from elsewhere: what is in another repository could be shown or sent by way of this one."""
    file = _alternates(layout)
    said = file.read_bytes()[:LARGEST].decode("utf-8", "backslashreplace") if file.is_file() else ""
    return [Setting(str(file), "alternates", line) for line in said.splitlines() if line.strip()]


def borrowed_by(layout: Layout) -> tuple[Path, ...]:
    """The directories that such objects are in, as far as they are there."""
    places = [layout.common / "objects" / each.value for each in _borrowed(layout)]
    return tuple(each.resolve() for each in places if each.is_dir())


def _alternates(layout: Layout) -> Path:
    return layout.common / "objects" / "info" / "alternates"

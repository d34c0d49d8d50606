"""What git is told every time, so that a repository's settings decide nothing that matters.

`OVERRIDDEN` is both: what stands on the command line, and which settings of a repository are without effect by that.
"""

from collections.abc import Mapping
from typing import Final

NOTHING: Final = "/dev/null"
OVERRIDDEN: Final[Mapping[str, str]] = {
    # programs that git would start
    "core.hooksPath": NOTHING,
    "core.fsmonitor": "false",
    "core.sshCommand": "false",
    "core.askPass": "false",
    "core.pager": "cat",
    "core.editor": "false",
    "core.alternateRefsCommand": "false",
    "sequence.editor": "false",
    "credential.helper": "",
    "diff.external": "",
    "gpg.program": "false",
    "gpg.openpgp.program": "false",
    "gpg.x509.program": "false",
    "gpg.ssh.program": "false",
    "gpg.ssh.defaultKeyCommand": "false",
    "protocol.allow": "never",
    "protocol.ext.allow": "never",
    # files that git would read
    "core.attributesFile": NOTHING,
    "core.excludesFile": NOTHING,
    # work that nobody asked for
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "push.gpgSign": "false",
    "log.showSignature": "false",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "push.recurseSubmodules": "no",
    "push.followTags": "false",
    "status.submoduleSummary": "false",
    "diff.ignoreSubmodules": "dirty",
    "core.untrackedCache": "false",
    "rerere.enabled": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    # one form, whatever people like to see
    "advice.graftFileDeprecated": "false",
    "color.ui": "false",
    "diff.noprefix": "false",
    "diff.mnemonicPrefix": "false",
    "i18n.commitEncoding": "UTF-8",
    "i18n.logOutputEncoding": "UTF-8",
    # what is written is on the disk before it is named
    "core.fsync": "objects,reference,index",
}
OPTIONS: Final = tuple(
    word for key, value in OVERRIDDEN.items() for word in ("-c", f"{key}={value}")
)  # fmt: skip
PLAIN: Final = ("--no-ext-diff", "--no-textconv", "--no-color")
"""For every command that shows differences."""
ENVIRONMENT: Final[Mapping[str, str]] = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": NOTHING,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_GRAFT_FILE": NOTHING,
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "GIT_SSH_COMMAND": "false",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_PAGER": "cat",
    "GIT_CEILING_DIRECTORIES": "/",
    "GIT_MERGE_AUTOEDIT": "no",
}
"""All that a git process finds in its environment, beside where its repository is."""

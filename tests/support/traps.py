"""Programs that leave a mark when somebody starts them."""

import shlex

CLIENT_HOOKS = (
    "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg",
    "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "post-rewrite", "pre-auto-gc",
    "post-index-change", "reference-transaction", "fsmonitor-watchman", "sendemail-validate", "p4-changelist",
    "p4-prepare-changelist", "p4-post-changelist", "p4-pre-submit", "push-to-checkout",
)  # fmt: skip
"""Every hook that git starts where somebody works."""
LEFT = "mark-of-"
"""How the name of a mark begins that could not be left in its own place."""


def arm(program, mark):
    """Makes a program that leaves a mark, and passes on what it is given, as filters do.

    Where it cannot write, as in a sandbox, it leaves the mark where it was started.
    """
    program.parent.mkdir(parents=True, exist_ok=True)
    here, there = shlex.quote(str(mark)), shlex.quote(LEFT + mark.name)
    left = f"{{ true >{here}; }} 2>/dev/null || true >{there}"
    program.write_text(f"#!/bin/sh\n{left}\ntimeout 1 cat 2>/dev/null\nexit 0\n")
    program.chmod(0o755)
    return program


def arm_hooks(place, mark_of, names=CLIENT_HOOKS):
    """Hooks that leave marks; `mark_of` says where, by name."""
    for name in names:
        arm(place / name, mark_of(name))

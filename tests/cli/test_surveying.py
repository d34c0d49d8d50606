"""What is said of a repository before anybody is asked anything, as far as it needs no command around it."""

import asyncio

import pytest
from repositories import project

from perdure.cli.surveying import Unworkable, survey
from perdure.config import load
from perdure.tools.sandbox import fixes, probes, root


def test_where_there_is_no_sandbox_that_is_said_once_with_what_to_do(monkeypatch, tmp_path):
    """Git is asked in the sandbox, so nothing can be said of the repository itself."""
    blocked = tmp_path / "bwrap"
    blocked.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    blocked.chmod(0o755)
    monkeypatch.setattr(probes, "_kept", {})
    for room in (fixes, root, probes):
        monkeypatch.setattr(room, "BWRAP", str(blocked))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    settings = load({"db": str(tmp_path / "runs.db")}).settings
    with pytest.raises(Unworkable) as refused:
        asyncio.run(survey(settings, project(tmp_path / "calc"), "HEAD", ["work"]))
    assert refused.value.message.startswith("the sandbox could not be set up")
    assert "user namespaces are blocked" in refused.value.message
    assert refused.value.help == "see: perdure explain PRD5101"

"""Repositories whose settings, hooks and layout are made to run a program: none of it runs, whatever is called.

Each attack has a control where there is one: the user's own git, in the same repository, does run the program.
"""

import pytest
from git_shop import git, history
from traps import CLIENT_HOOKS, arm, arm_hooks

CALLS = [
    ("git.status", {"ignored": True}),
    ("git.diff", {}),
    ("git.diff", {"old": "HEAD~1", "new": "HEAD"}),
    ("git.log", {}),
    ("git.show", {}),
    ("git.commit", {"message": "One"}),
    ("git.branch", {"name": "fresh"}),
    ("git.tag", {"name": "v9", "message": "nine"}),
    ("git.merge", {"source": "side", "into": "older"}),
    ("git.worktree", {}),
    ("git.branch", {"name": "fresh", "delete": True}),
    ("git.push", {"branch": "side"}),
]


class Trap:
    """A program that leaves a trace; and passes on what it is given, as filters do."""

    def __init__(self, shop, root):
        self.shop, self.trace = shop, root / "trace"
        self.path = arm(root / "evil", self.trace)
        self.other = history(root / "other")
        git(root, "clone", "-q", "--bare", str(shop.root), "origin.git")
        self.origin = root / "origin.git"
        self.set("remote.origin.url", str(self.origin))
        shop.git("checkout", "-q", "-b", "side", "older")
        shop.write("src/a.py", "a = 'side'\n")
        shop.git("commit", "-qam", "Side")
        shop.git("checkout", "-q", "main")
        shop.git("update-ref", "refs/heads/older", "main")
        shop.write("src/b.py", "b = 7\n")
        shop.write("fresh.txt", "fresh\n")

    def set(self, key, value, place=None):
        git(place or self.shop.root, "config", key, str(value))

    def attributes(self, text, place=".gitattributes"):
        self.shop.write(place, text)

    def hooks(self, place, names=CLIENT_HOOKS):
        arm_hooks(place, lambda _: self.trace, names)

    def sprung(self):
        found = self.trace.exists()
        self.trace.unlink(missing_ok=True)
        return found


@pytest.fixture
def trap(shop, tmp_path):
    return Trap(shop, tmp_path)


ATTACKS = {}


def attack(*control, given=None):
    """Register a way to plant something; `control` is how the user's git would run it."""

    def register(plant):
        ATTACKS[plant.__name__] = (plant, control, given)
        return plant

    return register


@attack("commit", "-qam", "x")
def hooks(trap):
    trap.hooks(trap.shop.root / ".git/hooks")


@attack("commit", "-qam", "x")
def hooks_path(trap):
    trap.hooks(trap.shop.root / "tools")
    trap.set("core.hooksPath", "tools")


@attack("status")
def fsmonitor(trap):
    trap.set("core.fsmonitor", trap.path)


@attack("status")
def included(trap):
    git(trap.shop.root, "config", "--file", "more.cfg", "core.fsmonitor", str(trap.path))
    trap.set("include.path", "../more.cfg")


@attack("status")
def included_if(trap):
    git(trap.shop.root, "config", "--file", "more.cfg", "core.fsmonitor", str(trap.path))
    trap.set("includeIf.gitdir:**.path", "../more.cfg")


@attack("status")
def worktree_settings(trap):
    trap.set("extensions.worktreeConfig", "true")
    git(trap.shop.root, "config", "--worktree", "core.fsmonitor", str(trap.path))


@attack("diff")
def external_diff(trap):
    trap.set("diff.external", trap.path)


@attack("diff")
def diff_command(trap):
    trap.set("diff.evil.command", trap.path)
    trap.attributes("*.py diff=evil\n")


@attack("diff")
def text_conversion(trap):
    trap.set("diff.evil.textconv", trap.path)
    trap.attributes("*.py diff=evil\n")


@attack("add", ".")
def clean_filter(trap):
    trap.set("filter.evil.clean", trap.path)
    trap.attributes("* filter=evil\n")


@attack("add", ".")
def clean_filter_by_info(trap):
    trap.set("filter.evil.clean", trap.path)
    trap.attributes("* filter=evil\n", ".git/info/attributes")


@attack("checkout", "--", "src/b.py")
def smudge_filter(trap):
    trap.set("filter.evil.smudge", trap.path)
    trap.attributes("* filter=evil\n")


@attack("add", ".")
def process_filter(trap):
    trap.set("filter.evil.process", trap.path)
    trap.attributes("* filter=evil\n")


@attack("add", ".")
def filter_by_attributes_file(trap):
    trap.shop.write("attrs", "* filter=evil\n")
    trap.set("core.attributesFile", trap.shop.root / "attrs")
    trap.set("filter.evil.clean", trap.path)


@attack("merge", "side")
def merge_driver(trap):
    trap.set("merge.evil.driver", f"{trap.path} %O %A %B")
    trap.attributes("*.py merge=evil\n", ".git/info/attributes")


@attack("merge", "side")
def default_merge_driver(trap):
    trap.set("merge.evil.driver", f"{trap.path} %O %A %B")
    trap.set("merge.default", "evil")


@attack("commit", "-qam", "x")
def signing(trap):
    trap.set("gpg.program", trap.path)
    trap.set("commit.gpgSign", "true")
    trap.set("tag.gpgSign", "true")


@attack("commit", "-qam", "x")
def signing_by_ssh(trap):
    trap.set("gpg.format", "ssh")
    trap.set("gpg.ssh.defaultKeyCommand", trap.path)
    trap.set("commit.gpgSign", "true")


@attack("log", "main")
def shown_signatures(trap):
    head = trap.shop.git("rev-parse", "HEAD")
    text = trap.shop.git("cat-file", "commit", "HEAD").partition("\n\n")[0]
    signed = (
        f"{text}\nparent {head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\nSigned\n"
    )
    lines = signed.split("\n")
    lines.insert(1, lines.pop(next(n for n, line in enumerate(lines) if line == f"parent {head}")))
    commit = trap.shop.git("hash-object", "-t", "commit", "-w", "--stdin", given="\n".join(lines).encode())
    trap.shop.git("update-ref", "refs/heads/main", commit)
    trap.set("gpg.program", trap.path)
    trap.set("log.showSignature", "true")


@attack("credential", "fill", given=b"protocol=https\nhost=example.com\n\n")
def credential_helper(trap):
    trap.set("credential.helper", f"!{trap.path}")


@attack("ls-remote", "origin")
def ssh_command(trap):
    trap.set("core.sshCommand", trap.path)
    trap.set("remote.origin.url", "ssh://localhost/shop.git")


@attack("ls-remote", "origin")
def git_proxy(trap):
    trap.set("core.gitProxy", trap.path)
    trap.set("remote.origin.url", "git://localhost/shop.git")


@attack("ls-remote", "origin")
def external_transport(trap):
    trap.set("protocol.ext.allow", "always")
    trap.set("remote.origin.url", f"ext::{trap.path}")


@attack("ls-remote", "origin")
def rewritten_url(trap):
    trap.set("protocol.ext.allow", "always")
    trap.set(f"url.ext::{trap.path} .insteadOf", str(trap.origin))


@attack("push", "origin", "side")
def rewritten_push_url(trap):
    trap.set("protocol.ext.allow", "always")
    trap.set(f"url.ext::{trap.path} .pushInsteadOf", str(trap.origin))


@attack("ls-remote", "origin")
def upload_pack(trap):
    trap.set("remote.origin.uploadpack", trap.path)


@attack("push", "origin", "side")
def receive_pack(trap):
    trap.set("remote.origin.receivepack", trap.path)


@attack()
def remote_program(trap):
    trap.set("remote.origin.vcs", "evil")


@attack("push", "origin", "side")
def hooks_of_the_remote(trap):
    trap.hooks(trap.origin / "hooks", ("pre-receive", "update", "post-receive"))


@attack("push", "origin", "side")
def hooks_path_of_the_remote(trap):
    trap.hooks(trap.origin / "custom", ("pre-receive",))
    trap.set("core.hooksPath", trap.origin / "custom", trap.origin)


@attack("push", "origin", "side")
def other_refs_of_the_remote(trap):
    (trap.origin / "objects/info/alternates").write_text(f"{trap.other}/.git/objects\n")
    trap.set("core.alternateRefsCommand", trap.path, trap.origin)


@attack("st")
def alias(trap):
    trap.set("alias.st", f"!{trap.path}")
    for name in ("status", "diff", "log", "update-ref", "commit-tree", "hash-object"):
        trap.set(f"alias.{name}", f"!{trap.path}")


@attack("commit", "--allow-empty")
def editor(trap):
    trap.set("core.editor", trap.path)


@attack("rebase", "-i", "--autostash", "HEAD~1")
def sequence_editor(trap):
    trap.set("sequence.editor", trap.path)


@attack()
def pager(trap):
    trap.set("core.pager", trap.path)
    for name in ("status", "diff", "log", "show"):
        trap.set(f"pager.{name}", trap.path)


@attack()
def password_program(trap):
    trap.set("core.askPass", trap.path)


@attack("submodule", "update")
def submodule_update(trap):
    trap.shop.write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ../other\n')
    trap.shop.git("update-index", "--add", "--cacheinfo", f"160000,{git(trap.other, 'rev-parse', 'HEAD~1')},sub")
    git(trap.shop.root, "clone", "-q", str(trap.other), "sub")
    trap.set("submodule.sub.url", str(trap.other))
    trap.set("submodule.sub.update", f"!{trap.path}")


@attack("status")
def settings_of_a_submodule(trap):
    git(trap.shop.root, "clone", "-q", str(trap.other), "sub")
    trap.shop.git("update-index", "--add", "--cacheinfo", f"160000,{git(trap.other, 'rev-parse', 'HEAD')},sub")
    trap.set("core.fsmonitor", trap.path, trap.shop.root / "sub")
    (trap.shop.root / "sub/README.md").write_text("changed\n")


@attack("diff", "--submodule=diff")
def difference_in_a_submodule(trap):
    settings_of_a_submodule(trap)
    trap.set("diff.submodule", "diff")
    trap.set("diff.external", trap.path, trap.shop.root / "sub")


@attack("status")
def another_repository(trap):
    git(trap.shop.root, "clone", "-q", "--bare", str(trap.other), "vendor/x")
    trap.set("core.fsmonitor", trap.path, trap.shop.root / "vendor/x")
    trap.set("core.bare", "false", trap.shop.root / "vendor/x")
    (trap.shop.root / ".git").rename(trap.shop.root.parent / "aside")
    (trap.shop.root / ".git").write_text("gitdir: vendor/x\n")


@attack("status")
def linked_repository(trap):
    trap.set("core.fsmonitor", trap.path, trap.other)
    (trap.shop.root / ".git").rename(trap.shop.root.parent / "aside")
    (trap.shop.root / ".git").symlink_to(trap.other / ".git")


@attack("status")
def linked_settings(trap):
    trap.set("core.fsmonitor", trap.path, trap.other)
    (trap.shop.root / ".git/config").unlink()
    (trap.shop.root / ".git/config").symlink_to(trap.other / ".git/config")


@attack("status")
def shared_settings_elsewhere(trap):
    trap.set("core.fsmonitor", trap.path, trap.other)
    (trap.shop.root / ".git/commondir").write_text(f"{trap.other}/.git\n")


@attack("status")
def repository_without_a_directory(trap):
    (trap.shop.root / ".git").rename(trap.shop.root.parent / "aside")
    for each in (trap.shop.root.parent / "aside").iterdir():
        each.rename(trap.shop.root / each.name)
    git(trap.shop.root, "config", "--file", "config", "core.bare", "false")
    git(trap.shop.root, "config", "--file", "config", "core.worktree", ".")
    git(trap.shop.root, "config", "--file", "config", "core.fsmonitor", str(trap.path))


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_in_a_repository_runs(name, trap):
    plant, control, given = ATTACKS[name]
    plant(trap)
    trap.trace.unlink(missing_ok=True)
    for tool, arguments in CALLS:
        trap.shop.agreed(tool, **arguments)
        assert not trap.sprung(), f"{tool} has run it"
    if control:
        trap.shop.git(*control, given=given, check=False)
        assert trap.sprung(), "the trap does not work"


def test_there_are_enough_attacks():
    assert len(ATTACKS) >= 40


def test_the_git_of_the_workspace_is_not_used(trap, monkeypatch):
    folder = trap.path.parent / "bin"
    folder.mkdir()
    for name in ("git", "git-status", "sh", "cat", "false"):
        (folder / name).symlink_to(trap.path)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("GIT_EXEC_PATH", str(folder))
    for tool, arguments in CALLS:
        failure = trap.shop.agreed(tool, **arguments).failure
        assert failure is None or failure.kind == "unmet", failure  # the two branches are in conflict
    assert not trap.sprung()


def test_what_the_engine_was_started_with_does_not_reach_git(trap, monkeypatch):
    for name in ("GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_PAGER", "GIT_ASKPASS", "GIT_PROXY_COMMAND"):
        monkeypatch.setenv(name, str(trap.path))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap.path))
    monkeypatch.setenv("GIT_DIR", str(trap.other / ".git"))
    monkeypatch.setenv("GIT_TRACE", str(trap.trace))
    assert trap.shop.do("git.status")["branch"] == "main"
    trap.shop.do("git.commit", message="One")
    assert not trap.sprung()

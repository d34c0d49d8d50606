"""Names are held to a pattern before git sees them."""

import pytest

from perdure.tools import ToolFailure
from perdure.tools.git.names import branch_ref, pathspec, revision, tag_ref

BAD = [
    "", "-x", "--upload-pack=x", ".x", "x..y", "a//b", "a/", "a.", "a/.b", "a.lock", "a.lock/b", "a b", "a\nb", "a\0b", "a~1",
    "a^", "a:b", "a?", "a*", "a[", "a\\b", "@", "@{u}", "a@{1}", "ü", "HEAD", "a" * 201, "0" * 40, "f" * 64, "refs/tags/x", "\u202ea",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("make", [branch_ref, tag_ref])
def test_what_could_be_read_in_a_second_way_is_no_name(name, make):
    if make is tag_ref and name == "refs/tags/x":
        return
    with pytest.raises(ToolFailure) as caught:
        make(name)
    assert caught.value.failure.detail["code"] == "PRD5203"
    assert "\n" not in caught.value.failure.message


@pytest.mark.parametrize("name", ["main", "a/b.c-d_e", "refs/heads/x", "1", "v1.2.3", "x" * 200])
def test_plain_names_are_names(name):
    assert branch_ref(name) == f"refs/heads/{name.removeprefix('refs/heads/')}"


@pytest.mark.parametrize("text", ["HEAD", "HEAD~2", "main^", "a/b~1^2", "0" * 40, "abc123", "refs/heads/x", "v1.0"])
def test_revisions(text):
    assert revision(text) == text


@pytest.mark.parametrize(
    "text", ["", "-x", "--all", "a..b", "a...b", "^a", ":/x", "HEAD:x", "a@{1}", "@", "a b", "HEAD^{/x}", "!x", "a\n"]
)
def test_what_is_no_revision(text):
    with pytest.raises(ToolFailure):
        revision(text)


@pytest.mark.parametrize("text", ["", "/", "/etc/passwd", "..", "a/../b", "./a", "a//b", "a\0b"])
def test_what_is_no_path(text):
    with pytest.raises(ToolFailure):
        pathspec(text)


@pytest.mark.parametrize("text", ["-x", ":(exclude)a", "a b", "*.py", "src/**"])
def test_paths_cannot_be_anything_else(text):
    assert pathspec(text) == f":(top,glob){text}"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("git.diff", {"old": "--output=owned"}),
        ("git.diff", {"new": "-O/dev/null"}),
        ("git.log", {"start": "--output=owned"}),
        ("git.log", {"until": "--all"}),
        ("git.show", {"commit": "--output=owned"}),
        ("git.commit", {"message": "x", "branch": "--force"}),
        ("git.branch", {"name": "x", "start": "--stdin"}),
        ("git.branch", {"name": "-D", "delete": True}),
        ("git.tag", {"name": "--cleanup=x"}),
        ("git.merge", {"source": "--help", "into": "older"}),
        ("git.worktree", {"start": "--force"}),
        ("git.push", {"branch": "older", "remote": "--receive-pack=x"}),
        ("git.push", {"branch": "older", "remote": "ext::sh"}),
        ("git.status", {"worktree": "../../shop"}),
    ],
)
def test_words_that_look_like_options_reach_no_git(tool, arguments, shop):
    before = shop.theirs()
    assert shop.fail(tool, **arguments).detail["code"] == "PRD5203"
    assert shop.theirs() == before

"""A merge without a working tree: git works out the tree, and it is landed whole or not at all."""

from typing import Any, Final

from perdure.tools.failure import ToolFailure
from perdure.tools.git.committing import Words, commit_of, refuse_checked_out, shown_between, tip_of, told_of
from perdure.tools.git.desk import Intent, Update
from perdure.tools.git.names import HEADS, readable
from perdure.tools.git.refusing import ABSENT, refusal
from perdure.tools.git.repository import Repository
from perdure.tools.git.snapshot import changes_between

CONFLICTS: Final = 50
"""Conflicts that are told with their text."""
LETTERS: Final = 4_000
"""Of the text of one conflict."""


async def merge_intent(draft: Repository, source: str, ref: str, words: Words, *, forward: bool) -> Intent:
    """What a merge into a branch would be; its objects are on the desk. Conflicts are a failure that tells of them."""
    refuse_checked_out(draft, ref)
    other, tip = await draft.commit_at(source), await tip_of(draft, ref)
    if not tip:
        raise refusal(ABSENT, "invalid", f"there is no {ref} to merge into; make it with git.branch", ref=ref)
    base = await _base(draft, tip, other)
    output = {"ref": ref, "before": tip, "after": tip, "commit": tip, "source": other}
    if base == other:
        return Intent((), {**output, "how": "nothing to do", **told_of([])})
    if base == tip and forward:
        made, how = other, "forward"
    else:
        tree = await _merged(draft, tip, other)
        said = words if words.message else Words(f"Merge {source} into {ref.removeprefix(HEADS)}", words.author)
        made, how = await commit_of(draft, tree, [tip, other], said), "merge"
    told = {"after": made, "commit": made, "how": how, **told_of(await changes_between(draft, tip, made))}
    return Intent((Update(ref, tip, made),), {**output, **told}, await shown_between(draft, tip, made))


async def _base(draft: Repository, one: str, other: str) -> str:
    said = await draft.ask("merge-base", one, other, codes=(0, 1))
    if said.code:
        raise ToolFailure("invalid", "the two have no commit in common; there is nothing to merge by")
    return said.out.decode().split("\n")[0]


async def _merged(draft: Repository, ours: str, theirs: str) -> str:
    words = ("merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs)
    said = await draft.ask(*words, codes=(0, 1))
    tree, *rows = said.out.rstrip(b"\0").split(b"\0")
    if said.code == 0:
        return tree.decode()
    conflicts = await _conflicts(draft, tree.decode(), rows)
    names = ", ".join(each["path"] for each in conflicts[:5]) + (", …" if len(conflicts) > 5 else "")  # noqa: PLR2004
    raise ToolFailure("unmet", f"both sides changed {names}; nothing was merged", detail={"conflicts": conflicts})


async def _conflicts(draft: Repository, tree: str, rows: list[bytes]) -> list[dict[str, Any]]:
    """By path: which side has what, and the text with its marks."""
    sides: dict[bytes, dict[str, str]] = {}
    for row in rows:
        about, _, path = row.partition(b"\t")
        _, found, stage = about.decode().split(" ")
        sides.setdefault(path, {})[("base", "ours", "theirs")[int(stage) - 1]] = found
    texts = [await _text(draft, tree, path) for path in list(sides)[:CONFLICTS]]
    return [
        {"path": readable(path), **stages, "text": text}
        for (path, stages), text in zip(list(sides.items())[:CONFLICTS], texts, strict=True)
    ]


async def _text(draft: Repository, tree: str, path: bytes) -> str:
    """As git would have left it in a working tree; nothing where one side has taken the file away."""
    words = ("ls-tree", "-z", "--full-tree", tree, "--", path.decode("utf-8", "surrogateescape"))
    literal = {"GIT_LITERAL_PATHSPECS": "1"}
    row = (await draft.ask(*words, variables=literal)).out
    if not row or b" blob " not in row:
        return ""
    found = row.split(b"\t")[0].split(b" ")[2].decode()
    said = await draft.ask("cat-file", "blob", found, most=LETTERS, cut=True)
    return said.out.decode("utf-8", "backslashreplace")

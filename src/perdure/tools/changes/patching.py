"""A patch, file by file, on a draft."""

from collections.abc import Iterable

from msgspec.structs import replace

from perdure.tools.changes.drafting import Draft
from perdure.tools.changes.fitting import patched
from perdure.tools.changes.hunks import FilePatch
from perdure.tools.changes.text import Encoding, Text
from perdure.tools.failure import ToolFailure


def names_in(patches: Iterable[FilePatch]) -> list[str]:
    """Every file that patches are about."""
    return [name for each in patches for name in (each.path, each.to) if name]


def apply(draft: Draft, patch: FilePatch, encoding: Encoding) -> None:
    """Have the draft hold what the patch says. `ToolFailure` if it does not fit."""
    if patch.kind == "add":
        _add(draft, patch, encoding)
        return
    draft.file(patch.path)
    if patch.hunks:
        _change(draft, patch, encoding)
    if patch.mode is not None:
        draft.set(patch.path, replace(draft.file(patch.path), mode=patch.mode))
    if patch.kind == "delete":
        _remove(draft, patch)
    if patch.to:
        draft.rename(patch.path, patch.to)


def _add(draft: Draft, patch: FilePatch, encoding: Encoding) -> None:
    if draft.image(patch.path) is not None:
        raise ToolFailure("logic", f"{patch.path} is there already (line {patch.line} of the patch adds it)")
    text = patched(patch, "")
    draft.write(patch.path, Text(text, encoding).data(text), patch.mode)


def _change(draft: Draft, patch: FilePatch, encoding: Encoding) -> None:
    text = draft.text(patch.path, encoding)
    hunks = tuple(replace(each, old=text.fitted(each.old), new=text.fitted(each.new)) for each in patch.hunks)
    draft.write(patch.path, text.data(patched(replace(patch, hunks=hunks), text.body)))


def _remove(draft: Draft, patch: FilePatch) -> None:
    """A diff that removes a file names all its lines; a V4A patch names none."""
    if patch.hunks and draft.file(patch.path).size:
        raise ToolFailure("invalid", f"{patch.path} has more lines than line {patch.line} of the patch removes")
    draft.set(patch.path, None)

"""Ids: each one used once, none of them a word that means something else."""

from collections.abc import Iterator

from perdure.plan.index import Index, Node
from perdure.plan.model.steps import RESERVED_IDS, RESERVED_TARGETS
from perdure.plan.problems import Problem, written


def check_names(index: Index) -> Iterator[Problem]:
    """Duplicate and reserved ids."""
    for node in index.nodes:
        first = index.by_id[node.id]
        if first is not node:
            message = f'the id "{node.id}" is taken by the step at {written(first.path)}'
            yield Problem("PRD1107", message, (*node.path, "id"), "ids are unique in the whole document: rename one")
        if node.id in RESERVED_IDS:
            yield _reserved(node)


def _reserved(node: Node) -> Problem:
    why = "it is a target" if node.id in RESERVED_TARGETS else "expressions use the word"
    return Problem("PRD1108", f'"{node.id}" cannot be an id: {why}', (*node.path, "id"), f'write "{node.id}_step"')

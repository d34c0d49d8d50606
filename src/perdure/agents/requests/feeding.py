"""What one tool gives that another one wants: by the names and types that both declare, and by nothing else."""

from typing import Any

from perdure.agents.requests.wanting import Want, words_in
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.tools.tool import AnyTool


def path_to(tool: AnyTool, want: Want) -> str | None:
    """Where in the output of a tool a parameter finds its value: `output.customer_id`; nothing if nowhere."""
    facts = tool.facts()
    taken: Raw = (facts.inputs or {}).get("properties")
    if is_mapping(taken) and want.name in taken:
        return None  # what it is given and only gives back is no news
    returns = facts.returns
    fields: Raw = returns.get("properties") if returns else None
    if is_mapping(fields):
        name = next((each for each in _names(tool, want) if _agree(fields.get(each), want)), None)
        return None if name is None else f"output.{name}"
    is_it = words_in(tool.name)[-len(want.words) :] == want.words
    return "output" if returns and is_it and _agree(returns, want) else None


def is_lookup(want: Want) -> bool:
    """Whether finding the value is what is called looking up: nobody says an id, it is found."""
    return want.words[-1:] == ("id",)


def _names(tool: AnyTool, want: Want) -> tuple[str, ...]:
    """What it could be called there: as here; and the `id` that a tool of customers gives is a `customer_id`."""
    if not want.name.isidentifier():
        return ()
    about = {each for word in words_in(tool.name) for each in (word, word.removesuffix("s"))}
    whose = set(want.words[:-1])
    return (want.name, "id") if is_lookup(want) and whose and whose <= about else (want.name,)


def _agree(given: Raw, want: Want) -> bool:
    """Whether all types that are given are wanted."""
    offered, wanted = _types(given), _types(want.schema)
    if not offered or not wanted:
        return False
    return offered <= wanted | ({"integer"} if "number" in wanted else set())


def _types(schema: Raw) -> set[Any]:
    found: Raw = schema.get("type") if is_mapping(schema) else None
    return set(found) if is_list(found) else {found} if isinstance(found, str) else set()


def acts(tool: AnyTool) -> bool:
    """Whether it changes the world: then it is neither done before nor beside what comes earlier in a request."""
    words = tool.declared.words(careful=tool.repeat == "never")
    return bool({"writes", "irreversible"} & set(words))

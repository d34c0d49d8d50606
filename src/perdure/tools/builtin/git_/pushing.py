"""Pushing, which a person always agrees to."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field

from perdure.core.policy import Deed
from perdure.tools.builtin.bounds import Short
from perdure.tools.context import Context
from perdure.tools.declaring import Happened, NotHappened
from perdure.tools.git.committing import shown_between
from perdure.tools.git.desk import Desk, Intent, Update
from perdure.tools.git.login import login_for
from perdure.tools.git.names import branch_ref
from perdure.tools.git.outgoing import outgoing, refuse_fenced
from perdure.tools.git.pushing import Beside, Way, is_left, refuse_rewriting, send, there
from perdure.tools.git.refusing import REMOTE, refusal
from perdure.tools.git.remotes import Remote, named_remote, remote_of
from perdure.tools.git.repository import Repository, is_within, opened
from perdure.tools.net.gate import Gate
from perdure.tools.tool import tool

WHY: Final = "a push leaves this repository"
Password = Annotated[str, Field(max_length=10_000)]


class Errand:
    """A push, or what belongs to one: between a repository and the other side."""

    def __init__(self, context: Context, repository: Repository, remote: Remote, way: Way, desk: Desk) -> None:
        self.repository: Final = repository
        self.remote: Final = remote
        self.way: Final = way
        self.desk: Final = desk
        self._context: Final = context

    def agree(self, update: Update, shown: str) -> None:
        """Go on only if a person has agreed to this move."""
        moves = f"{update.ref}: {update.old or 'nothing'} -> {update.new or 'nothing'}"
        where = f"{self.remote.name} at {self.remote.told}" if self.remote.is_named else self.remote.told
        _ask(self._context, self.remote.name, update.ref, f"{where}\n{moves}\n\n{shown}".strip())


def _ask(context: Context, remote: str, ref: str, shown: str) -> None:
    context.guard.ask(Deed("use", f"git:remote/{remote}/{ref}"), WHY, shown)


class Other(NamedTuple):
    """The other side, as a call names it."""

    remote: str
    user: str
    password: str


async def errand_to(context: Context, key: str, other: Other, known: Sequence[str] = ()) -> Errand:
    """Everything that a push needs, judged as far as it goes before a word is sent."""
    repository = await opened(context)
    target = await remote_of(repository, other.remote)
    login = login_for(target, other.user, other.password)
    desk = Desk(repository.state, key)
    way: Way = Beside(repository, target.path)
    if target.url is not None:
        way = replace(await outgoing(context, repository, target.url, desk.place, known), login=login)
    return Errand(context, repository, target, way, desk)


async def probe(
    context: Context, key: str, remote: str = "origin", user: str = "", password: str = ""
) -> Happened | NotHappened | None:
    """Ask the other side where the branch is."""
    repository = await opened(context)
    intent = Desk(repository.state, key).intent()
    if intent is None:
        return NotHappened()
    [update] = intent.updates
    now = await there((await errand_to(context, key, Other(remote, user, password))).way, update.ref)
    if now == update.new:
        return Happened(intent.output)
    return NotHappened() if now == update.old else None


async def undo_push(  # noqa: PLR0913  each is a word of the plan
    context: Context, key: str, output: Any = None, *, remote: str = "origin", user: str = "", password: str = ""
) -> None:
    """Move the branch back on the other side, if it is still where the push left it and a person agrees."""
    repository = await opened(context)
    intent = Desk(repository.state, key).intent()
    if output is None and intent is None:
        return
    told = output or (intent.output if intent else {})
    update = Update(told["ref"], told["before"] or "", told["after"]).back
    known = intent.reached if intent else ()
    errand = await errand_to(context, key, Other(remote, user, password), known)
    if await is_left(errand.way, update):
        await _refuse_unknown(repository, update)
        errand.agree(update, "this takes a push back")
        await send(errand.way, update)


async def _refuse_unknown(repository: Repository, update: Update) -> None:
    """Git sends only what it has."""
    if update.new and not await repository.find(f"{update.new}^{{commit}}"):
        told = f"{update.ref} was at {update.new[:12]} there, which is not in this repository: fetch it, then roll back"
        raise refusal(REMOTE, "unmet", told, ref=update.ref)


async def foresee(  # noqa: PLR0913  each is a word of the plan
    context: Context, branch: str, remote: str = "origin", to: str = "", *, user: str = "", password: str = ""
) -> None:
    """Where it would go. What is there already is known only by asking."""
    ref = branch_ref(to or branch)
    if is_within(context.hands):  # else what it needs is not in the copy of a workspace
        repository = await opened(context)
        target = named_remote(repository, remote)
        _ = login_for(target, user, password)
        if target.url is not None:
            refuse_fenced(repository)
            Gate(context.guard).foresee(target.url.host, target.url.port)
    _ask(context, remote, ref, f"{branch_ref(branch)} -> {remote} {ref}")


@tool(
    name="git.push",
    repeat="never",
    effects=["network", "irreversible"],
    judges=True,
    staged=False,
    foresee=foresee,
    probe=probe,
    undo=undo_push,
)
async def push(  # noqa: PLR0913  each is a word of the plan
    context: Context,
    branch: Short,
    remote: Annotated[str, Field(max_length=2_000)] = "origin",
    to: Short = "",
    *,
    rewrite: bool = False,
    user: Short = "",
    password: Password = "",
) -> dict[str, Any]:
    """Push a branch. It moves only from where it was seen, and only after a person has agreed.

    Args:
        branch: The branch to push.
        remote: One of the repository's remotes, or an address, as in https://example.com/shop.git; ssh is not offered.
        to: The branch on the other side; empty: of the same name.
        rewrite: Whether commits that are there may be replaced.
        user: Who pushes, over https; most hosts that take a token look at the password alone.
        password: Of the user, or a token, as in ${secrets.NAME}; it goes only to an address that stands in `remote`.
    """
    errand = await errand_to(context, context.key, Other(remote, user, password))
    intent = kept = errand.desk.intent()
    if intent is None:
        wanted = await _update(errand, branch, branch_ref(to or branch), rewrite=rewrite)
        intent = await _intent(errand, wanted)
    [update] = intent.updates
    errand.agree(update, intent.shown)
    if kept is None:
        errand.desk.keep(errand.repository.done_for(context, intent))
    await send(errand.way, update)
    errand.desk.clear()
    return intent.output


async def _update(errand: Errand, branch: str, ref: str, *, rewrite: bool) -> Update:
    new = await errand.repository.commit_at(branch_ref(branch))
    update = Update(ref, await there(errand.way, ref), new)
    if not rewrite:
        await refuse_rewriting(errand.repository, update)
    return update


async def _intent(errand: Errand, update: Update) -> Intent:
    repository, desk = errand.repository, errand.desk
    desk.lay_out(repository.layout)
    is_known = not update.old or await repository.find(f"{update.old}^{{commit}}")
    draft = repository.drafting(desk.place, desk.variables)
    shown = await shown_between(draft, update.old, update.new) if is_known else ""
    output = {"remote": errand.remote.name, "ref": update.ref, "before": update.old or None, "after": update.new}
    return Intent((update,), output, shown, reached=errand.way.reached)

"""What a tool for files may touch: the policy says it, and some names are not like others."""

from typing import Final

from perdure.core.policy import Deed
from perdure.tools.changes.paths import refuse_unplain
from perdure.tools.changes.protected import asking, inside, refuse_protected
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure


class Judging:
    """Judges the deeds of one call on files."""

    def __init__(self, context: Context) -> None:
        hands = context.hands
        self._guard: Final = context.guard
        self._private: Final = inside(hands.workspace, (hands.state, *hands.private))

    def check(self, deeds: list[Deed], shown: str = "") -> None:
        """Go on only if all of it may be done; else `ToolFailure`, or `Unapproved` if a person has to agree."""
        self._refuse(deeds)
        self._guard.check(deeds, shown, asking(deeds, self._guard.layers))

    def refuse_denied(self, deeds: list[Deed]) -> None:
        """Go on unless something is denied. What asks for approval has it: somebody has decided to take a step back."""
        self._refuse(deeds)
        denied = [each for each in map(self._guard.verdict, deeds) if each.verdict == "deny"]
        if denied:
            raise ToolFailure("denied", f"{denied[0].why} (says {denied[0].by})")

    def may_see(self, path: str) -> bool:
        """Whether a file may be read without asking anybody."""
        deed = Deed("read", path)
        try:
            self._refuse([deed])
        except ToolFailure:
            return False
        return self._guard.verdict(deed, asking([deed], self._guard.layers)).verdict == "allow"

    def _refuse(self, deeds: list[Deed]) -> None:
        """What no policy can allow."""
        for deed in deeds:
            refuse_unplain(deed.what)
        refuse_protected(deeds, self._private)

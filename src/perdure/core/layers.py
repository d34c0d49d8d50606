"""From what people write to what deeds are judged by."""

from perdure.core.policy import Layer, Terms
from perdure.plan.model.parts import Policy


def layer_of(policy: Policy, name: str) -> Layer:
    """What an author of rules says, under a name by which people know him."""
    files, commands = policy.files, policy.commands
    return Layer(
        name,
        files_read=Terms(allow=files.read if files else None),
        files_write=Terms(allow=files.write if files else None),
        network=Terms(allow=policy.network),
        commands=Terms(allow=commands.allow, deny=commands.deny or ()) if commands else Terms(),
        effects=Terms(ask=policy.ask),
    )

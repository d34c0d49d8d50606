"""`perdure retry`: go on with a run that failed or was cancelled."""

from collections.abc import Mapping
from typing import Any

import click

from perdure.cli.commands import resume_command
from perdure.cli.drafts import Draft
from perdure.cli.interrupts import carried_out
from perdure.cli.jobs import Retry
from perdure.cli.journals import settings_for
from perdure.cli.manners import carried_on, driving_options, manner_for
from perdure.cli.reaching import full_id, whoever
from perdure.config import Settings


@click.command()
@click.argument("run")
@click.argument("step", required=False)
@click.option("--edit", is_flag=True, help="Change its plan first, in $VISUAL or $EDITOR.")
@click.option("--plan", "file", metavar="FILE", help="What its plan is to be from there on: a revision.")
@click.option("--yes", is_flag=True, help="With --edit, do not ask whether it is right.")
@click.option("--why", "-m", default="", metavar="WHY", help="Why its plan is another one; it stands in the journal.")
@click.option("--widen", is_flag=True, help="Let the budget or the policy of the plan become wider.")
@driving_options
@click.pass_context
def retry(ctx: click.Context, run: str, step: str | None, **given: Any) -> None:
    """Go on with RUN after it failed or was cancelled, and follow it as `perdure run` does.

    RUN is an id, the beginning of one, or @last. What worked stays. STEP is entered anew, or else whatever was cut off;
    that is a new visit, beyond what the plan allows.

    --edit and --plan change the plan first: what comes again may be another step, and there may be new ones before it.
    """
    settings = settings_for(given["db"])
    id_ = carried_out(full_id(settings, run))
    draft = Draft()
    words = (step,) if step else ()
    with draft.kept(lambda file: resume_command(id_, given["addresses"], "retry", (*words, "--plan", file))):
        revised = _revised(settings, id_, step or "", given, draft) if given["edit"] or given["file"] else {}
        if given["edit"] and not revised:
            return
        job = Retry(id_, step or "", whoever(given["by"]), revised)
        code = carried_on(job, manner_for(id_, settings, given))
    ctx.exit(code)


def _revised(settings: Settings, run: str, step: str, given: Mapping[str, Any], draft: Draft) -> dict[str, Any]:
    from perdure.cli.editing import Wish, mended  # noqa: PLC0415  few change a plan, and it loads much
    from perdure.plan.limits import Limits  # noqa: PLC0415  as above

    if given["edit"] and given["file"]:
        raise click.UsageError("--edit and --plan both say what the plan is to be")
    said = {word: given[word] for word in ("file", "why", "widen", "as_json")}
    wish = Wish(whoever(given["by"]), Limits(), yes=given["yes"] or not given["edit"], draft=draft, **said)
    return carried_out(mended(settings, run, step, wish))

"""`perdure keys`: who may ask what of `perdure serve`."""

import time
from typing import TYPE_CHECKING, Any

import click

from perdure.cli.arguments import length_of_time
from perdure.cli.journals import check_here, db_option, settings_for
from perdure.cli.printing import json_option, print_json, print_table
from perdure.cli.serving import SCOPES, need_server
from perdure.documents.moments import moment
from perdure.plan.visible import visible

if TYPE_CHECKING:
    from perdure.server.keys import Key, Keys


@click.group()
def keys() -> None:
    """Keys for the API of `perdure serve`: each has a name, and says what may be asked with it.

    They stand in a file beside the journal, only as hashes. A key that is revoked opens nothing from that moment on.
    """


@keys.command()
@db_option
@json_option
def ls(db: str | None, as_json: bool) -> None:
    """List the keys. What they are is not kept, so nobody can see it again."""
    found = _keys(db).all()
    if as_json:
        print_json({"schema": "perdure.keys/1", "keys": [_document(each) for each in found]})
        return
    print_table(("name", "scopes", "made", "until"), [_row(each) for each in found])


@keys.command()
@click.argument("name")
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES), default=("read",), show_default=True,
    help="read: look. run: begin and steer runs. approve: answer questions. admin: everything. Can be repeated.",
)  # fmt: skip
@click.option("--expires", callback=length_of_time, metavar="TIME", help="When it ends, as in 12h or 30d.")
@db_option
@json_option
def new(name: str, scopes: tuple[str, ...], expires: float | None, db: str | None, as_json: bool) -> None:
    """Make a key for NAME and print it, this once. What is answered with it is answered by NAME."""
    now = round(time.time() * 1000)
    chosen: Any = tuple(dict.fromkeys(scopes))
    until = None if expires is None else now + round(expires * 1000)
    secret = _keys(db).new(name, chosen, now, until)
    if as_json:
        print_json(
            {"schema": "perdure.key/1", "name": name, "scopes": list(chosen), "expires": moment(until), "key": secret}
        )
        return
    click.echo(secret)
    click.echo("keep it: only its hash is stored, and it is not shown again", err=True)


@keys.command()
@click.argument("name")
@db_option
def revoke(name: str, db: str | None) -> None:
    """Take back the key of NAME. A server that is running refuses it from now on, and ends its streams."""
    found = _keys(db).revoke(name)
    click.echo(visible(f"the key of {found.name} opens nothing any more"), err=True)


def _keys(db: str | None) -> "Keys":
    need_server()
    from perdure.server.keys import keys_of  # noqa: PLC0415  it needs what may not be installed

    settings = settings_for(db)
    check_here(settings)
    return keys_of(settings.db)


def _row(key: "Key") -> tuple[str, ...]:
    return key.name, ", ".join(key.scopes), moment(key.created) or "", moment(key.expires) or "-"


def _document(key: "Key") -> dict[str, Any]:
    about = {"name": key.name, "id": key.id, "scopes": list(key.scopes)}
    return {**about, "created": moment(key.created), "expires": moment(key.expires)}

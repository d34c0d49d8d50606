"""What somebody wrote in an editor, kept where it would be lost."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from tempfile import NamedTemporaryFile

import click

from perdure.errors import PerdureError


class Draft:
    """A text that was written and not taken yet."""

    def __init__(self) -> None:
        self.text = ""

    @contextmanager
    def kept(self, command: Callable[[str], str]) -> Generator[None]:
        """If what follows is refused, put the text into a file, and say by which command to go on with that."""
        try:
            yield
        except (PerdureError, click.exceptions.Exit, click.Abort):
            self.keep(command)
            raise

    def keep(self, command: Callable[[str], str]) -> None:
        """Put it into a file that nobody else can read."""
        if not self.text:
            return
        try:
            with NamedTemporaryFile("w", prefix="perdure-", suffix=".yaml", delete=False, encoding="utf-8") as file:
                file.write(self.text)
        except OSError as error:
            click.echo(f"what you wrote could not be kept: {error.strerror}", err=True)
            return
        click.echo(f"what you wrote is kept; go on with: {command(file.name)}", err=True)

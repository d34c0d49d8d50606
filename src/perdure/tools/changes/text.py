"""Text of files: what is kept when it is changed (byte order mark, newlines, encoding) and what is no text."""

from typing import Final, Literal, Self

import msgspec

from perdure.tools.failure import ToolFailure

Encoding = Literal[
    "utf-8", "utf-16-le", "utf-16-be", "latin-1", "cp1252", "iso8859-15", "koi8-r", "shift_jis", "euc_jp", "gb18030",
    "big5", "euc_kr",
]  # fmt: skip
"""Nothing is guessed: what is not UTF-8 has to be declared."""
_MARK: Final = "\ufeff"


class Text(msgspec.Struct, frozen=True):
    """The text of a file. Its lines end in a plain newline here if all of them end alike in the file."""

    body: str
    encoding: Encoding = "utf-8"
    mark: bool = False
    """Whether a byte order mark stands before it."""
    crlf: bool = False
    """Whether all lines end in a carriage return and a newline."""

    @classmethod
    def read(cls, path: str, data: bytes, encoding: Encoding = "utf-8") -> Self:
        """`ToolFailure` if the bytes are no text of this encoding, or would not come back the same."""
        try:
            whole = data.decode(encoding)
        except UnicodeDecodeError as error:
            raise _no_text(path, f"byte {error.start:,} is not {encoding}") from None
        if "\0" in whole:
            raise _no_text(path, f"there is a zero at letter {whole.index(chr(0)):,}")
        if whole.encode(encoding) != data:
            raise _no_text(path, f"it would not come back the same from {encoding}")
        return cls._parted(whole, encoding)

    @classmethod
    def _parted(cls, whole: str, encoding: Encoding) -> Self:
        mark = whole.startswith(_MARK)
        body = whole[1:] if mark else whole
        crlf = "\r\n" in body and body.count("\n") == body.count("\r\n")
        return cls(body.replace("\r\n", "\n") if crlf else body, encoding, mark, crlf)

    @property
    def is_mixed(self) -> bool:
        """Whether some lines end in a carriage return and others do not: then each line is as it is."""
        return not self.crlf and "\r\n" in self.body

    def fitted(self, text: str) -> str:
        """A piece of text that was written elsewhere, with newlines as in this file."""
        return text if self.is_mixed else text.replace("\r\n", "\n")

    def data(self, body: str) -> bytes:
        """The bytes of the file with another body."""
        whole = (_MARK if self.mark else "") + (body.replace("\n", "\r\n") if self.crlf else body)
        try:
            return whole.encode(self.encoding)
        except UnicodeEncodeError as error:
            odd = f"{whole[error.start]!r} has no form in {self.encoding}"
            raise ToolFailure("invalid", f"the text cannot be written: {odd}") from None


def _no_text(path: str, why: str) -> ToolFailure:
    hint = "declare its `encoding`, or write it whole with files.write and `base64`"
    return ToolFailure("invalid", f"{path} is no text that can be edited: {why}; {hint}")

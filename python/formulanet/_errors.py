"""What can go wrong."""

from __future__ import annotations

from typing import Optional


class Error(ValueError):
    """Something that formulanet cannot do. The message says what it expected, what it found, and the way out.

    >>> import formulanet
    >>> formulanet.Model("nosuch")
    Traceback (most recent call last):
    ...
    formulanet.Error: expected a model file or one of the built-in models (...), found neither: `nosuch`
    """

    __module__ = "formulanet"


class ParseError(Error):
    """A text that is not a formula, or one that is too large.

    >>> import formulanet
    >>> try:
    ...     formulanet.graph("!x. x +")
    ... except formulanet.ParseError as error:
    ...     print(error.line, error.column, error.expected, "but", error.found)
    1 8 a term but the end of the formula
    """

    __module__ = "formulanet"

    #: The file, or the name of the statement.
    file: Optional[str]
    #: The line, counted from 1.
    line: Optional[int]
    #: The column in characters, counted from 1.
    column: Optional[int]
    #: What would have been right.
    expected: Optional[str]
    #: What stands there.
    found: Optional[str]

    def __init__(
        self,
        message: str,
        file: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
        expected: Optional[str] = None,
        found: Optional[str] = None,
    ) -> None:
        # All of them, so that the exception can be pickled and sent to another process.
        super().__init__(message, file, line, column, expected, found)
        self.file, self.line, self.column = file, line, column
        self.expected, self.found = expected, found

    def __str__(self) -> str:
        return str(self.args[0])

"""The errors Gnomon raises on purpose.

Both end as one line on the command line: where, what is wrong, what to do.
"""


class GnomonError(Exception):
    """An error whose text is fit for a person: one line, no traceback needed."""


class InputError(GnomonError, ValueError):
    """Something the caller supplied cannot be used.

    `where` names the file, column, row or argument; `problem` says what is wrong with it;
    `remedy` says what to do about it.

    >>> print(InputError("scores.csv, column q, row 3", "1.2 is not a probability",
    ...                  "give values between 0 and 1"))
    scores.csv, column q, row 3: 1.2 is not a probability; give values between 0 and 1
    """

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        super().__init__(where, problem, remedy)
        self.where = where
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}; {self.remedy}"


class MissingExtra(GnomonError, ImportError):
    """A feature needs an optional dependency that is not installed.

    >>> print(MissingExtra("text", "scikit-learn"))
    scikit-learn is not installed; run: pip install "gnomon[text]"
    """

    def __init__(self, extra: str, package: str) -> None:
        super().__init__(extra, package)
        self.extra = extra
        self.package = package

    def __str__(self) -> str:
        return f'{self.package} is not installed; run: pip install "gnomon[{self.extra}]"'

"""What a column of text is taken for: numbers, true and false, or the text it is."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# Bits, so that the kind of a column is the `&` of the kinds of its parts: integers and fractions
# are numbers, numbers and words are text. LONG is for integers beyond 64 bits, kept as text because
# rounding would make two ids one.
ANYTHING, INTEGER, LONG, NUMBER, BOOLEAN, TEXT = 0b1111, 0b1110, 0b1100, 0b1000, 0b0001, 0


def kind_of(cells: "pl.Series") -> int:
    """What all cells of a column of text can be taken for.

    >>> import polars as pl
    >>> kind_of(pl.Series(["1", "2"])) & kind_of(pl.Series(["0.5", ""])) == NUMBER
    True
    """
    import polars as pl

    cells = cells.filter(cells != "")
    if cells.is_empty():
        return ANYTHING
    if cells.is_in(["true", "false"]).all():
        return BOOLEAN
    if cells.cast(pl.Float64, strict=False).null_count():
        return TEXT
    if cells.str.contains(r"^[+-]?0[0-9]").any():
        return TEXT  # 007 is a name, not 7
    if not cells.cast(pl.Int64, strict=False).null_count():
        return INTEGER
    return LONG if cells.str.contains(r"^[+-]?[0-9]+$").all() else NUMBER


def typed(cells: "pl.Series", kind: int) -> "pl.Series":
    """A column of text as what it can be taken for.

    >>> import polars as pl
    >>> typed(pl.Series(["1", "2"]), NUMBER).to_list()
    [1.0, 2.0]
    """
    import polars as pl

    if kind not in (BOOLEAN, INTEGER, NUMBER):
        return cells
    cells = cells.set(cells == "", None)  # a quoted "" among numbers is a blank cell too
    if kind == BOOLEAN:
        return cells == "true"
    return cells.cast(pl.Int64 if kind == INTEGER else pl.Float64)

"""Numbers as charts and pages write them."""

import math

from gnomon.estimate import Estimate


def count(n: float, what: str) -> str:
    """So many things.

    >>> count(1, "bin"), count(60_000, "prediction")
    ('1 bin', '60,000 predictions')
    """
    return f"{n:,.10g} {what}" + "s" * (n != 1)


def decimal(value: float, sign: str = "") -> str:
    """Four decimals, or two digits where those would be noughts.

    >>> decimal(0.25), decimal(0.000031), decimal(-0.0), decimal(float("inf"))
    ('0.2500', '3.1e-05', '0.0000', '∞')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if 0 < abs(value) < 0.0005:
        return f"{value:{sign}.2g}"
    return f"{value:{sign}z.4f}"


def percent(share: float) -> str:
    """A share, such as the level of an interval, in per cent."""
    return f"{100 * share:.4g} %"


def centre(error: Estimate) -> float:
    """The value without its bias where that is known: what the interval is about."""
    return error.value if error.debiased is None else error.debiased


def interval(error: Estimate, sign: str = "") -> str:
    """An estimate's limits."""
    return f"{decimal(error.low, sign)} to {decimal(error.high, sign)}"


def shorten(name: str, most: int = 40) -> str:
    """A name that fits a title."""
    return name if len(name) <= most else name[: most - 1] + "…"

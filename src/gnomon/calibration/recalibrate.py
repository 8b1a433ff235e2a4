"""Mending probabilities that do not mean what they say, with a map kept as a small JSON object.

Rows are first collapsed to distinct predictions with the mass of each label. What is fitted is
therefore the same, to the last bit, whatever the order of the rows, and a whole-number weight is
the same as that many copies of the row.
"""

import json
import math
import sys
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression
from scipy.special import expit, softmax

from gnomon.calibration import pairs
from gnomon.calibration.logistic import (
    LIMIT,
    LOGISTIC,
    logistic_loss,
    minimise,
    softmax_loss,
)
from gnomon.errors import InputError
from gnomon.estimate import JSON, Signature, digest, number

Array: TypeAlias = NDArray[np.float64]
Indexes: TypeAlias = NDArray[np.intp]
Parameters: TypeAlias = dict[str, float | list[float]]

FORMAT, FORMAT_VERSION = "gnomon recalibrator", 1
EDGE = 1e-9  # 0 and 1 count as EDGE and 1 − EDGE: beyond what float32 can tell from 1


PLACES = {"isotonic": "knots", "histogram": "edges"}  # where on the axis `values` belong
METHODS = (*LOGISTIC, *PLACES)


@dataclass(frozen=True)
class Recalibrator:
    """A fitted map from stated to mended probabilities, and what it was fitted on.

    `parameters` holds one map, or one per class where classes are mended one versus the rest;
    `n` is the total weight; `base_rate` the share of label 1, or of each class.
    """

    method: str
    parameters: tuple[Parameters, ...]
    n: float
    base_rate: float | tuple[float, ...]
    signature: str

    def apply(self, probability: ArrayLike) -> Array:
        """The mended probabilities: N for N, or N×K, rows summing to 1, for N×K.

        Never decreasing in `probability` for beta, temperature, isotonic, and platt with a ≥ 0; a
        histogram may decrease. Isotonic is constant beyond its outermost knots and may answer
        exactly 0 or 1; the logistic methods stay 1e-9 inside, a histogram further.

        >>> overconfident = fit([0.1, 0.9] * 50, [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 10)
        >>> overconfident.apply([0.1, 0.9]).round(3)
        array([0.2, 0.8])
        """
        if not isinstance(self.base_rate, tuple):
            q = pairs.as_probabilities(probability).astype(np.float64)
            return _evaluate(self.method, self.parameters[0], q)
        rows = pairs.as_class_probabilities(probability)
        if rows.shape[1] != len(self.base_rate):
            problem = f"{rows.shape[1]} columns, but fitted on {len(self.base_rate)} classes"
            raise InputError("probability", problem, "give one column for each of those classes")
        if self.method == "temperature":
            return np.asarray(softmax(_log(rows) / self.parameters[0]["temperature"], axis=1))
        columns = zip(self.parameters, rows.T, strict=True)
        mended = np.column_stack([_evaluate(self.method, own, q) for own, q in columns])
        # isotonic may find every class impossible: such a row keeps what it stated
        mended = np.where(mended.any(axis=1, keepdims=True), mended, rows)
        return np.asarray(mended / mended.sum(axis=1, keepdims=True))

    def to_dict(self) -> dict[str, JSON]:
        """The fields as plain JSON values, the form `from_dict` reads."""
        maps = cast(list[JSON], list(self.parameters))
        rate = self.base_rate
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "method": self.method,
            "parameters": {"one_versus_rest": maps} if len(maps) > 1 else maps[0],
            "fitted_on": {
                "n": number(self.n),
                "base_rate": list(rate) if isinstance(rate, tuple) else rate,
            },
            "signature": self.signature,
        }

    def to_json(self) -> str:
        """One line of JSON from which `from_json` gets identical bits."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_dict(cls, fields: JSON) -> "Recalibrator":
        """Reads what `to_dict` wrote; raises `InputError` on anything else."""
        if not isinstance(fields, dict) or fields.get("format") != FORMAT:
            raise _unreadable("format", f'is not "{FORMAT}"')
        version = fields.get("format_version")
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            raise _unreadable("format_version", f"{version!r} is not a version")
        if version > FORMAT_VERSION:
            problem = f"format version {version}: made by a newer Gnomon"
            raise InputError("recalibrator", problem, "upgrade")
        names = ("format", "format_version", "method", "parameters", "fitted_on", "signature")
        fields = _fields(fields, names, "recalibrator")
        method, own, signature = fields["method"], fields["parameters"], fields["signature"]
        if not isinstance(method, str) or method not in METHODS:
            raise _unreadable("method", f"{method!r} is not one of {', '.join(METHODS)}")
        if not isinstance(signature, str) or not signature:
            raise _unreadable("signature", "is not a text")
        fitted_on = _fields(fields["fitted_on"], ("n", "base_rate"), "fitted_on")
        n = _number(fitted_on["n"], "n", math.ulp(0), math.inf)
        if not isinstance(fitted_on["base_rate"], list):
            rate = _number(fitted_on["base_rate"], "base_rate", 0, 1)
            return cls(method, (_read_map(method, own),), n, rate, signature)
        rates = tuple(_numbers(fitted_on["base_rate"], "base_rate", 0, 1))
        maps = [own]
        if method != "temperature":
            listed = _fields(own, ("one_versus_rest",), "parameters")["one_versus_rest"]
            if not isinstance(listed, list) or len(listed) != len(rates):
                raise _unreadable("one_versus_rest", f"is not a list of {len(rates)} maps")
            maps = listed
        if len(rates) < 2:
            raise _unreadable("base_rate", "has fewer than two classes")
        return cls(method, tuple(_read_map(method, one) for one in maps), n, rates, signature)

    @classmethod
    def from_json(cls, text: str) -> "Recalibrator":
        """Reads what `to_json` wrote; raises `InputError` on anything else."""
        try:
            fields = json.loads(text)
        except (ValueError, TypeError, RecursionError):
            raise InputError("recalibrator", "not JSON", "give a file Gnomon wrote") from None
        return cls.from_dict(fields)


def fit(
    probability: ArrayLike,
    label: ArrayLike,
    *,
    method: str = "beta",
    weight: ArrayLike | None = None,
    bins: int = 15,
) -> Recalibrator:
    """Learns how to mend probabilities from rows whose labels are known.

    `probability` is N values in [0, 1] with 0/1 labels, or N×K with class indexes 0 … K−1, rows
    summing to 1 (within 0.001); `weight` ≥ 0 counts copies of a row; every label must occur.

    - `platt`: logit p = a logit(q) + b (Platt 1999), plain maximum likelihood, no smoothed targets
    - `beta`: logit p = a ln q − b ln(1−q) + c, with a, b ≥ 0 (Kull et al. 2017)
    - `temperature`: logit p = logit(q) / T (Guo et al. 2017); for K classes softmax(ln q / T)
    - `isotonic`: the best non-decreasing map, linear between its knots (Zadrozny & Elkan 2002)
    - `histogram`: the label mean in `bins` ≥ 1 bins of equal mass, ties kept together, with one
      row of the base rate added to each so that none is 0 or 1 (Zadrozny & Elkan 2001)

    The first three start from the identity and only ever lower the log loss, 0 and 1 counting as
    1e-9 and 1 − 1e-9. On separable data they stop where nothing more is gained, with slopes,
    intercepts and T at most 1000 in size (T at least 0.001). For K classes, all but temperature
    mend each class versus the rest, then divide by the sum.

    >>> fit([0.1, 0.9] * 50, [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 10, method="temperature").parameters
    ({'temperature': 1.58496...},)
    """
    if method not in METHODS:
        raise InputError("method", f"{method!r} is unknown", f"give one of {', '.join(METHODS)}")
    settings: dict[str, JSON] = {"method": method}
    if method == "histogram":
        settings["bins"] = bins = _whole(bins, "bins", 1)
    q, y, w = _rows(probability, label, weight)
    q, y, w = q[w > 0], y[w > 0], w[w > 0]
    rates: Array
    if q.ndim == 2 and method == "temperature":
        q, y, w = _collapse_rows(q, y, w)
        data, n = digest(q, y, w), w.sum()
        rates = np.bincount(y, w, minlength=q.shape[1]) / n
        _check_labels(rates.max() == 1, f"every row is of class {y[0]}")
        free = minimise(*softmax_loss(_log(q), y, w), LOGISTIC[method])
        maps: tuple[Parameters, ...] = ({"temperature": 1 / float(free[0])},)
    else:
        columns = [(q, y)] if q.ndim == 1 else [(c, 1 * (y == k)) for k, c in enumerate(q.T)]
        distinct = [_collapse(own_q, own_y, w) for own_q, own_y in columns]
        data, n = digest(*(array for one in distinct for array in one)), np.sum(distinct[0][1:])
        rates = np.array([positive.sum() / n for _, positive, _ in distinct])
        _check_labels(q.ndim == 1 and rates[0] in (0, 1), f"every label is {rates[0]:.0f}")
        _check_labels(not rates.all(), f"no row is of class {rates.argmin()}")
        maps = tuple(_learn(method, *one, bins) for one in distinct)
    signature = str(Signature("recalibrate", settings, None, data))
    base_rate = float(rates[0]) if q.ndim == 1 else tuple(rates.tolist())
    return Recalibrator(method, maps, float(n), base_rate, signature)


def cross_fit(
    probability: ArrayLike,
    label: ArrayLike,
    *,
    method: str = "beta",
    folds: int = 5,
    seed: int = 0,
    weight: ArrayLike | None = None,
    group: ArrayLike | None = None,
    bins: int = 15,
) -> Array:
    """Each row mended by a map fitted without it, to compare before and after honestly.

    Takes what `fit` takes, and `folds` from 2 to the number of rows (or groups), the labels spread
    evenly over them; rows of one `group` share a fold. The folds follow from `seed` and the order
    of the rows; with groups, from `seed` and the groups whatever the order. A weight is not split.

    >>> q, y = [0.1, 0.9] * 50, [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 10
    >>> cross_fit(q, y, method="platt", folds=10)[:2].round(1)
    array([0.2, 0.8])
    """
    q, y, w = _rows(probability, label, weight)
    folds, rng = _whole(folds, "folds", 2), np.random.default_rng(_whole(seed, "seed", 0))
    member = None
    if group is not None:
        member = np.unique(pairs.as_groups(group, len(y)), return_inverse=True)[1]
    units = len(y) if member is None else int(member.max()) + 1
    if folds > units:
        kind = "rows" if member is None else "groups"
        raise InputError("folds", f"{folds} folds for {units} {kind}", "give fewer folds")
    if member is None:
        shuffled = rng.permutation(len(y))
        fold = np.empty(len(y), np.intp)
        fold[shuffled[np.argsort(y[shuffled], kind="stable")]] = np.arange(len(y)) % folds
    else:
        fold = _deal_groups(member, y, folds, rng)[member]
    mended = np.empty_like(q)
    for k in np.unique(fold):
        rest = fold != k
        try:
            fitted = fit(q[rest], y[rest], method=method, weight=w[rest], bins=bins)
        except InputError as error:
            if error.where != "label":
                raise
            remedy = "give more rows of the rare labels, or fewer folds"
            raise InputError(f"label, without fold {k + 1}", error.problem, remedy) from None
        mended[~rest] = fitted.apply(q[~rest])
    return mended


def _deal_groups(member: Indexes, y: Indexes, folds: int, rng: np.random.Generator) -> Indexes:
    """The fold of each group: largest first, each to the fold that most lacks what it brings."""
    counts = np.zeros((int(member.max()) + 1, int(y.max()) + 1))
    np.add.at(counts, (member, y), 1)
    brings = counts / np.maximum(counts.sum(axis=0), 1)
    shuffled = rng.permutation(len(brings))
    load = np.zeros((folds, brings.shape[1]))
    fold = np.empty(len(brings), np.intp)
    for one in shuffled[np.argsort(-brings[shuffled].sum(axis=1), kind="stable")]:
        fold[one] = np.argmin(load @ brings[one])
        load[fold[one]] += brings[one]
    return fold


def _learn(method: str, q: Array, positive: Array, negative: Array, bins: int) -> Parameters:
    """One map's parameters, from distinct sorted predictions and the mass of each label at them."""
    if method in LOGISTIC:
        features = np.column_stack([_log(q), -_log(1 - q), np.ones_like(q)])
        family = LOGISTIC[method]
        free = minimise(*logistic_loss(features @ family.freedom, positive, negative), family)
        found = (1 / free if method == "temperature" else free).tolist()
        return dict(zip(family.names, found, strict=True))
    mass = positive + negative
    if method == "isotonic":
        value = np.clip(isotonic_regression(positive / mass, weights=mass).x, 0, 1)
        change = np.diff(value) != 0
        keep = np.r_[True, change] | np.r_[change, True]  # the two ends of each level stretch
        return {"knots": q[keep].tolist(), "values": value[keep].tolist()}
    upto = np.cumsum(mass)
    place = np.floor((upto - mass / 2) / upto[-1] * bins)  # a tie goes where its middle falls
    first = np.flatnonzero(np.diff(place, prepend=-1))
    below, above = q[first[1:] - 1], q[first[1:]]
    middle = (below + above) / 2
    edges = np.where(middle > below, middle, above)  # the middle of two neighbours is one of them
    rate = positive.sum() / upto[-1]
    values = (np.add.reduceat(positive, first) + rate) / (np.add.reduceat(mass, first) + 1)
    return {"edges": edges.tolist(), "values": values.tolist()}


def _evaluate(method: str, parameters: Parameters, q: Array) -> Array:
    if method in LOGISTIC:
        free = np.array([parameters[name] for name in LOGISTIC[method].names])
        a, b, c = LOGISTIC[method].freedom @ (1 / free if method == "temperature" else free)
        return np.asarray(np.clip(expit(a * _log(q) - b * _log(1 - q) + c), EDGE, 1 - EDGE))
    x, value = np.array(parameters[PLACES[method]]), np.array(parameters["values"])
    right = np.searchsorted(x, q, side="right")
    if method == "histogram":
        return np.asarray(value[right])
    left, right = np.maximum(right - 1, 0), np.minimum(right, len(x) - 1)
    width = np.where(right > left, x[right] - x[left], 1)
    share = np.clip((q - x[left]) / width, 0, 1)
    # the minimum: a rounding error above the next knot would make the map decrease there
    return np.asarray(np.minimum(value[left] + share * (value[right] - value[left]), value[right]))


def _collapse(q: Array, y: Indexes, w: Array) -> tuple[Array, Array, Array]:
    """The distinct predictions, sorted, with the mass of label 1 and of label 0 at each."""
    order = np.lexsort((w, y, q))
    q, y, w = q[order], y[order], w[order]
    first = np.flatnonzero(np.diff(q, prepend=-1))
    return q[first], np.add.reduceat(w * y, first), np.add.reduceat(w * (1 - y), first)


def _collapse_rows(q: Array, y: Indexes, w: Array) -> tuple[Array, Indexes, Array]:
    """The distinct rows of N×K predictions with a class, sorted, with the mass of each."""
    order = np.lexsort((w, y, *q.T))
    q, y, w = q[order], y[order], w[order]
    new = (np.diff(q, axis=0) != 0).any(axis=1) | (np.diff(y) != 0)
    first = np.flatnonzero(np.r_[True, new])
    return q[first], y[first], np.add.reduceat(w, first)


def _log(q: Array) -> Array:
    return np.asarray(np.log(np.maximum(q, EDGE)))


def _rows(
    probability: ArrayLike, label: ArrayLike, weight: ArrayLike | None
) -> tuple[Array, Indexes, Array]:
    """Checked predictions (N or N×K), labels and weights, in the caller's order."""
    pairs.check_aligned([(probability, "probability"), (label, "label"), (weight, "weight")])
    try:
        wide = np.ndim(probability) == 2
    except ValueError:  # rows of different lengths: as_pairs says so
        wide = False
    if wide:
        q = pairs.as_class_probabilities(probability)
        y = pairs.as_classes(label, [str(k) for k in range(q.shape[1])], len(q))
    else:
        both = pairs.as_pairs(probability, label)
        q, y = both.q.astype(np.float64) + 0.0, both.y.astype(np.intp)  # + 0.0: no −0.0
    w = np.ones(len(y)) if weight is None else pairs.as_weights(weight)
    if len(w) != len(y) or not w.any():
        problem = f"{len(w)} weights for {len(y)} rows" if w.any() else "every weight is zero"
        raise InputError("weight", problem, "give one for each row, at least one of them positive")
    return q, y, w


def _check_labels(wrong: bool | np.bool_, problem: str) -> None:
    if wrong:
        raise InputError("label", problem, "give rows of every label: what is absent has no rate")


def _whole(value: int, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(name, f"{value!r} is out of range", f"give a whole number from {least} up")
    return int(value)


def _unreadable(field: str, problem: str) -> InputError:
    return InputError("recalibrator", f"{field} {problem}", "give a file Gnomon wrote, unchanged")


def _fields(value: JSON, names: tuple[str, ...], where: str) -> dict[str, JSON]:
    if not isinstance(value, dict) or set(value) != set(names):
        raise _unreadable(where, f"does not have exactly the fields {', '.join(names)}")
    return value


def _number(value: JSON, name: str, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _unreadable(name, f"{value!r} is not a number")
    if not (low <= value <= min(high, sys.float_info.max)):  # true for NaN too
        raise _unreadable(name, f"{value!r} is not a number from {low:g} to {high:g}")
    return float(value)


def _numbers(value: JSON, name: str, low: float, high: float) -> list[float]:
    if not isinstance(value, list):
        raise _unreadable(name, "is not a list")
    return [_number(one, name, low, high) for one in value]


def _read_map(method: str, value: JSON) -> Parameters:
    if method in LOGISTIC:
        family = LOGISTIC[method]
        own = _fields(value, family.names, "parameters")
        bounds = zip(family.names, family.low, strict=True)
        return {name: _number(own[name], name, low, LIMIT) for name, low in bounds}
    places = PLACES[method]
    own = _fields(value, (places, "values"), "parameters")
    x, values = _numbers(own[places], places, 0, 1), _numbers(own["values"], "values", 0, 1)
    if len(values) != len(x) + (method == "histogram") or not values:
        raise _unreadable(places, f"are {len(x)}, which does not fit {len(values)} values")
    if (np.diff(x) <= 0).any():
        raise _unreadable(places, "are not in increasing order")
    if method == "isotonic" and (np.diff(values) < 0).any():
        raise _unreadable("values", "are not in increasing order")
    return {places: x, "values": values}

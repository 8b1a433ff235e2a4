"""Text classifiers over binary unigrams: Bernoulli Naive Bayes and L2 logistic regression.

A text becomes lower-cased tokens (`tokenize`), the tokens 0/1 features (`unigrams`), and the
features a probability (`TextClassifier` from texts; `cross_fit` from features, to predict every
text by a model that did not see it). Both models come from scikit-learn, imported when first
needed.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from gnomon.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_URL = r"""
    (?: https?:// | www\. ) \S* [^\s.,;:!?'"()\[\]{}<>]
  | (?<![\w.@-]) (?: [\w-]+ \. )+
    (?: (?: com|org|net|edu|gov|info|tv|fm|co\.uk ) (?!\w) (?: /\S* [\w/] | / )?
      | [a-z]{2,4} /\S* \w )
"""
_EMOTICON = r"""
    [:;=] '? [-^]? (?P<MOUTH> [()\[\]{}|/\\@*] ) (?P=MOUTH)*  # :) ;-) =] :'( :/ :)))
  | (?<!\d) [:;=] [-^]? (?: [dop]+ | [bsx3] ) (?!\w)   # :d :-p ;o :3, but not the 3 of 10:3
  | (?<!\S) [()\[\]]+ [-^]? [:;=] (?!\w)               # (: after a space, but not the end of (a):
  | </?3+                                              # hearts
  | \^ [_.o-]* \^ | > [_.]+ < | - [_.]+ -+             # ^_^ >.< -_-
  | (?P<EYE> [.;@'*~=] ) _+ (?P=EYE)                   # ;_; @_@
"""
_TOKEN = re.compile(
    rf"""
    {_URL}
  | (?<![\w.+-]) [\w.+-]+ @ [\w-]+ (?: \. [\w-]+ )+    # e-mail address
  | {_EMOTICON}
  | @ \w+                                              # mention
  | \# \w* [^\W\d_] \w*                                # tag
  | [$£€#]? \d+ (?: [.,:/] \d+ )+ %?                   # 1,000 10:30 2.5%
  | [$£€#]? \d+ %? (?!\w)                              # 7 $5 50% #1
  | (?<!\w) [a-z] (?: \. [a-z] )+ \.? (?!\w)           # u.s. a.m.
  | \w+ \*+ \w+                                        # a word with letters starred out
  | \w+ (?: ' \w+ )*                                   # word, contraction, elongation
  | (?<![-=]) <?[-=]+> | <[-=]+                        # arrow
  | [!?]{{2,}}                                         # ?! !!! ?!?!
  | (?P<SAME> [^\w\s] ) (?P=SAME)*                     # other punctuation, a run of one sign
    """,
    re.VERBOSE,
)
_IS_URL = re.compile(_URL, re.VERBOSE)


def tokenize(text: str) -> list[str]:
    """The lower-cased tokens of a tweet or other informal English text.

    URLs, e-mail addresses, @mentions, #tags, emoticons, numbers with their signs, contractions and
    runs of punctuation are one token each; elongations stay as they were written; HTML entities
    are read as the characters they stand for.

    >>> tokenize("@kim can't waaait!!! 2 tix &amp; $5 off :-) #win http://ex.am/ple.")
    ['@kim', "can't", 'waaait', '!!!', '2', 'tix', '&', '$5', 'off', ':-)', '#win',
     'http://ex.am/ple', '.']
    """
    plain = unicodedata.normalize("NFC", html.unescape(text)).replace("\u2019", "'").lower()
    return [match.group() for match in _TOKEN.finditer(plain)]


def same_text(documents: Sequence[Sequence[str]]) -> NDArray[np.intp]:
    """A group number for each tokenised document: equal where only mentions or URLs differ.

    Copies of one tweet addressed to different people get one number, so that a split by number
    never has a copy on both sides.

    >>> same_text([["@kim", "hello"], ["hello", "@lee"], ["@lee", "hello"]])
    array([0, 1, 0])
    """
    numbers: dict[tuple[str, ...], int] = {}
    keys = (tuple(map(_without_address, document)) for document in documents)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


def deal(
    groups: NDArray[np.intp], labels: NDArray[np.uint8], parts: int, *, seed: int
) -> NDArray[np.intp]:
    """Deals documents into `parts` parts of equal size and equal label mix, groups kept together.

    Needs at least `parts` groups of each label, so that every part holds both.

    >>> deal(np.array([0, 0, 1, 2, 3]), np.array([0, 0, 0, 1, 1], np.uint8), 2, seed=0)
    array([1, 1, 0, 0, 1])
    """
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    label = labels[first]
    fewest = min(np.count_nonzero(label == 0), np.count_nonzero(label == 1))
    if parts < 2 or fewest < parts:
        raise InputError(
            "texts",
            f"{fewest} different texts of the rarer label cannot be dealt into {parts} parts",
            f"give 2 to {fewest} parts" if fewest >= 2 else "give more texts of that label",
        )
    order = np.lexsort((np.random.default_rng(seed).permutation(len(first)), label))
    part = np.empty(len(first), dtype=np.intp)
    part[order] = np.arange(len(first)) % parts
    return part[group]


@dataclass(frozen=True)
class Family:
    """A kind of model: its name, its one hyperparameter and the values tried, strongest first.

    "Strongest" is the most smoothing or regularisation; it wins where values do equally well.
    """

    name: str
    hyperparameter: str
    grid: tuple[float, ...]
    estimator: Callable[[float], Any]


def _bernoulli_naive_bayes(alpha: float) -> Any:
    try:
        from sklearn.naive_bayes import BernoulliNB
    except ImportError as error:
        raise MissingExtra("text", "scikit-learn") from error
    return BernoulliNB(alpha=alpha)


def _logistic_regression(C: float) -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingExtra("text", "scikit-learn") from error
    # L2 is the default penalty. On 80,000 tweets liblinear takes a quarter of lbfgs' time and stops
    # nearer the optimum: it penalises the intercept too, which moves no probability by 0.001.
    return LogisticRegression(C=C, solver="liblinear", tol=1e-5, max_iter=1000)


FAMILIES: Mapping[str, Family] = {
    "naive-bayes": Family(
        "naive-bayes", "alpha", (20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05), _bernoulli_naive_bayes
    ),
    "logistic-regression": Family(
        "logistic-regression", "C", (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5), _logistic_regression
    ),
}


def unigrams(documents: Sequence[Sequence[str]]) -> tuple["csr_matrix", Any]:
    """The 0/1 matrix of which document has which token, and the vectoriser that makes more rows.

    >>> unigrams([["so", "so", "good"], ["good"]])[0].toarray()
    array([[1., 1.],
           [1., 0.]])
    """
    try:
        from sklearn.feature_extraction.text import CountVectorizer
    except ImportError as error:
        raise MissingExtra("text", "scikit-learn") from error
    if not any(documents):
        raise InputError("texts", "there is not one word in them", "give texts with words")
    vectorizer = CountVectorizer(analyzer=list, binary=True, dtype=np.float64)
    return vectorizer.fit_transform(documents), vectorizer


@dataclass(frozen=True)
class Fitted:
    """A fitted model, the hyperparameter chosen, and the F1 each value had in development."""

    family: Family
    value: float
    columns: NDArray[np.bool_]
    estimator: Any
    development_f1: Mapping[float, float] = field(default_factory=dict)

    def probabilities(self, features: "csr_matrix") -> NDArray[np.float64]:
        """P(label = 1) for each row; `features` has the columns the model was fitted with."""
        return np.asarray(
            self.estimator.predict_proba(features[:, self.columns])[:, 1], dtype=np.float64
        )


def fit(
    family: Family,
    features: "csr_matrix",
    labels: NDArray[np.uint8],
    development: NDArray[np.bool_],
    *,
    grid: Sequence[float] | None = None,
) -> Fitted:
    """Chooses the hyperparameter by F1 on the development rows, then fits that value on all rows.

    While choosing, models are fitted on the rows outside `development` only. A grid of one value
    needs no development rows.
    """
    values = _as_grid(family, grid)
    scores: dict[float, float] = {}
    if len(values) > 1:
        training = features[~development], labels[~development]
        held_out = features[development]
        for value in values:
            probabilities = fit_value(family, value, *training).probabilities(held_out)
            scores[value] = f1(probabilities > 0.5, labels[development])
    best = max(values, key=lambda value: scores.get(value, 0.0))  # the first, strongest, of equals
    return replace(fit_value(family, best, features, labels), development_f1=scores)


def fit_value(
    family: Family, value: float, features: "csr_matrix", labels: NDArray[np.uint8]
) -> Fitted:
    """Fits one value of the hyperparameter. Features that no row has are left out of the model."""
    estimator = family.estimator(value)
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    columns = np.asarray(features.getnnz(axis=0) > 0)
    # liblinear's vector products are too short for more than one thread: several wait on each
    # other, seven times slower on a busy machine, and their number would change the last digits.
    with threadpool_limits(1, user_api="blas"):
        estimator.fit(features[:, columns], labels)
    return Fitted(family, value, columns, estimator)


@dataclass(frozen=True)
class CrossFitted:
    """For every row, what a model says that saw neither it nor the rest of its part."""

    probability: NDArray[np.float64]
    values: tuple[float, ...]
    development_f1: NDArray[np.float64]


def cross_fit(
    family: Family,
    features: "csr_matrix",
    labels: NDArray[np.uint8],
    part: NDArray[np.intp],
    *,
    learn: NDArray[np.bool_] | None = None,
    grid: Sequence[float] | None = None,
    step: Callable[[], None] = lambda: None,
) -> CrossFitted:
    """Predicts each part of the rows by a model fitted on the others.

    The model's hyperparameter is chosen by cross-validation among the other parts: the value with
    the best F1 when each of them is predicted from the rest of them. `part` numbers the parts from
    0, at least three; `learn` marks the rows to fit on and to choose by (all, if it is not given).
    `step` is called after each pair of parts and after each part. The result has the value chosen
    for each part and the F1 (parts × values) it was chosen by.
    """
    values, parts = _as_grid(family, grid), int(part.max()) + 1
    if parts < 3:
        raise InputError("parts", f"{parts} are too few", "give three or more")
    usable = np.ones(len(labels), dtype=np.bool_) if learn is None else learn
    rows = [np.flatnonzero((part == each) & usable) for each in range(parts)]
    held_out = [features[each] for each in rows]
    twice_right, total = np.zeros((2, parts, len(values)))
    # A model that saw neither a nor b serves twice: to choose for a by b, and for b by a.
    for a, b in combinations(range(parts), 2):
        training = np.flatnonzero((part != a) & (part != b) & usable)
        x, y = features[training], labels[training]
        for column, value in enumerate(values):
            model = fit_value(family, value, x, y)
            for target, judge in ((a, b), (b, a)):
                predicted = model.probabilities(held_out[judge]) > 0.5
                truth = labels[rows[judge]] == 1
                twice_right[target, column] += 2 * np.count_nonzero(predicted & truth)
                total[target, column] += np.count_nonzero(predicted) + np.count_nonzero(truth)
        step()
    scores = twice_right / np.maximum(total, 1)
    chosen = tuple(values[best] for best in scores.argmax(axis=1))
    probability = np.empty(len(labels))
    for each, value in enumerate(chosen):
        training = np.flatnonzero((part != each) & usable)
        model = fit_value(family, value, features[training], labels[training])
        probability[part == each] = model.probabilities(features[part == each])
        step()
    return CrossFitted(probability, chosen, scores)


def f1(predicted: ArrayLike, labels: ArrayLike) -> float:
    """The harmonic mean of precision and recall on label 1; 0 where nothing is right.

    >>> f1([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """
    p, y = np.asarray(predicted, dtype=np.bool_), np.asarray(labels, dtype=np.bool_)
    return 2 * int(np.count_nonzero(p & y)) / max(1, int(p.sum()) + int(y.sum()))


class TextClassifier:
    """A binary classifier of texts that says how probable label 1 is.

    `family` is "naive-bayes" or "logistic-regression"; its hyperparameter is chosen from `grid`
    (the family's own if none is given) by F1 on one part in `parts` of the training texts, and the
    model then fitted on all of them. `seed` decides which texts are that part.

    >>> texts = ["good day", "a good one", "very good", "bad day", "a bad one", "very bad"]
    >>> model = TextClassifier("naive-bayes", grid=[1.0]).fit(texts, [1, 1, 1, 0, 0, 0])
    >>> model.probabilities(["a good day", "bad"]).round(2)
    array([0.94, 0.06])
    """

    def __init__(
        self,
        family: str = "logistic-regression",
        *,
        grid: Sequence[float] | None = None,
        parts: int = 5,
        seed: int = 0,
    ) -> None:
        if family not in FAMILIES:
            raise InputError(
                f"family {family!r}",
                "there is no such model",
                f"give one of: {', '.join(sorted(FAMILIES))}",
            )
        self.family = FAMILIES[family]
        self.grid = self.family.grid if grid is None else tuple(grid)
        self.parts = parts
        self.seed = seed
        self._fitted: tuple[Fitted, Any] | None = None

    def fit(self, texts: Sequence[str], labels: ArrayLike) -> "TextClassifier":
        """Learns from texts and their labels, 0 or 1, of which both must occur."""
        y = _as_labels(labels, len(_as_texts(texts)))
        if y.min() == y.max():
            raise InputError("labels", f"all are {y[0]}", "give texts of both labels")
        documents = [tokenize(text) for text in texts]
        features, vectorizer = unigrams(documents)
        development = np.zeros(len(y), dtype=np.bool_)
        if len(self.grid) > 1:
            development = deal(same_text(documents), y, self.parts, seed=self.seed) == 0
        self._fitted = fit(self.family, features, y, development, grid=self.grid), vectorizer
        return self

    @property
    def fitted(self) -> Fitted:
        """The model as fitted, with the hyperparameter chosen."""
        return self._state()[0]

    def probabilities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """P(label = 1) for each text."""
        model, vectorizer = self._state()
        documents = [tokenize(text) for text in _as_texts(texts)]
        return model.probabilities(vectorizer.transform(documents))

    def predictions(self, texts: Sequence[str], labels: ArrayLike) -> pl.DataFrame:
        """The columns `probability` and `label`, as calibration takes them."""
        label = _as_labels(labels, len(_as_texts(texts)))
        return pl.DataFrame({"probability": self.probabilities(texts), "label": label})

    def _state(self) -> tuple[Fitted, Any]:
        if self._fitted is None:
            raise InputError("TextClassifier", "it has learnt nothing yet", "call fit first")
        return self._fitted


def _as_grid(family: Family, grid: Sequence[float] | None) -> tuple[float, ...]:
    values = tuple(family.grid if grid is None else grid)
    if not values or not all(value > 0 for value in values):
        raise InputError(
            family.hyperparameter, f"cannot be chosen from {list(values)}", "give positive values"
        )
    return values


def _without_address(token: str) -> str:
    if token[0] == "@" and len(token) > 1:
        return "@"
    return "http://" if _IS_URL.fullmatch(token) else token


def _as_texts(texts: Sequence[str]) -> Sequence[str]:
    if isinstance(texts, str):
        raise InputError("texts", "one text on its own", "give a list of texts")
    if len(texts) == 0:
        raise InputError("texts", "there are none", "give at least one text")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"texts, row {row + 1}", f"{text!r} is not a text", "give strings")
    return texts


def _as_labels(labels: ArrayLike, rows: int) -> NDArray[np.uint8]:
    array = np.asarray(labels)
    if array.shape != (rows,):
        raise InputError(
            "labels", f"shape {array.shape} for {rows} texts", "give one label for each text"
        )
    wrong = np.flatnonzero((array != 0) & (array != 1))
    if len(wrong):
        raise InputError(
            f"labels, row {wrong[0] + 1}", f"{array[wrong[0]]!s} is not a label", "give 0 or 1"
        )
    return array.astype(np.uint8)

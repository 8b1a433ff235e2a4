"""Maps that are linear in the logits, and fitting them where plain optimisers fail.

Saturated predictions and separable data make the log loss too flat, or its optimum infinite, for
ready-made optimisers; these steps are damped and bounded.
"""

from collections.abc import Callable
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp

Array: TypeAlias = NDArray[np.float64]
Indexes: TypeAlias = NDArray[np.intp]
Derivatives: TypeAlias = Callable[[Array], tuple[float, Array, Array]]

LIMIT = 1000.0  # bound on slopes, intercepts and temperatures: separable data has no finite optimum


class Logistic(NamedTuple):
    """One way to set a, b, c in logit p = a ln q − b ln(1−q) + c: `freedom` @ free numbers."""

    names: tuple[str, ...]
    identity: list[float]
    low: list[float]
    freedom: list[list[float]]


LOGISTIC = {
    "platt": Logistic(("a", "b"), [1, 0], [-LIMIT, -LIMIT], [[1, 0], [1, 0], [0, 1]]),
    "beta": Logistic(("a", "b", "c"), [1, 1, 0], [0, 0, -LIMIT], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    "temperature": Logistic(("temperature",), [1], [1 / LIMIT], [[1], [1], [0]]),  # free: 1/T
}


def logistic_loss(features: Array, positive: Array, negative: Array) -> tuple[Derivatives, Array]:
    """The mean log loss with its derivatives, and the most curved it can be."""
    mass = positive + negative
    total = mass.sum()

    def derivatives(x: Array) -> tuple[float, Array, Array]:
        score = features @ x
        p, not_p = expit(score), expit(-score)
        loss = -(positive @ log_expit(score) + negative @ log_expit(-score)) / total
        gradient = features.T @ (negative * p - positive * not_p) / total
        return float(loss), gradient, (features.T * (mass * p * not_p / total)) @ features

    return derivatives, (features.T * (mass / (4 * total))) @ features


def softmax_loss(log_q: Array, y: Indexes, w: Array) -> tuple[Derivatives, Array]:
    """The same of softmax(x log q), where the variance of log q is at most its range² / 4."""
    chosen = log_q[np.arange(len(y)), y]

    def derivatives(x: Array) -> tuple[float, Array, Array]:
        top = logsumexp(log_q * x, axis=1)
        p = np.exp(log_q * x - top[:, None])
        mean = (p * log_q).sum(axis=1)
        spread = (p * (log_q - mean[:, None]) ** 2).sum(axis=1)
        loss, slope, curvature = np.array([top - chosen * x, mean - chosen, spread]) @ w / w.sum()
        return float(loss), np.array([slope]), np.array([[curvature]])

    return derivatives, np.array([[np.ptp(log_q, axis=1) ** 2 @ w / w.sum() / 4]])


def minimise(derivatives: Derivatives, ceiling: Array, family: Logistic) -> Array:
    """The lowest point of a convex loss within bounds, by Newton steps damped where they fail.

    `ceiling` is at least as curved as the loss anywhere, so that a fully damped step cannot fail
    (Böhning & Lindsay 1988); saturated predictions make the loss too flat for plain steps.
    """
    x, low = np.array(family.identity, np.float64), np.array(family.low)
    value, gradient, hessian = derivatives(x)
    damping = 0.0
    for _ in range(500):
        curvature = (1 - damping) * hessian + damping * ceiling
        ahead = np.clip(x + _bounded_step(gradient, curvature, low - x, LIMIT - x), low, LIMIT)
        gain = float(gradient @ (x - ahead))
        reached = derivatives(ahead)
        if reached[0] <= value - 1e-4 * gain + 1e-14:  # 1e-14: rounding
            x, (value, gradient, hessian) = ahead, reached
            if damping == 0 and gain <= 1e-12:
                break
            damping = damping / 10 if damping > 1e-4 else 0.0
        elif damping < 1:
            damping = min(1.0, 10 * max(damping, 1e-5))
        else:
            break
    return x


def _bounded_step(gradient: Array, curvature: Array, low: Array, high: Array) -> Array:
    """The step within bounds to the lowest point of a parabola, the shortest where it is flat."""
    scale = np.sqrt(np.diag(curvature))
    scale[scale == 0] = 1
    scaled = curvature / np.outer(scale, scale)
    best, lowest = np.zeros_like(gradient), 0.0
    for held in product((0, -1, 1), repeat=len(gradient)):  # at most 27 sets of active bounds
        at = np.array(held)
        step = np.select([at < 0, at > 0], [low, high])
        free = at == 0
        if free.any():
            slope = ((gradient + curvature @ step) / scale)[free]
            square = scaled[np.ix_(free, free)]
            step[free] = -np.linalg.lstsq(square, slope, rcond=1e-13)[0] / scale[free]
        inside = np.clip(step, low, high)
        value = float(gradient @ inside + inside @ curvature @ inside / 2)
        if value < lowest:
            best, lowest = inside, value
        if free.all() and (inside == step).all():
            break
    return best

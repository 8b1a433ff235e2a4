"""Estimates print themselves and become JSON; signatures change with whatever changes a result."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from gnomon import __version__
from gnomon.estimate import Estimate, Signature, digest, number

ESTIMATE = Estimate(0.04123, 0.03, 0.0498, 0.95, "score", 2000.0)
SIGNATURE = Signature("calibrate", {"level": 0.95, "draws": None}, seed=0, data="5f", version="1")


def test_estimate_prints_its_interval() -> None:
    assert str(ESTIMATE) == "0.0412 [0.0300, 0.0498]"


def test_estimate_fields_under_their_names() -> None:
    assert ESTIMATE.to_dict() == {
        "value": 0.04123, "low": 0.03, "high": 0.0498, "level": 0.95, "method": "score", "n": 2000,
    }  # fmt: skip


def test_debiased_is_there_only_where_it_has_a_meaning() -> None:
    assert "debiased" not in ESTIMATE.to_dict()
    assert replace(ESTIMATE, debiased=0.0).to_dict()["debiased"] == 0


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_number_is_a_json_number_of_the_same_value(value: float) -> None:
    text = json.dumps(number(value), allow_nan=False)
    if np.isfinite(value):
        assert json.loads(text) == value
    else:
        assert text == "null"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3.0, "3"), (-0.0, "0"), (2.0**53, "9007199254740992.0"), (0.5, "0.5"), (np.float32(2), "2")],
)
def test_number_is_whole_where_it_is_whole(value: float, expected: str) -> None:
    assert json.dumps(number(value)) == expected


def test_signature_text_holds_every_field() -> None:
    assert str(SIGNATURE) == "calibrate|draws:none|level:0.95|seed:0|data:5f|gnomon:1"


@pytest.mark.parametrize(
    "change",
    [
        {"job": "compare"},
        {"settings": {"level": 0.9, "draws": None}},
        {"settings": {"level": 0.95, "draws": 0}},
        {"settings": {"level": 0.95}},
        {"settings": {"level": 0.95, "draws": None, "bin_size": "auto"}},
        {"seed": None},
        {"seed": 1},
        {"data": "60"},
        {"version": "2"},
    ],
)
def test_signature_changes_with_any_field(change: dict[str, Any]) -> None:
    assert str(replace(SIGNATURE, **change)) != str(SIGNATURE)


def test_seed_zero_is_a_seed() -> None:
    assert "seed:0" in str(SIGNATURE)
    assert "seed:none" in str(replace(SIGNATURE, seed=None))


def test_settings_in_any_order_sign_the_same() -> None:
    turned = {"draws": None, "level": 0.95}
    assert str(replace(SIGNATURE, settings=turned)) == str(SIGNATURE)


def test_version_is_the_packages() -> None:
    assert Signature("calibrate", {}, 0, "5f").version == __version__


def test_signature_is_json() -> None:
    fields = json.loads(json.dumps(SIGNATURE.to_dict(), allow_nan=False))
    assert fields["text"] == str(SIGNATURE)
    assert fields["seed"] == 0
    assert fields["settings"] == {"level": 0.95, "draws": None}


@given(hnp.arrays(np.float64, st.integers(0, 6), elements=st.floats(0, 1)))
def test_digest_depends_on_values_only(values: NDArray[np.float64]) -> None:
    assert digest(values) == digest(values.copy())
    assert len(digest(values)) == 16
    assert digest(values) != digest(np.append(values, 0.5))
    assert digest(values) != digest(values.astype(np.float32))
    assert digest(values) == digest(np.repeat(values, 2)[::2])  # not contiguous


def test_digest_tells_where_one_array_ends() -> None:
    a = np.arange(4.0)
    assert len({digest(a), digest(a[:2], a[2:]), digest(a[:1], a[1:]), digest(a, a[:0])}) == 4
    assert digest(a[:2], a[2:]) != digest(a[2:], a[:2])
    assert digest(a.reshape(2, 2)) != digest(a)
    assert digest(np.array(["ab", "c"])) != digest(np.array(["a", "bc"]))

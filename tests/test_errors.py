"""Errors a person can act on: one line, every part kept, and fit to travel between processes."""

import pickle

import pytest

import gnomon
from gnomon.errors import GnomonError, InputError, MissingExtra


def test_input_error_is_one_line_of_three_parts() -> None:
    error = InputError("scores.csv, row 3", "1.2 is not a probability", "give 0 to 1")
    assert str(error) == "scores.csv, row 3: 1.2 is not a probability; give 0 to 1"
    assert (error.where, error.problem, error.remedy) == error.args
    assert isinstance(error, GnomonError)
    assert isinstance(error, ValueError)


def test_missing_extra_names_the_install_that_helps() -> None:
    error = MissingExtra("text", "scikit-learn")
    assert str(error) == 'scikit-learn is not installed; run: pip install "gnomon[text]"'
    assert (error.extra, error.package) == ("text", "scikit-learn")
    assert isinstance(error, GnomonError)
    assert isinstance(error, ImportError)


@pytest.mark.parametrize(
    "error", [InputError("here", "wrong", "mend it"), MissingExtra("web", "starlette")]
)
def test_errors_survive_pickling(error: GnomonError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize("name", gnomon.__all__)
def test_public_names_load(name: str) -> None:
    assert getattr(gnomon, name).__name__ == name
    assert name in dir(gnomon)


def test_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'gnomon' has no attribute 'nonsense'"):
        _ = gnomon.nonsense

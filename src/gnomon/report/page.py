"""Calibration results as one HTML file that opens without a network."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, cast

from gnomon import __version__
from gnomon.calibration.analyse import Calibration
from gnomon.calibration.compare import Comparison
from gnomon.calibration.groups import Groups
from gnomon.calibration.multiclass import Multiclass
from gnomon.charts.save import scripts, security_policy
from gnomon.charts.theme import COLOURS
from gnomon.charts.words import decimal
from gnomon.errors import InputError
from gnomon.report import sections
from gnomon.report.glossary import MEANINGS
from gnomon.report.sections import Section

if TYPE_CHECKING:
    from jinja2 import Template

MOST_MODELS = len(COLOURS)  # that one chart can tell apart
Result = Calibration | Groups | Comparison | Multiclass


def calibration_page(results: Result | Mapping[str, Result], *, title: str = "Calibration") -> str:
    """One result, or several by name, as a self-contained HTML page.

    It holds the headline in words, the charts (interactive, and still where scripts do not run),
    the tables behind them, what each number means, and the signatures. Groups of several models
    share a chart; several results for the same predictions are put side by side first. The same
    results give the same page.

    >>> from gnomon import calibrate
    >>> page = calibration_page(calibrate([0.2, 0.4, 0.7, 0.9], [0, 1, 1, 1]), title="Tagger")
    >>> print(page.splitlines()[0], "<h1>Tagger</h1>" in page)
    <!doctype html> True
    """
    from markupsafe import Markup

    found = _sections(results)
    terms = dict.fromkeys(term for section in found for term in section.terms)
    return _template().render(
        title=title.encode(errors="replace").decode(),  # a file's name need not be text
        sections=found,
        glossary={term: meaning for term, meaning in MEANINGS.items() if term in terms},
        version=__version__,
        policy=Markup(security_policy()),
        scripts=[Markup(script) for script in scripts()],
        safe=Markup,
    )


def _sections(results: Result | Mapping[str, Result]) -> list[Section]:
    if isinstance(results, Calibration):
        return [sections.calibration(results, "Summary")]
    if isinstance(results, Groups):
        return [sections.groups({"": results}, "Group by group")]
    if isinstance(results, Comparison):
        models = zip(results.names, (results.first, results.second), strict=True)
        both = sections.comparison(results, "Comparison")
        return [both, *(sections.calibration(model, name) for name, model in models)]
    if isinstance(results, Multiclass):
        right = f"The most probable class (right with frequency {decimal(results.accuracy)})"
        top = sections.calibration(results.top, right)
        return [top, sections.groups({"": results.classes}, "Class by class")]
    if not results:
        raise InputError("results", "there are none", "give one or more, each under its name")
    if 1 < len(results) <= MOST_MODELS and all(isinstance(r, Groups) for r in results.values()):
        return [sections.groups(cast(Mapping[str, Groups], results), "Group by group")]
    found = []
    if len(results) > 1 and all(isinstance(r, Calibration) for r in results.values()):
        curves = cast(Mapping[str, Calibration], results)
        if len({each.signature.data for each in curves.values()}) == 1:
            found.append(sections.binnings(curves))
    for name, each in results.items():
        if isinstance(each, Calibration):
            found.append(sections.calibration(each, name))
        elif isinstance(each, Groups):
            found.append(sections.groups({"": each}, name))
        else:
            found += _sections(each)
    return found


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    text = files("gnomon.report").joinpath("page.html.jinja").read_text(encoding="utf-8")
    return environment.from_string(text)

"""Results as pictures: one module per kind of result, each result → an Altair chart.

No statistics are done here: a chart shows what the result already holds. Altair and vl-convert are
imported when a chart is first drawn, so that importing this package is quick.
"""

from gnomon.charts.calibration import (
    binnings_chart,
    chart_of,
    comparison_chart,
    curve_chart,
    groups_chart,
)
from gnomon.charts.save import save

__all__ = ["binnings_chart", "chart_of", "comparison_chart", "curve_chart", "groups_chart", "save"]

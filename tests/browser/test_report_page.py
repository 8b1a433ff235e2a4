"""Pages in a real browser without a network: the charts are drawn, and nothing complains."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gnomon import calibrate, calibrate_groups, compare
from gnomon.charts import curve_chart, save
from gnomon.report import calibration_page

Q = np.random.default_rng(0).random(2000)
Y = np.random.default_rng(1).random(2000) < Q**2
SWITCHES = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--virtual-time-budget=20000",
    "--enable-logging=stderr",
]


@dataclass(frozen=True)
class Visit:
    """What a browser made of a page, and what it had to say about it."""

    page: str
    log: str

    @property
    def complaints(self) -> list[str]:
        """Whatever was written to the console: errors, refusals, warnings."""
        return [line for line in self.log.splitlines() if "CONSOLE" in line]

    def marks(self, kind: str, shape: str = "path") -> int:
        """How many marks of a kind the charts on the page hold."""
        groups = re.findall(rf'<g class="mark-{kind} role-mark[^>]*>(.*?)</g>', self.page, re.S)
        return sum(group.count(f"<{shape}") for group in groups)


def visit(browser: str, file: Path, *more: str) -> Visit:
    """Opens a file with a fresh profile, and waits until its scripts have run."""
    profile = file.parent / "profile"
    command = [browser, *SWITCHES, *more, f"--user-data-dir={profile}", "--dump-dom", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=True)
    return Visit(done.stdout, done.stderr)


def test_the_chart_of_a_calibration_is_drawn(browser: str, tmp_path: Path) -> None:
    result = calibrate(Q, Y)
    file = tmp_path / "page.html"
    file.write_text(calibration_page(result, title="predictions.csv"))
    seen = visit(browser, file)
    assert seen.complaints == []
    assert '<figure data-chart="chart-1" class="drawn">' in seen.page
    assert seen.marks("symbol") >= len(result.bins)
    assert seen.marks("rule", "line") >= len(result.bins)
    assert seen.marks("line") >= 3  # the diagonal, the smooth curve, the steps
    assert "observed frequency" in seen.page


def test_all_charts_of_a_long_page_are_drawn(browser: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(
        calibration_page(
            {
                "both": compare(Q, np.sqrt(Q), Y, names=("first", "second")),
                "groups": calibrate_groups(Q, Y, [f"group {k % 30}" for k in range(len(Q))]),
                "2,000 bins": calibrate(Q, Y, bin_size=1),
            },
            title="all",
        )
    )
    seen = visit(browser, file)
    assert seen.complaints == []
    assert len(re.findall(r'<figure data-chart="chart-\d" class="drawn">', seen.page)) == 5
    assert seen.marks("symbol") >= 2000


def test_hostile_names_run_nothing(browser: str, tmp_path: Path) -> None:
    attack = "document.title='taken'"
    names = [
        f"</script><script>{attack}</script>",
        f'<img src=x onerror="{attack}">',
        f"<svg onload={attack}>",
        f"');{attack};('",
        f"javascript:{attack}",
    ]
    groups = calibrate_groups(Q, Y, [names[k % len(names)] for k in range(len(Q))])
    file = tmp_path / "page.html"
    file.write_text(calibration_page({names[0]: groups, names[1]: groups}, title=names[0]))
    seen = visit(browser, file)
    assert seen.complaints == []
    assert 'class="drawn"' in seen.page
    assert "<title>taken" not in seen.page
    assert len(re.findall(r"<script[ >]", seen.page)) == 3


def test_where_our_scripts_do_not_run_the_still_picture_is_shown(
    browser: str, tmp_path: Path
) -> None:
    text = calibration_page(calibrate(Q, Y), title="still")
    measure = "onload = () => { document.title = document.querySelector('img').width }"
    text = re.sub(r"<script>.*</script>", f"<script>{measure}</script>", text, flags=re.S)
    file = tmp_path / "page.html"
    file.write_text(re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text))
    seen = visit(browser, file)
    assert 'class="drawn"' not in seen.page
    title = re.search(r"<title>(\d+)</title>", seen.page)
    assert title is not None
    assert 400 < int(title[1]) < 560


def test_scripts_that_are_not_ours_are_refused(browser: str, tmp_path: Path) -> None:
    text = calibration_page(calibrate(Q, Y), title="ours")
    file = tmp_path / "page.html"
    file.write_text(text.replace("<main>", "<main><script>document.title='theirs'</script>"))
    seen = visit(browser, file)
    assert len(seen.complaints) == 1
    assert "Content Security Policy" in seen.complaints[0]
    assert "<title>ours</title>" in seen.page


@pytest.mark.parametrize("bins", ["adaptive", "width:0.1"])
def test_a_saved_chart_is_drawn(browser: str, tmp_path: Path, bins: str) -> None:
    file = tmp_path / "curve.html"
    save(curve_chart(calibrate(Q, Y, binning=bins)), file)
    seen = visit(browser, file)
    assert seen.complaints == []
    assert 'class="drawn"' in seen.page
    assert seen.marks("symbol") >= 10

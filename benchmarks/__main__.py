"""`make bench`: every budget, measured as ratios in one run."""

import platform
import sys

import numpy as np

from benchmarks import calibration


def main() -> None:
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}\n")
    print("| job | measured | budget | |\n|---|--:|--:|---|", flush=True)
    missed = 0
    for row in calibration.rows():
        print(row, flush=True)
        missed += row.verdict == "MISSED"
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()

"""`make bench`: every budget, measured as ratios in one run."""

import platform
import sys
from itertools import chain

import numpy as np

from benchmarks import calibration, coref, corpus, lattice


def main() -> None:
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}\n")
    print("| job | measured | budget | |\n|---|--:|--:|---|", flush=True)
    missed = 0
    for row in chain(calibration.rows(), corpus.rows(), lattice.rows(), coref.rows()):
        print(row, flush=True)
        missed += row.verdict == "MISSED"
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()

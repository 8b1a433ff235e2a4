"""What tests share: the data folder, the browser, and skips that can be made failures.

`GNOMON_REQUIRE` lists what must be there (data, browser, or all); a test that needs one of them
skips where it is absent, and fails where it is required.
"""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("gnomon", derandomize=True, deadline=None)
settings.load_profile("gnomon")


def need(what: str, present: bool, remedy: str) -> None:
    """Skips the test where something is absent, or fails it where that is required."""
    if present:
        return
    required = os.environ.get("GNOMON_REQUIRE", "").replace(",", " ").split()
    message = f"{what} is absent: {remedy}"
    if what in required or "all" in required:
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data sets."""
    from gnomon.corpus.datasets import folder

    need("data", folder().is_dir(), "set GNOMON_DATA to the folder of data sets")
    return folder()


@pytest.fixture(scope="session")
def browser() -> str:
    """The path of Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for path in map(shutil.which, names) if path), None)
    need("browser", found is not None, "install Chromium, for example: apt-get install chromium")
    return str(found)

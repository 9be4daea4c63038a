"""Files that a browser saves."""

import time
from pathlib import Path


def downloaded(browser, name):
    """Wait until the file is there: the browser renames it when it is whole."""
    path = Path(browser.downloads) / name
    for _ in range(6000):  # five minutes, for a busy machine
        if path.exists():
            return path.read_text()
        time.sleep(0.05)
    raise AssertionError(f"{name} was not downloaded")

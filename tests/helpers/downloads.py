"""Files that a browser saves."""

import time
from pathlib import Path


def downloaded(browser, name):
    """Wait until the file is there, and whole: at first the browser may keep its place empty."""
    path = Path(browser.downloads) / name
    for _ in range(6000):  # five minutes, for a busy machine
        unfinished = any(path.parent.glob("*.crdownload"))
        if not unfinished and path.exists() and path.stat().st_size:
            return path.read_text()
        time.sleep(0.05)
    raise AssertionError(f"{name} was not downloaded")

"""What the tests of all packages share: data, commands, a browser, and which doctests run."""

import gc
import json
import shutil
import signal
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from scipy.io import loadmat

from blank_pictures import blank_pictures

# No deadline: the first call of a kernel compiles it, and the machine may be busy. The same
# examples in each run, and few of them: `make test-all` tries more (`pytest
# --hypothesis-profile=thorough`), and `--hypothesis-profile=random` others.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", derandomize=True, max_examples=10, **PATIENT)
settings.register_profile("thorough", derandomize=True, **PATIENT)
settings.register_profile("random", **PATIENT)
settings.load_profile("quick")

# A shell script that starts the tests in the background has them, and all processes that they
# start, ignore Ctrl-C; some tests are about what it does.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).parents[1] / "shared"

if find_spec("torch") is None:
    collect_ignore_glob = ["packages/inldl-torch/src/*/[lmt]*.py"]  # those that import PyTorch


def pytest_collection_finish():
    """Keep the collector away from modules and tests, which stay: it took 6% of the time."""
    gc.freeze()


FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--lang=en",
]


@pytest.fixture(scope="session")
def shared():
    """Return the folder of the public data; the tests that need it are skipped without it."""
    if not (SHARED / "datasets").is_dir():
        pytest.skip("needs the public LDL datasets in ../shared")
    return SHARED


@pytest.fixture(scope="session")
def public(shared):
    """Return a function that reads the features and complete degrees of a public dataset."""

    def read(name):
        table = loadmat(shared / "datasets" / f"{name}.mat")
        y = table["labels"] if "labels" in table else table["label_distribution"]
        y = y.astype(np.float64)
        return table["features"].astype(np.float64), y / y.sum(axis=1, keepdims=True)

    return read


@pytest.fixture(scope="session")
def authors_runs(shared):
    """Return the authors' metrics, run by run, and their splits (train, test, observed)."""
    runs = json.loads((shared / "reference" / "winldl_sbu3dfe_runs.json").read_text())
    splits = [np.load(path) for path in sorted((shared / "splits" / "SBU_3DFE").glob("*.npz"))]
    return runs, splits


@pytest.fixture
def without_trees(monkeypatch):
    """Complete without forests, for tests about something else: they take their time."""
    monkeypatch.setattr("inldl.completion.completer.ROWS_FOR_TREES", np.inf)


@pytest.fixture
def without_figures():
    """Leave the pictures of pages empty, for tests about what stands beside them."""
    with blank_pictures():
        yield


@pytest.fixture
def inldl(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command in an empty folder: exit code, output, errors."""
    from inldl.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["inldl", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        return ended.value.code or 0, told.out, told.err

    return call


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """Take away the public data, and the network that could bring it."""
    monkeypatch.setenv("INLDL_DATA", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        port = nobody_listens.getsockname()[1]
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        yield


@pytest.fixture
def drawn_texts(monkeypatch):
    """Return a function that draws a figure and lists the texts that came to paper."""
    from matplotlib.text import Text

    draw, seen = Text.draw, []

    def record(self, renderer, *args, **kwargs):
        if self.get_text().strip() and self.get_visible():
            seen.append(self)
        return draw(self, renderer, *args, **kwargs)

    monkeypatch.setattr(Text, "draw", record)

    def texts(figure):
        seen.clear()
        figure.canvas.draw()
        return list(seen)

    return texts


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """Start Chromium."""
    yield from started_chromium(tmp_path_factory)


@pytest.fixture(scope="session")
def second_chromium(tmp_path_factory):
    """Start another Chromium, which knows nothing of the first one."""
    yield from started_chromium(tmp_path_factory)


def started_chromium(tmp_path_factory):
    """Start Chromium; nothing is downloaded, neither it nor its driver."""
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    programs = [shutil.which("chromium"), shutil.which("chromedriver")]
    if None in programs:
        pytest.skip("needs chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    folder = str(tmp_path_factory.mktemp("downloads"))
    options.add_experimental_option("prefs", {"download.default_directory": folder})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SE_OFFLINE", "true")
        patch.setenv("SE_AVOID_STATS", "true")
        browser = webdriver.Chrome(options=options, service=Service(programs[1]))
    browser.downloads = folder
    yield browser
    browser.quit()


@pytest.fixture
def driver(chromium):
    """Return the browser with its own screen and colours, and nothing in its logs."""
    for log in ("browser", "performance"):
        chromium.get_log(log)
    yield chromium
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})

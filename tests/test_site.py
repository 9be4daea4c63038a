"""The documentation site: it builds without a warning, its links lead somewhere, pages fit.

The site is built once, from a copy of the pages, by the command of `make docs`.
"""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

for name in ("sphinx", "furo", "myst_parser", "sphinx_gallery", "latex2mathml"):
    pytest.importorskip(name)

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
GENERATED = ("_build", "api", "commands", "gallery", "reference", "__pycache__")
MODULES = [
    "inldl",
    "inldl.completion",
    "inldl.datasets",
    "inldl.methods",
    "inldl_paper.experiments",
    "inldl_paper.experiments.statistics",
    "inldl.importance",
    "inldl_paper.literature",
    "inldl.files",
    "inldl.metrics",
    "inldl.pooling",
    "inldl.report",
    "inldl.tables",
    "inldl_paper",
    "inldl_paper.figures",
    "inldl_paper.ordered",
    "inldl_paper.theory",
    "inldl_torch",
    "inldl.weighting",
]
SHOWN = [
    "index.html",
    "start.html",
    "math_winldl.html",
    "api_estimators.html",
    "api/inldl.WInLDL.html",
    "commands/inldl-complete.html",
    "reference/datasets.html",
    "gallery/index.html",
    "gallery/plot_1_complete.html",
]
COMMAND = re.search(r"/python (-m sphinx -W .*)", (ROOT / "Makefile").read_text("utf-8"))[1]
CODE = re.compile(r"^```.*?^```$", flags=re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Build the site, or wait until another worker of pytest-xdist has built it."""
    shared = "PYTEST_XDIST_WORKER" in os.environ
    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if shared else folder) / "site"
    try:
        folder.mkdir()
    except FileExistsError:
        for _ in range(4500):  # a quarter of an hour: the one that builds may have been killed
            if (folder / "log").exists():
                return folder
            time.sleep(0.2)
        raise
    else:
        text = build(folder)
        (folder / "log.part").write_text(text, encoding="utf-8")
        (folder / "log.part").rename(folder / "log")
    return folder


def build(folder):
    """Build a copy of the pages, so that nothing is left behind in the repository."""
    for path in ROOT.iterdir():
        if path.name != "docs" and not path.name.startswith("."):
            (folder / path.name).symlink_to(path)
    ignored = shutil.ignore_patterns(*GENERATED)
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=ignored)
    done = subprocess.run(
        [sys.executable, *COMMAND.split()], cwd=folder, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stderr or done.stdout


class Page(HTMLParser):
    """The tags of a page, each with its attributes, and its formulas."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.formulas = re.findall(r"<math.*?</math>", text, flags=re.DOTALL)
        self.feed(text)
        self.ids = {about["id"] for _, about in self.tags if "id" in about}
        self.described = {
            about["id"]
            for tag, about in self.tags
            if tag == "dt" and "id" in about and "sig" in about.get("class", "").split()
        }

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def addresses(self, *tags):
        """Return the addresses that tags of these kinds name."""
        found = [about.get("href", about.get("src")) for tag, about in self.tags if tag in tags]
        return [address for address in found if address]


@pytest.fixture(scope="session")
def pages(site):
    """Return the pages by path."""
    paths = (site / "docs" / "_build" / "html").rglob("*.html")
    return {path: Page(path.read_text(encoding="utf-8")) for path in paths}


def test_the_site_builds_without_a_warning(site):
    assert (site / "log").read_text(encoding="utf-8") == ""


def test_every_link_image_and_anchor_exists(pages):
    broken = []
    for path, page in pages.items():
        for address in page.addresses("a", "img", "script", "link"):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file() or (anchor and anchor not in pages[target].ids):
                broken.append((path.name, address))
    assert len(pages) > 100
    assert broken == []


def test_every_picture_is_described(pages):
    """What a screen reader says in its place."""
    silent = [
        (path.name, about.get("src"))
        for path, page in pages.items()
        for tag, about in page.tags
        if tag == "img" and not (about.get("alt") or "").strip()
    ]
    assert silent == []


def test_no_page_needs_the_network(site, pages):
    asked = {
        (path.name, address)
        for path, page in pages.items()
        for address in page.addresses("script", "link", "img", "iframe")
        if urlsplit(address).netloc
    }
    assert asked == set()
    styles = (site / "docs" / "_build" / "html").rglob("*.css")
    fetched = re.compile(r"(?:@import|url\()\s*[\"']?(?:https?:)?//")
    assert [path.name for path in styles if fetched.search(path.read_text("utf-8"))] == []


def test_links_of_the_sources_lead_to_files():
    """On GitHub the Markdown is read as it is."""
    sources = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
    made = ("gallery/", "commands/", "reference/")  # by the build
    broken = []
    for source in sources:
        text = CODE.sub("", source.read_text("utf-8"))
        for address in re.findall(r"\]\(([^)\s]+)\)", text):
            parts = urlsplit(address)
            target = source.parent / unquote(parts.path)
            if parts.scheme or parts.path.startswith(made):
                continue
            if not target.exists():
                broken.append((source.name, address))
    assert len(sources) > 10
    assert broken == []


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_has_a_page(name, pages, monkeypatch):
    for folder in ("inldl-paper", "inldl-torch"):
        monkeypatch.syspath_prepend(ROOT / "packages" / folder / "src")
    described = set().union(*(page.described for page in pages.values()))
    offered = public_names(importlib.import_module(name))
    assert offered
    assert [each for each in offered if not {f"{name}.{each}", f"inldl.{each}"} & described] == []


def public_names(module):
    """Return the ``__all__`` of a module, or what is defined in it under a public name."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]
    return getattr(module, "__all__", own)


def test_classes_show_their_own_methods_only(site, pages):
    path = site / "docs" / "_build" / "html" / "api" / "inldl.WInLDL.html"
    methods = {name.rpartition(".")[2] for name in pages[path].described} - {"WInLDL"}
    inherited = {"complete", "complete_interval", "draw", "score", "predict_interval"}
    inherited |= {"gives_intervals", "predict_dirichlet", "predict_quantiles", "sample"}
    assert methods == {"fit", "predict", "as_published", *inherited}
    assert "coef_" in path.read_text(encoding="utf-8")


def test_every_page_can_be_reached(site, pages):
    html = site / "docs" / "_build" / "html"
    found, new = set(), {html / "index.html"}
    while new:
        found |= new
        linked = {
            (path.parent / unquote(urlsplit(address).path)).resolve()
            for path in new
            for address in pages[path].addresses("a")
        }
        new = (linked & pages.keys()) - found
    assert {html / f"{path.stem}.html" for path in (ROOT / "docs").glob("*.md")} <= found


def test_formulas_are_drawn_by_the_browser(pages):
    formulas = [formula for page in pages.values() for formula in page.formulas]
    assert len(formulas) > 100
    assert [formula for formula in formulas if "\\" in formula] == []


@pytest.mark.parametrize("tex", [r"\unheard x", "a & b", r"\frac{a", r"\begin{odd} a \end{odd}"])
def test_a_formula_that_cannot_be_drawn_is_refused(tex, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "_ext")
    to_mathml = importlib.import_module("mathml").to_mathml
    assert to_mathml(r"\min_W f", "block").find(".//munder") is not None
    with pytest.raises((ValueError, SyntaxError), match=r"known|match|well-formed"):
        to_mathml(tex, "block")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit_the_screen(driver, site, width, scheme):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    for name in SHOWN:
        driver.get((site / "docs" / "_build" / "html" / name).as_uri())
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width, name
        assert broken_images(driver) == [], name
        paper = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", paper)[:3])) < 200) == (scheme == "dark"), name
    assert [line for line in driver.get_log("browser") if line["level"] == "SEVERE"] == []
    assert all(not address.startswith("http") for address in requested(driver))


def broken_images(browser):
    """Return the images that could not be loaded, also those that wait to be scrolled to."""
    script = """const images = [...document.images];
        images.forEach(each => { each.loading = "eager"; });
        return Promise.all(images.map(each => each.decode().then(() => null, () => each.src)))"""
    return [address for address in browser.execute_script(script) if address]


def requested(browser):
    """Return the addresses that the browser has asked for."""
    events = [json.loads(each["message"])["message"] for each in browser.get_log("performance")]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]

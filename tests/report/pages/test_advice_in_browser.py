"""The page of an inspection in a real browser: its pictures can be read on a phone."""

import numpy as np
import pandas as pd
import pytest

from inldl import hide
from inldl.report.pages.advice import inspection_page
from inldl.tables import inspect_table

OUTSIDE = """return [...document.querySelectorAll("figure.drawing .scroll")]
    .filter(each => each.checkVisibility() && each.scrollWidth > each.clientWidth).length"""
TEXTS = """return [...document.querySelectorAll("figure.drawing svg text")]
    .filter(each => each.checkVisibility())
    .map(each => [each.textContent, each.getBoundingClientRect()])
    .map(([text, box]) => [text, box.left, box.right, Math.min(box.width, box.height)])"""


@pytest.fixture(scope="module", params=[4, 24])
def page(request, tmp_path_factory):
    rng = np.random.default_rng(0)
    labels = [f"a label of many words {j}" for j in range(request.param)]
    y = pd.DataFrame(rng.dirichlet(np.ones(request.param), 90), columns=labels)
    y = hide(y, 0.3, mechanism="small", random_state=0)
    found = inspect_table(pd.DataFrame({"x": rng.normal(size=90)}), y)
    path = tmp_path_factory.mktemp("page") / "inspection.html"
    inspection_page(found, y.notna().to_numpy()).write(path)
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_fit_a_phone_and_can_be_read(driver, page, scheme):
    size = {"width": 390, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    driver.get(page.as_uri())
    assert driver.execute_script(OUTSIDE) == 0
    seen = driver.execute_script(TEXTS)
    assert {"known", "rows", "missing minus expected share, per row"} < {text for text, *_ in seen}
    assert min(left for _, left, *_ in seen) >= 0
    assert max(right for _, _, right, _ in seen) <= 390
    assert {text: small for text, *_, small in seen}["known"] >= 9
    assert driver.get_log("browser") == []

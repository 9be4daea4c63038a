"""What a screen reader and weak eyes meet on a page in Chromium."""

from importlib.resources import files

import pytest

ROLES = {
    "button", "link", "textbox", "combobox", "checkbox", "radio", "spinbutton", "searchbox",
    "progressbar", "grid", "gridcell", "columnheader", "navigation", "complementary", "form",
}  # fmt: skip
EMPTY = {"gridcell"}  # cells of a table may be empty; those with shares say so
LEAST = 4.5  # contrast of text, as WCAG has it at level AA
CONTRAST = r"""
const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
  const v = c[i] / 255;
  return sum + weight * (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
}, 0);
function parsed(text) {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = text;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
}
const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
function behind(element) {
  const colours = [];
  for (let each = element; each; each = each.parentElement) {
    colours.unshift(parsed(getComputedStyle(each).backgroundColor));
  }
  return colours.reduce((below, colour) => over(colour, below), [255, 255, 255, 1]);
}
const found = [];
for (const each of document.querySelectorAll('body *')) {
  if (!each.checkVisibility() || each.disabled) continue;
  if (each.closest('.unseen, .skip, svg, option')) continue;
  const written = [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!written && !each.matches('input, select, textarea')) continue;
  const below = behind(each);
  const colours = [getComputedStyle(each).color];
  if (each.placeholder) colours.push(getComputedStyle(each, '::placeholder').color);
  for (const colour of colours) {
    const [a, b] = [light(over(parsed(colour), below)), light(below)].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < arguments[0]) found.push(each.outerHTML.slice(0, 120));
  }
}
return found;
"""


def nameless(browser):
    """Return the roles of what has no name for a screen reader but needs one."""
    nodes = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    told = [
        (node["role"]["value"], node.get("name", {}).get("value", "").strip())
        for node in nodes
        if not node["ignored"] and "role" in node
    ]
    return [role for role, name in told if role in ROLES - EMPTY and not name]


def faint(browser):
    """Return the beginnings of elements whose text stands out too little."""
    return browser.execute_script(CONTRAST, LEAST)


def violations(browser):
    """Return what axe-core finds wrong on the page: rules, and the beginnings of elements."""
    pytest.importorskip("axe_core_python", reason="needs axe-core-python")
    if not browser.execute_script("return Boolean(window.axe)"):
        browser.execute_script((files("axe_core_python") / "axe.min.js").read_text("utf-8"))
    found = browser.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run({ resultTypes: ['violations'] }).then(done, (e) => done({ error: String(e) }));"
    )
    return [
        (each["id"], [node["html"][:160] for node in each["nodes"]][:3])
        for each in found["violations"]
    ]

// The row that is chosen: each share as a bar, with its interval.

import { make } from "./dom.js";
import { KIND, SAID } from "./grid.js";

export function rowPanel(grid) {
  const panel = make("section", { class: "row-panel", "aria-label": "The chosen row" });
  grid.onrow = (data) => { if (data !== panel.shown) draw(panel, grid, data); };
  return panel;
}

function draw(panel, grid, data) {
  panel.shown = data;
  if (!data) return panel.replaceChildren();
  const { labels, ids, whole } = grid.facts;
  const number = (text) => Number(String(text).replace(/,/g, "").replace("%", ""));
  const cells = data.cells.map(([text, kind, share, interval]) => {
    const ends = (interval || "").split(" to ").filter(Boolean).map(number);
    const unit = share > 0 ? number(text) / share : whole || 1;
    return { text, kind, share, low: ends[0] / unit, high: (ends[1] ?? ends[0]) / unit, interval };
  });
  const most = Math.max(0.01, ...cells.map((cell) => Math.max(cell.share || 0, cell.high || 0)));
  const width = (share) => `${Math.max(0, Math.min(100, (100 * share) / most)).toFixed(1)}%`;
  const rows = cells.map((cell, at) => {
    const bar = make("span", { class: `bar ${KIND[cell.kind]}${data.old ? " outdated" : ""}` });
    bar.style.width = width(cell.share);
    const ends = cell.low >= 0 && cell.high > cell.low ? make("span", { class: "ends" }) : null;
    if (ends) Object.assign(ends.style, { left: width(cell.low), width: width(cell.high - cell.low) });
    return make("tr", {}, make("th", { scope: "row" }, labels[at]),
      make("td", { class: "drawn", "aria-hidden": "true" }, make("span", { class: "track" }, bar, ends)),
      make("td", { class: "value" }, cell.text || "–"),
      make("td", {}, cell.interval ? `${SAID[cell.kind]}, ${cell.interval}` : SAID[cell.kind]));
  });
  const name = data.texts.slice(0, ids.length).filter(Boolean).join(", ");
  return panel.replaceChildren(make("h2", {}, `Row ${data.row + 1}${name ? `, ${name}` : ""}`),
    make("table", {}, make("caption", { class: "unseen" }, "The shares of the row, with the intervals of those that were filled in"),
      make("thead", { class: "unseen" }, make("tr", {}, ["Label", "Bar", "Share", "What it is"].map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, rows)));
}

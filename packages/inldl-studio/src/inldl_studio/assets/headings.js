// The headings of shares: short names, and small histograms of what is known and what was filled in.

import { make } from "./dom.js";

const LEAST = 3; // letters of a beginning that names have together

// Names that begin with the same words are shown without them; the whole name is in the title.
export function shortNames(columns) {
  const names = columns.map((each) => each.name);
  const first = names[0] ?? "";
  let length = 0;
  while (length < first.length && names.every((name) => name[length] === first[length])) length++;
  const shared = first.slice(0, length).replace(/[^\s_.:/-]*$/, "");
  const bare = names.map((name) => name.slice(shared.length));
  const useful = names.length > 2 && shared.length >= LEAST && bare.every((name) => /[^\d\W]/.test(name)); // "0" alone says nothing
  for (const column of columns) column.short = useful ? column.name.slice(shared.length) : column.name;
  return useful ? shared : "";
}

const SVG = "http://www.w3.org/2000/svg";

function drawn(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// `bins` has counts of known and of filled-in shares, from 0 to the largest one.
export function headings(bins, name) {
  if (!bins) return null;
  const [known, filled] = bins;
  const most = Math.max(1, ...known, ...filled);
  const picture = drawn("svg", { viewBox: `0 0 ${known.length * 2} 10`, preserveAspectRatio: "none", class: "histogram", focusable: "false" });
  known.forEach((count, at) => {
    for (const [kind, value, shift] of [["bar-known", count, 0], ["bar-filled", filled[at], 1]]) {
      const height = (10 * value) / most;
      picture.append(drawn("rect", { class: kind, x: at * 2 + shift, y: 10 - height, width: 0.92, height }));
    }
  });
  const range = (counts) => counts.map((count) => count.toLocaleString("en")).join(", ");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", `${name}, shares from small to large in ${known.length} groups: known ${range(known)}; filled in ${range(filled)}`);
  return make("span", { class: "histogram-box", title: `${name}: known and filled-in shares, from small to large` }, picture);
}

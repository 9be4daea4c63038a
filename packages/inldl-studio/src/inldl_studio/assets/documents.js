// Draws the documents that the commands print and write as pages. Tables come from page.js.

import { make } from "./dom.js";

export function drawDocument(data, base, { skipSummary = false } = {}) {
  const box = make("article", { class: "document" });
  if (!skipSummary) box.append(...data.summary.map((text) => make("p", { class: "lead" }, text)));
  if (data.facts.length) box.append(facts(data.facts));
  box.append(...data.notes.map((text) => make("p", { class: "note" }, text)));
  for (const section of data.sections) {
    const blocks = section.blocks.map((block) => (DRAW[block.kind] ?? nothing)(block, base));
    const part = make("section", {}, make("h2", {}, section.title), blocks);
    // Two tables may have the same caption, but not the same name.
    part.querySelectorAll("[role=region]").forEach((each) => each.setAttribute("aria-label", `${section.title}: ${each.getAttribute("aria-label")}`));
    box.append(part);
  }
  return box;
}

const nothing = () => null;

const DRAW = {
  paragraph: (block) => make("p", {}, block.text),
  note: (block) => make("p", { class: "note" }, block.text),
  heading: (block) => make("h3", {}, block.text),
  code: (block) => make("div", { class: "code" }, make("pre", { tabindex: 0 }, block.text)),
  items: (block) => make("ul", {}, block.texts.map((text) => make("li", {}, text))),
  facts: (block) => facts(block.pairs),
  table,
  figure,
};

function facts(pairs) {
  return make("dl", {}, pairs.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]));
}

function table(block) {
  const figure = make("figure", { class: "table" }, make("figcaption"),
    make("div", { class: "scroll", tabindex: 0, role: "region" }, make("table")));
  fill(figure, block); // of page.js
  if (block.name) equip(figure);
  return figure;
}

function figure(block, base) {
  if (block.problem) return make("p", { class: "note" }, block.problem);
  const source = (width) => `${base}/figures/${block.number}/${width}`;
  const picture = make("picture", {},
    block.narrow && make("source", { media: "(max-width: 40rem)", srcset: source("narrow") }),
    make("img", { src: source("wide"), alt: block.caption, loading: "lazy" }));
  return make("figure", { class: "drawing" }, make("div", { class: "scroll" }, picture),
    make("figcaption", {}, block.caption));
}

"use strict";
// Without this script the page shows its first view. It adds sorting, choosing and taking along.

const MISSING = "–";

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Tables ------------------------------------------------------------------------------------

function cell(content, tag = "td", attributes = {}) {
  const [text, mark, small] = Array.isArray(content) ? content : [content, ""];
  const made = element(tag, "", mark ? { ...attributes, class: mark } : attributes);
  const inner = { best: "strong", second: "u" }[mark];
  if (inner) made.append(element(inner, text));
  else made.textContent = text;
  if (small) made.append(" ", element("small", small));
  return made;
}

function line([first, ...others]) {
  const made = element("tr");
  made.append(element("th", first, { scope: "row", title: first }), ...others.map((each) => cell(each)));
  return made;
}

function fill(figure, data) {
  figure.dataset.name = data.name;
  figure.querySelector("figcaption").textContent = data.caption;
  figure.querySelector(".scroll").setAttribute("aria-label", data.caption);
  const head = element("tr");
  head.append(...data.head.map((name) => cell(name, "th", { scope: "col" })));
  const parts = [["thead", [head]], ["tbody", data.rows.map(line)], ["tfoot", data.foot.map(line)]];
  const table = figure.querySelector("table");
  table.style.setProperty("--columns", data.head.length);
  table.replaceChildren(
    ...parts.filter(([, rows]) => rows.length).map(([name, rows]) => {
      const part = element(name);
      part.append(...rows);
      return part;
    }),
  );
  sortable(table);
}

function sortable(table) {
  if (!table.tBodies.length) return;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = element("button", head.textContent, { type: "button" });
    button.addEventListener("click", () => sort(table, column));
    head.replaceChildren(button);
    head.setAttribute("aria-sort", "none");
  });
}

function sort(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const downwards = heads[column].getAttribute("aria-sort") === "ascending";
  heads.forEach((head) => head.setAttribute("aria-sort", "none"));
  heads[column].setAttribute("aria-sort", downwards ? "descending" : "ascending");
  const keyed = [...table.tBodies[0].rows].map((row) => [key(row.cells[column]), row]);
  keyed.sort(([a], [b]) => compare(a, b, downwards ? -1 : 1));
  table.tBodies[0].append(...keyed.map(([, row]) => row));
}

function key(cell) {
  const text = cell.textContent;
  if (text === MISSING || text === "") return null;
  const known = written(cell);
  if (cell.tagName === "TH") return known;
  if (known.startsWith("inf")) return Infinity;
  const number = parseFloat(known);
  return Number.isNaN(number) ? known : number;
}

// Missing ones come last in both directions.
function compare(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a < b ? -1 : a > b ? 1 : 0);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

// Say of what does not fit that there is more of it.
function sideways() {
  for (const box of document.querySelectorAll(".scroll")) {
    const before = box.previousElementSibling;
    if (before?.className === "sideways") before.remove();
    if (box.scrollWidth <= box.clientWidth + 1) continue;
    const heads = [...(box.querySelector("table")?.tHead.rows[0].cells ?? [])];
    const columns = heads.filter((each) => each.offsetWidth).length;
    const all = columns ? `all ${columns} columns` : "the whole figure";
    box.before(element("p", `Scroll sideways to see ${all}.`, { class: "sideways" }));
  }
}

// Taking along ------------------------------------------------------------------------------

function cells(table) {
  return [...table.rows].map((row) => [...row.cells]);
}

// What stands below a number in small letters is not part of it.
function written(cell) {
  const copy = cell.cloneNode(true);
  copy.querySelectorAll("small").forEach((each) => each.remove());
  return copy.textContent.trimEnd();
}

// A mean with its deviation becomes two columns.
function csv(table) {
  const texts = cells(table).map((row) => row.map(written));
  const pattern = /^([^()]+)\(([\d.]+)\)$/;
  const split = texts[0].map((_, column) => texts.some((row) => pattern.test(row[column] ?? "")));
  const rows = texts.map((row, at) =>
    row.flatMap((text, column) => {
      if (!split[column]) return [text];
      if (at === 0) return [text, `${text} std`];
      const parts = pattern.exec(text);
      return parts ? [parts[1], `0${parts[2]}`.replace(/^0(?=\d)/, "")] : [text, ""];
    }),
  );
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const plain = (text) => (text === MISSING ? "" : text);
  return rows.map((row) => row.map(plain).map(quoted).join(",")).join("\n") + "\n";
}

const LATEX = {
  "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
  "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", '"': "\\textquotedbl{}",
  [MISSING]: "--",
};

function tex(text) {
  const escaped = text.replace(/[\\~^<>|"–&%$#_{}]/g, (sign) => LATEX[sign] ?? `\\${sign}`);
  return escaped.split(/\s+/).filter(Boolean).join(" ");
}

function texCell(cell) {
  if (cell.querySelector("strong")) return `\\textbf{${tex(written(cell))}}`;
  if (cell.querySelector("u")) return `\\underline{${tex(written(cell))}}`;
  return tex(written(cell));
}

function latex(figure) {
  const table = figure.querySelector("table");
  const row = (each) => [...each.cells].map(texCell).join(" & ") + " \\\\";
  const parts = [table.tHead, ...table.tBodies, table.tFoot].filter((part) => part?.rows.length);
  const columns = table.rows[0].cells.length;
  return [
    "\\begin{table*}",
    "\\centering",
    `\\caption{${tex(figure.querySelector("figcaption").textContent)}}`,
    `\\begin{tabular}{l${"c".repeat(columns - 1)}}`,
    "\\toprule",
    parts.map((part) => [...part.rows].map(row).join("\n")).join("\n\\midrule\n"),
    "\\bottomrule",
    "\\end{tabular}",
    "\\end{table*}",
  ].join("\n");
}

function download(label, figure, suffix, kind, content) {
  const link = element("a", label, { href: "#", role: "button" });
  link.addEventListener("click", () => {
    link.download = `${figure.dataset.name}.${suffix}`;
    link.href = `data:${kind};charset=utf-8,${encodeURIComponent(content())}`;
  });
  return link;
}

function copying(label, content) {
  const button = element("button", label, { type: "button" });
  button.addEventListener("click", async () => {
    const done = await copied(content());
    button.textContent = done ? "Copied" : "Could not copy";
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function tools(box, ...made) {
  const bar = element("div", "", { class: "tools" });
  bar.append(...made);
  box.append(bar);
}

function equip(figure) {
  const drawn = figure.querySelector("svg");
  if (drawn) {
    const source = () => new XMLSerializer().serializeToString(drawn);
    tools(figure, download("Download SVG", figure, "svg", "image/svg+xml", source));
  } else {
    const table = () => csv(figure.querySelector("table"));
    tools(
      figure,
      download("Download CSV", figure, "csv", "text/csv", table),
      copying("Copy LaTeX", () => latex(figure)),
    );
  }
}

// Choosing ----------------------------------------------------------------------------------

function show(views, chosen) {
  const content = views[chosen.join("-")];
  for (const slot of document.querySelectorAll("[data-slot]")) {
    const each = content[slot.dataset.slot];
    if (!Array.isArray(each)) fill(slot.querySelector("figure"), each);
    else slot.replaceChildren(...each.map((text) => element("p", text)));
  }
  for (const block of document.querySelectorAll("[data-when]")) {
    const wanted = block.dataset.when.split("-");
    block.hidden = !wanted.every((place, at) => place === "*" || place === chosen[at]);
  }
  sideways();
}

function offer(views) {
  const form = document.querySelector(".controls");
  const selects = [...form.querySelectorAll("select")];
  form.hidden = selects.every((select) => select.options.length < 2);
  form.addEventListener("change", () => show(views, selects.map((select) => select.value)));
  form.addEventListener("submit", (event) => event.preventDefault());
}

document.querySelectorAll("figure[data-name]:not([data-name=''])").forEach(equip);
document.querySelectorAll("figure.table table").forEach(sortable);
document.querySelectorAll(".code").forEach((box) => {
  tools(box, copying("Copy", () => box.querySelector("pre").textContent));
});
sideways();
window.addEventListener("resize", sideways);
const stored = document.getElementById("views");
if (stored) offer(JSON.parse(stored.textContent));

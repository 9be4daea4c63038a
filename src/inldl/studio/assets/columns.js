// What was understood about the columns, and how to say otherwise.

import { button, counted, field, make, select } from "./dom.js";

const DETECTED = "Detect it";
const SCALES = [["auto", "Detect it from the sums"], ["fraction", "Fractions: rows sum to 1"], ["percent", "Percentages: rows sum to 100"], ["count", "Counts"]];
const DATES = [["auto", DETECTED], ["day-first", "Day first"], ["month-first", "Month first"]];
const DELIMITERS = [["", DETECTED], [",", "Comma"], [";", "Semicolon"], ["\t", "Tab"], ["|", "Bar"]];
const DECIMALS = [["", DETECTED], [".", "Point"], [",", "Comma"]];
const THOUSANDS = [["", DETECTED], [",", "Comma"], [".", "Point"], ["'", "Apostrophe"], [" ", "Space"], ["none", "Nothing"]];

export function drawColumns(studio, look) {
  const roles = studio.table.settings.roles;
  const role = (column) => roles[column.column] ?? column.role;
  const labels = look.columns.filter((column) => role(column) === "label");
  const next = make("div", { class: "actions" },
    button("Look at the table", () => studio.go("inspect"), { class: "primary", disabled: !labels.length }),
    button("Complete it right away", () => studio.run("complete").then((run) => run && studio.go("table")), { class: "secondary", disabled: !labels.length }));
  return make("div", {},
    make("h1", {}, "What is in the columns"),
    make("p", { class: "lead" }, `${studio.table.name} has ${counted(look.columns.length, "column")}. Check what each of them is, and change it if it is wrong.`),
    look.notes.map((text) => make("p", { class: "note" }, text)),
    summary(labels),
    next,
    chooseMany(studio, look),
    list(studio, look, role),
    make("details", { class: "options" }, make("summary", {}, "How the shares and the file are read"), ofShares(studio), drawReading(studio)));
}

function summary(labels) {
  if (!labels.length) return make("p", { class: "problem", role: "alert" }, "No column is marked as a label yet. Mark the columns that hold the shares.");
  return make("p", { class: "labels" }, `${counted(labels.length, "label")}: `,
    labels.map((column) => make("span", { class: "chip" }, column.column)));
}

function chooseMany(studio, look) {
  const text = make("input", { type: "search", placeholder: "emo_*", "aria-label": "Names of columns, with * for any letters" });
  const wanted = select(Object.keys(studio.state.roles).map((name) => [name, name]), "label", () => {}, { "aria-label": "Role for these columns" });
  const apply = () => {
    const pattern = new RegExp(`^${text.value.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`);
    const names = look.columns.map((each) => each.column).filter((name) => pattern.test(name));
    studio.setRoles(Object.fromEntries(names.map((name) => [name, wanted.value])));
  };
  return make("form", { class: "many", "aria-label": "Set the role of many columns", onsubmit: (event) => { event.preventDefault(); apply(); } },
    make("span", {}, "Set columns named"), text, make("span", {}, "to"), wanted,
    make("button", { class: "secondary" }, "Apply"));
}

function list(studio, look, role) {
  const names = Object.entries(studio.state.roles);
  const sums = sumsOf(studio.table.settings);
  const rows = look.columns.map((column) => {
    const now = role(column);
    const choose = sums.has(column.column) ? `sum of ${sums.get(column.column)}` : select(names.map(([name]) => [name, name]), now, (value) => studio.setRoles({ [column.column]: value }),
      { "aria-label": `Role of ${column.column}`, title: studio.state.roles[now] });
    return make("tr", { class: `role-${now}` },
      make("th", { scope: "row" }, column.column || "(no name)"),
      make("td", {}, choose),
      make("td", {}, column.kind),
      make("td", { class: "number" }, column.holes ? `${(100 * column.holes).toFixed(1)}%` : "–"),
      make("td", { class: "examples" }, column.examples.join("  ·  ")),
      make("td", { class: "remark" }, column.remark));
  });
  const head = ["Column", "Role", "Kind", "Missing", "Examples", "Remark"].map((text) => make("th", { scope: "col" }, text));
  return make("div", {},
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Columns and their roles" },
      make("table", { class: "roles" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows))),
    make("details", { class: "legend" }, make("summary", {}, "What the roles mean"),
      make("dl", {}, names.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]))));
}

// Which columns hold what some labels have together.
function sumsOf(settings) {
  const parts = settings.sums.split("\n").filter((line) => line.includes("=")).map((line) => line.split("="));
  return new Map(parts.map(([name, labels]) => [name.trim(), labels.trim()]));
}

// Controls that keep what they are set to.
function controls(studio) {
  const { settings } = studio.table;
  const keep = (name, made, value) => {
    made.addEventListener("change", () => studio.set({ [name]: value() }));
    return made;
  };
  const typed = (name, tag, attributes) => {
    const made = make(tag, attributes);
    made.value = settings[name];
    return keep(name, made, () => made.value.trim());
  };
  return {
    pick: (name, options, label, hint) => field(label, select(options, settings[name], (value) => studio.set({ [name]: value })), hint),
    text: (name, label, hint, placeholder = "") => field(label, typed(name, "input", { type: "text", placeholder }), hint),
    lines: (name, label, hint, placeholder = "") => field(label, typed(name, "textarea", { rows: 2, placeholder }), hint),
    flag: (name, label, hint) => {
      const made = make("input", { type: "checkbox", checked: settings[name] });
      return field(label, keep(name, made, () => made.checked), hint);
    },
    number: (name, label, hint, placeholder = "") => {
      const [min, max] = studio.state.numbers[name];
      const made = make("input", { type: "number", min, max, step: 1, value: settings[name], placeholder });
      return field(label, keep(name, made, () => (made.value === "" ? null : Number(made.value))), hint);
    },
  };
}

function ofShares(studio) {
  const { pick, flag, lines } = controls(studio);
  return make("fieldset", { class: "fields" }, make("legend", {}, "The shares"),
    pick("scale", SCALES, "What the shares are"),
    flag("normalize", "Accept rows with other sums", "Rows without a missing share may sum to something else than the whole (--normalize)."),
    flag("votes", "Weigh rows by their votes", "For counts: shares of 3 votes say less than those of 300 (--votes)."),
    flag("ratios", "Only ratios are known", "Missing labels were dropped, and the others rescaled to the whole (--ratios)."),
    lines("sums", "Columns that hold sums of labels", "One column per line, and the labels that it is the sum of (--sum).", "alcohol=beer,wine"));
}

export function drawReading(studio) {
  const { pick, text, number } = controls(studio);
  return make("fieldset", { class: "fields" }, make("legend", {}, "The file"),
    pick("dates", DATES, "Dates such as 5/1/2024"),
    pick("delimiter", DELIMITERS, "Between cells"),
    pick("decimal", DECIMALS, "Decimal sign"),
    pick("thousands", THOUSANDS, "Between thousands"),
    text("na", "Cells that mean missing", "Besides empty ones, NA, - and the like (--na).", "s, x, -99"),
    text("sheet", "Sheet of an Excel file", "By name or number; the first by default (--sheet)."),
    number("skip_rows", "Lines above the header", "Titles that are no part of the table (--skip-rows).", "detected"),
    number("skip_last", "Lines below the last row", "Notes that are no part of the table (--skip-last).", "detected"),
    text("encoding", "Encoding", "Such as utf-8 or cp1252 (--encoding).", "detected"),
    text("long", "One row per label", "For a table with a row for each thing and label (--long).", "id=county,label=party,value=votes"));
}

// How a table is completed, beside the method.
export function drawCompleting(studio) {
  const { flag, number } = controls(studio);
  return make("details", { class: "more" }, make("summary", {}, "More options"),
    make("div", { class: "fields" },
      flag("whole", "Fill in whole numbers", "For counts with a column of totals (--whole)."),
      number("draws", "Multiple imputations", "Also make this many completed tables, which differ as much as their filled-in shares are uncertain (--draws).", "none"),
      number("learn_from", "Rows to learn from", "Fewer are faster where a table has very many (--learn-from).", "all")));
}

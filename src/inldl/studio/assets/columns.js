// What was understood about the columns, and how to say otherwise.

import { button, counted, field, make, select } from "./dom.js";

const SCALES = [["auto", "Found out from the sums"], ["fraction", "Fractions: rows sum to 1"], ["percent", "Percentages: rows sum to 100"], ["count", "Counts"]];
const DATES = [["auto", "Found out"], ["day-first", "Day first"], ["month-first", "Month first"]];
const DELIMITERS = [["", "Found out"], [",", "Comma"], [";", "Semicolon"], ["\t", "Tab"], ["|", "Bar"]];
const DECIMALS = [["", "Found out"], [".", "Point"], [",", "Comma"]];

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
    reading(studio));
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
  return make("form", { class: "many", onsubmit: (event) => { event.preventDefault(); apply(); } },
    make("span", {}, "Set columns named"), text, make("span", {}, "to"), wanted,
    make("button", { class: "secondary" }, "Apply"));
}

function list(studio, look, role) {
  const names = Object.entries(studio.state.roles);
  const rows = look.columns.map((column) => {
    const now = role(column);
    const choose = select(names.map(([name]) => [name, name]), now, (value) => studio.setRoles({ [column.column]: value }),
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

function reading(studio) {
  const { settings } = studio.table;
  const pick = (name, options, label, hint) => field(label, select(options, settings[name], (value) => studio.set({ [name]: value })), hint);
  const text = (name, label, hint, placeholder = "") => {
    const made = make("input", { type: "text", value: settings[name], placeholder });
    made.addEventListener("change", () => studio.set({ [name]: made.value.trim() }));
    return field(label, made, hint);
  };
  const flag = (name, label, hint) => {
    const made = make("input", { type: "checkbox", checked: settings[name] });
    made.addEventListener("change", () => studio.set({ [name]: made.checked }));
    return field(label, made, hint);
  };
  return make("details", { class: "options" }, make("summary", {}, "How the shares and the file are read"),
    make("div", { class: "fields" },
      pick("scale", SCALES, "What the shares are"),
      flag("normalize", "Accept rows with other sums", "As --normalize: complete rows that do not sum to the whole."),
      flag("votes", "Rows count by their votes", "As --votes, for counts."),
      pick("dates", DATES, "Dates such as 5/1/2024"),
      pick("delimiter", DELIMITERS, "Between cells"),
      pick("decimal", DECIMALS, "Decimal sign"),
      text("na", "Cells that mean missing", "Besides empty ones, NA, - and the like.", "s, x, -99"),
      text("sheet", "Sheet of an Excel file", "By name or number; the first by default."),
      text("long", "Row per label", "As --long, for a table with one row per thing and label.", "id=county,label=party,value=votes")));
}

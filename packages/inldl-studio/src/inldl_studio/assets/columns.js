// What was understood about the columns, and how to say otherwise.

import { button, counted, field, make, select } from "./dom.js";

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
    make("details", { class: "options" }, make("summary", {}, "How the shares and the file are read"), drawFields(studio, "The shares"), drawReading(studio)));
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

// A control for an option, which keeps what it is set to.
function control(studio, { name, kind, title, hint, example, choices, range: [min, max] }) {
  const value = studio.table.settings[name];
  const keep = (made, now) => {
    made.addEventListener("change", () => studio.set({ [name]: now() }));
    return field(title, made, hint);
  };
  if (kind === "choice") return field(title, select(choices, value, (chosen) => studio.set({ [name]: chosen })), hint);
  if (kind === "flag") {
    const made = make("input", { type: "checkbox", checked: value });
    return keep(made, () => made.checked);
  }
  if (kind === "number") {
    const made = make("input", { type: "number", min, max, step: 1, value, placeholder: example });
    return keep(made, () => (made.value === "" ? null : Number(made.value)));
  }
  const made = kind === "lines" ? make("textarea", { rows: 2, placeholder: example }) : make("input", { type: "text", placeholder: example });
  made.value = value;
  return keep(made, () => made.value.trim());
}

const controls = (studio, section) => studio.state.form.filter((option) => option.section === section).map((option) => control(studio, option));

function drawFields(studio, section) {
  return make("fieldset", { class: "fields" }, make("legend", {}, section), controls(studio, section));
}

export const drawReading = (studio) => drawFields(studio, "The file");

// How a table is completed, beside the method.
export function drawCompleting(studio) {
  return make("details", { class: "more" }, make("summary", {}, "More options"),
    make("div", { class: "fields" }, controls(studio, "More options")));
}

// What was understood about the columns, and how to say otherwise.

import { button, counted, field, make, select } from "./dom.js";
import { shortNames } from "./headings.js";

const MOST_SHOWN = 60; // columns of the first rows

export function drawColumns(studio, look) {
  const roles = studio.table.settings.roles;
  const role = (column) => roles[column.column] ?? column.role;
  const labels = look.columns.filter((column) => role(column) === "label");
  const next = make("div", { class: "actions" },
    button("Complete the table", () => studio.run("complete").then((run) => run && studio.go("table")), { class: "primary", disabled: !labels.length }),
    button("Look at it first", () => studio.go("inspect"), { class: "secondary", disabled: !labels.length }));
  return make("div", {},
    make("h1", {}, "What is in the columns"),
    make("p", { class: "lead" }, `${studio.table.name} has ${counted(look.columns.length, "column")}. Check what each of them is, and change it above its cells if it is wrong.`),
    look.notes.map((text) => make("p", { class: "note" }, text)),
    summary(labels),
    next,
    firstRows(studio, look, role),
    signs(studio, look),
    chooseMany(studio, look),
    list(studio, look, role),
    make("details", { class: "options" }, make("summary", {}, "How the shares and the file are read"), drawFields(studio, "The shares"), drawReading(studio)));
}

function summary(labels) {
  if (!labels.length) return make("p", { class: "problem", role: "alert" }, "No column is marked as a label yet. Mark the columns that hold the shares.");
  return make("p", { class: "labels" }, `${counted(labels.length, "label")}: `,
    labels.map((column) => make("span", { class: "chip" }, column.column)));
}

// The first rows as they stand in the file, with the role of each column above them.
function firstRows(studio, look, role) {
  const columns = look.columns.filter((each) => each.first);
  if (!columns.length) return null;
  const rank = (each) => ["id", "label"].indexOf(role(each)) + (role(each) === "id" || role(each) === "label" ? 0 : 3);
  const shown = [...columns].sort((a, b) => rank(a) - rank(b)).slice(0, MOST_SHOWN);
  const names = shown.map((each) => ({ name: each.column, short: each.column }));
  shortNames(names.filter((_, at) => role(shown[at]) === "label"));
  const roles = Object.keys(studio.state.roles).map((name) => [name, name]);
  const sums = sumsOf(studio.table.settings);
  const head = shown.map((column, at) => make("th", { scope: "col", class: `role-${role(column)}`, title: column.column },
    make("span", { class: "name" }, names[at].short || "(no name)"),
    sums.has(column.column) ? "sum" : select(roles, role(column), (value) => studio.setRoles({ [column.column]: value }),
      { "aria-label": `What ${column.column} is`, title: studio.state.roles[role(column)] })));
  const rows = shown[0].first.map((_, row) => make("tr", {}, make("th", { scope: "row" }, row + 1),
    shown.map((column) => make("td", { class: `role-${role(column)}${column.first[row] === "" ? " hole" : ""}` }, column.first[row] || make("span", { class: "unseen" }, "missing")))));
  return make("div", { class: "first-rows" },
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The first rows" },
      make("table", { class: "preview" }, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Row"), head)), make("tbody", {}, rows))),
    columns.length > MOST_SHOWN ? make("p", { class: "quiet small" }, `${MOST_SHOWN} of ${columns.length} columns; all of them are listed below.`) : null);
}

// Signs and words among the shares, and what each of them is to stand for.
function signs(studio, look) {
  if (!look.signs?.length) return null;
  const marks = marksOf(studio.table.settings.mark);
  const items = look.signs.map(({ sign, cells, read }) => make("li", {}, make("strong", { class: "sign" }, sign), ` in ${counted(cells, "cell")}, read as ${read}. It stands for `,
    meanings(studio, sign, marks.get(sign) ?? "")));
  return make("section", { class: "signs" }, make("h2", {}, "Signs and words among the shares"),
    make("p", { class: "quiet small" }, "Say what each stands for: bounds such as 1-4 or <5, a number, or missing."),
    make("ul", {}, items));
}

// What a sign or a word can stand for: three buttons, and a field for all else.
export function meanings(studio, sign, now = "", then = () => {}) {
  const keep = async (value) => {
    const marks = marksOf(studio.table.settings.mark);
    marks.set(sign, value);
    await studio.set({ mark: [...marks].map((each) => each.join("=")).join(", ") });
    then();
  };
  if (/[,=]/.test(sign)) return ["nothing that can be said here; correct the cells."];
  const input = make("input", { type: "text", value: now, placeholder: "missing", "aria-label": `What ${sign} stands for` });
  input.addEventListener("change", () => keep(input.value.trim()));
  return [input, ...[["missing", ""], ["0", "0"], ["1 to 4", "1-4"]].map(([text, value]) => button(text, () => keep(value), { class: "plain", "aria-label": `${sign} ${value ? "stands for" : "means"} ${text}` }))];
}

function marksOf(text) {
  const parts = (text || "").split(",").map((each) => each.trim()).filter(Boolean).map((each) => each.split("="));
  return new Map(parts.map(([sign, ...meaning]) => [sign.trim(), meaning.join("=").trim()]));
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

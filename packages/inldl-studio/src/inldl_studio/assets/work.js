// The steps after the columns: look at the table, complete it, ask, compare, predict, take along.

import { request } from "./api.js";
import { askPanel } from "./asking.js";
import { drawCompleting } from "./columns.js";
import { drawDocument } from "./documents.js";
import { button, bytes, counted, field, make, notice, select } from "./dom.js";
import { Grid } from "./grid.js";
import { dropZone } from "./home.js";
import { jobPanel } from "./jobs.js";
import { rowPanel } from "./row_panel.js";

const FAST = ["constant-mean", "ridge", "winldl", "knn"];

export async function drawInspect(studio) {
  const again = () => studio.run("inspect");
  const box = make("div", {}, make("h1", {}, "A look at the table"), jobPanel(studio, ["inspect"], again));
  const run = studio.table.runs.inspect;
  if (studio.stale("inspect") && !studio.busy("inspect") && !studio.failed("inspect")) await again();
  if (!run) return box;
  const result = await studio.result(run);
  box.append(
    make("div", { class: "actions" },
      button("Complete the table", () => startCompleting(studio), { class: "primary" }),
      make("a", { class: "button secondary", href: `#${studio.table.id}/columns` }, "Change the columns")),
    drawDocument(result.document, studio.base(run)));
  return box;
}

async function startCompleting(studio) {
  await studio.run("complete");
  studio.go("table");
}

// The one that needs no choice comes first.
function chooseMethod(studio, then) {
  const methods = [...studio.state.methods].sort((a, b) => (b.name === "auto") - (a.name === "auto"));
  const about = (name) => methods.find((each) => each.name === name)?.about ?? "";
  const { method } = studio.table.settings;
  const made = field("Method", select(methods.map(({ name }) => [name, name]), method, (value) => {
    made.querySelector("small").textContent = about(value);
    studio.set({ method: value }).then(then);
  }), about(method) || " ");
  return made;
}

export async function drawTable(studio) {
  const { runs } = studio.table;
  const run = runs.complete ?? runs.inspect;
  const again = () => studio.run("complete");
  const method = chooseMethod(studio, () => tell());
  const go = button(runs.complete ? "Complete again" : "Complete the table", again, { class: "primary", "data-starts": "complete" });
  const changes = make("div", { class: "changes" });
  const box = make("div", { class: "wide" },
    make("h1", {}, runs.complete ? "The completed table" : "The table"),
    make("div", { class: "run" }, method, go), drawCompleting(studio),
    jobPanel(studio, ["complete"], again), changes);
  const tell = () => changes.replaceChildren(...[edited(studio, again)].filter(Boolean));
  tell();
  if (!run) return box;
  const result = await studio.result(run);
  if (runs.complete) box.append(make("p", { class: "lead" }, result.document.summary.join(" ")));
  const onedit = (table) => { studio.keep(table); tell(); };
  if (studio.grid?.run === run) Object.assign(studio.grid, { onedit });
  else {
    studio.grid = new Grid(studio, run, { onedit });
    studio.ready = studio.grid.start();
  }
  const { grid } = studio;
  box.append(make("div", { class: "beside" }, make("div", { class: "both" }, grid.element, rowPanel(grid)), runs.complete ? await askPanel(studio, grid, result.unasked) : null));
  if (result.seen) box.append(make("details", { class: "seen", open: true }, make("summary", {}, "The result in pictures"), drawDocument(result.seen, studio.base(run))));
  return box;
}

// What was changed since the table was completed, and a way to undo, redo, list and complete again.
function edited(studio, again) {
  const { edits, runs, done, undone, off } = studio.table;
  const stale = runs.complete && studio.stale("complete");
  if (!edits.length && !stale && !done && !undone) return null;
  const cells = edits.length ? `${counted(edits.length, "cell")} edited` : stale ? "The columns or settings were changed" : "No cell is edited";
  const rest = !runs.complete ? "." : stale ? "; the table was completed before that." : edits.length ? ", and used in this result." : ".";
  const list = make("div", { class: "change-list" });
  return make("div", { class: "told" },
    make("p", {}, cells + rest),
    Object.entries(off ?? {}).slice(0, 3).map(([row, sum]) => make("p", { class: "off" }, `Row ${+row + 1} sums to ${Number(sum.toPrecision(6))} with these edits. `,
      button(`Go to row ${+row + 1}`, () => studio.grid?.goTo(+row, studio.grid.facts.labels[0]), { class: "plain" }))),
    make("div", { class: "actions" },
      stale && button("Complete again", again, { class: "secondary" }),
      button("Undo", () => studio.step("undo"), { class: "secondary", disabled: !done, title: "Ctrl+Z" }),
      button("Redo", () => studio.step("redo"), { class: "secondary", disabled: !undone, title: "Ctrl+Y" }),
      edits.length ? button("Undo all edits", () => studio.undo(), { class: "plain" }) : null,
      done || undone ? button("List of changes", () => listChanges(studio, list), { class: "plain" }) : null,
      done || undone ? make("a", { class: "plain", href: `api/tables/${studio.table.id}/changes.csv`, download: "" }, "Download it") : null),
    list);
}

async function listChanges(studio, box) {
  if (box.firstChild) return box.replaceChildren();
  const { changes } = await request("GET", `tables/${studio.table.id}/changes`);
  const told = (edit) => (edit === null ? "as in the file" : edit[0] === null ? "missing" : String(Number(edit[0].toPrecision(8))));
  const rows = changes.map((each) => {
    const [first] = each.cells;
    const what = !each.size ? "no cell" : each.size === 1 ? `row ${first.row + 1}, ${first.label}: ${told(first.before)} → ${told(first.after)}` : counted(each.size, "cell");
    return make("tr", { class: each.undone ? "undone" : "" },
      make("th", { scope: "row" }, new Date(1000 * each.when).toLocaleString([], { dateStyle: "short", timeStyle: "medium" })),
      make("td", {}, each.who || (studio.state.person ? "–" : "you")), make("td", {}, `${each.what}${each.undone ? " (undone)" : ""}`), make("td", {}, what));
  });
  const head = ["When", "Who", "What", "Cells"].map((text) => make("th", { scope: "col" }, text));
  return box.replaceChildren(make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "List of changes" },
    make("table", {}, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows))));
}

// Says that files are older than what was changed since.
function older(studio) {
  if (!studio.stale("complete")) return null;
  return make("div", { class: "told stale" },
    make("p", {}, "The table was changed since it was completed. What is here does not contain these changes."),
    make("div", { class: "actions" }, button("Complete again", () => startCompleting(studio), { class: "primary", "data-starts": "complete" })));
}

export async function drawReport(studio) {
  const box = make("div", {}, make("h1", {}, "Report and files"), jobPanel(studio, ["export"]));
  const run = studio.table.runs.complete;
  if (!run) {
    box.append(first(studio));
    return box;
  }
  const result = await studio.result(run);
  box.append(...[older(studio), files(studio, run, result), drawDocument(result.document, studio.base(run))].filter(Boolean));
  return box;
}

function first(studio) {
  return make("div", { class: "told" }, make("p", {}, "Complete the table first."),
    make("div", { class: "actions" }, button("Complete the table", () => startCompleting(studio), { class: "primary" })));
}

const NAMES = {
  table: ["The table", "your file with its missing shares filled in; nothing else changes"],
  draws: ["Multiple imputations", "a .zip of completed tables that differ where shares are uncertain: analyse each, then pool the results"],
  predicted: ["The table", "your file with the predicted shares on the right"],
  detailed: ["With intervals", "the same, with columns for the intervals and for what was filled in"],
  filled: ["With filled columns", "the same, with columns that say what was filled in"],
  model: ["The model", "for inldl predict and inldl evaluate"],
  report: ["The report", "one HTML page that needs no other file"],
  edited: ["Your table with edits", "what the commands work on"],
};

function files(studio, run, result) {
  const script = run === studio.table.runs.complete ? make("li", {},
    make("a", { class: "button secondary", href: `api/tables/${studio.table.id}/commands.txt`, download: "" }, "The commands"),
    make("span", { class: "quiet small" }, "a script that does the same without this page, with what was compared, asked and predicted: sh …-commands.txt")) : null;
  const links = Object.entries(result.files).map(([key, file]) => make("li", {},
    make("a", { class: "button secondary", href: `${studio.base(run)}/files/${key}`, download: "" }, NAMES[key][0]),
    make("span", { class: "quiet small" }, `${file.name}, ${bytes(file.size)}: ${NAMES[key][1]}`)));
  const [key, table] = Object.entries(result.files)[0];
  const others = [[".xlsx", "Excel"], [".csv", "CSV"]].filter(([suffix]) => !table.name.toLowerCase().endsWith(suffix));
  const more = others.map(([suffix, name]) => make("li", {},
    button(`As ${name}`, () => exported(studio, run, key, suffix), { class: "secondary" }),
    make("span", { class: "quiet small" }, suffix === ".xlsx" && key === "table" ? "the table as .xlsx: filled-in cells are bold and blue, and a second sheet has the notes" : `the table as ${suffix}`)));
  return make("section", { class: "files" }, make("h2", {}, "Downloads"), make("ul", {}, links.slice(0, 1), more, links.slice(1), script ?? []));
}

async function exported(studio, run, key, suffix) {
  const made = await studio.run("export", { run, key, suffix });
  if (!made) return;
  const ended = await studio.ended(made);
  if (ended?.status !== "done") return;
  const link = make("a", { href: `${studio.base(made.id)}/files/table`, download: "" });
  document.body.append(link);
  link.click();
  link.remove();
}

export async function drawCompare(studio) {
  const some = make("input", { type: "radio", name: "which", value: "some", checked: true });
  const all = make("input", { type: "radio", name: "which", value: "all" });
  const again = () => studio.run("compare", { methods: all.checked ? [] : [...FAST, "auto"] });
  const box = make("div", {}, make("h1", {}, "Which method suits the table"),
    make("p", { class: "lead" }, "Known shares are hidden and filled in, and rows are left out and predicted, with each method."),
    make("fieldset", { class: "which" }, make("legend", {}, "Methods"),
      field("Five: the mean, ridge, winldl, nearest rows, auto", some), field("All suitable ones; this takes some minutes", all)),
    make("div", { class: "actions" }, button("Compare", again, { class: "primary", "data-starts": "compare" })),
    jobPanel(studio, ["compare"], again));
  const run = studio.table.runs.compare;
  if (!run) return box;
  const result = await studio.result(run);
  const use = async () => {
    await studio.set({ method: result.recommended });
    notice(`Completing uses ${result.recommended} now.`);
    studio.go("table");
  };
  box.append(drawDocument(result.document, studio.base(run)),
    make("div", { class: "actions" }, button(`Complete with ${result.recommended}`, use, { class: "secondary" })));
  return box;
}

export async function drawPredict(studio) {
  const box = make("div", {}, make("h1", {}, "Predict another table"),
    make("p", { class: "lead" }, "New rows with the same feature columns; their shares are predicted and added on the right."));
  if (!studio.table.runs.complete) {
    box.append(first(studio));
    return box;
  }
  const changed = older(studio);
  if (changed) box.append(changed);
  const onsent = (other) => studio.run("predict", { other: other.id });
  box.append(dropZone({ state: studio.state, path: `tables/${studio.table.id}/others`, title: "Drop the table with new rows here", onsent }),
    jobPanel(studio, ["predict", "export"]));
  const run = studio.table.runs.predict;
  if (run) {
    const result = await studio.result(run);
    box.append(make("h2", {}, result.document.title), files(studio, run, result), drawDocument(result.document, studio.base(run)));
  }
  return box;
}

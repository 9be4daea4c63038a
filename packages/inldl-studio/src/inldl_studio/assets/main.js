// The page as a whole: which table, which step, and what is going on.

import { request } from "./api.js";
import { button, make, notice } from "./dom.js";
import { showHome } from "./home.js";
import { drawColumns, drawReading } from "./columns.js";
import { jobPanel } from "./jobs.js";
import { drawCompare, drawInspect, drawPredict, drawReport, drawTable } from "./work.js";

const VIEWS = {
  columns: ["Columns", drawLook], inspect: ["Look", drawInspect], table: ["Table", drawTable],
  report: ["Report and files", drawReport], compare: ["Compare methods", drawCompare], predict: ["Predict", drawPredict],
};
const main = document.getElementById("main");
const nav = document.getElementById("steps");
const title = document.getElementById("title");
const SOON = 400; // milliseconds between two questions while something is going on
const LATER = 700; // so that people who work together see each other's changes within a second

class Studio {
  constructor(state, table) {
    Object.assign(this, { state, table, panels: new Set(), closed: new Set(), results: new Map() });
  }

  base(run) {
    return `api/tables/${this.table.id}/runs/${run}`;
  }

  async result(run) {
    if (!this.results.has(run)) this.results.set(run, await request("GET", `tables/${this.table.id}/runs/${run}/result`));
    return this.results.get(run);
  }

  newest(kind) {
    return this.table.newest[kind];
  }

  busy(kind) {
    return this.table.running.some((run) => run.kind === kind);
  }

  failed(kind) {
    const last = this.newest(kind);
    return Boolean(last) && !["done", "running"].includes(last.status) && !last.stale;
  }

  // Whether the table was changed since a piece of work was done.
  stale(kind) {
    const last = this.newest(kind);
    return !last || last.status !== "done" || last.stale;
  }

  keep(table) {
    this.table = { ...this.table, ...table };
  }

  go(view) {
    location.hash = `${this.table.id}/${view}`;
  }

  // Says what went wrong; shows the table as it is now if another tab has changed it.
  async trying(action) {
    try {
      return await action();
    } catch (error) {
      notice(error.message, "problem");
      if (error.status === 409) await this.reload();
      return null;
    }
  }

  async reload() {
    this.keep(await request("GET", `tables/${this.table.id}`));
    await render(true);
  }

  run(kind, more = {}) {
    return this.trying(async () => {
      const run = await request("POST", `tables/${this.table.id}/runs`, { kind, ...more });
      this.keep(await request("GET", `tables/${this.table.id}`));
      this.update();
      watch();
      return run;
    });
  }

  stop(run) {
    return this.trying(async () => {
      await request("DELETE", `tables/${this.table.id}/runs/${run.id}`);
      this.keep(await request("GET", `tables/${this.table.id}`));
      this.update();
    });
  }

  // Waits until a piece of work has ended.
  async ended(run) {
    for (;;) {
      const now = await request("GET", `tables/${this.table.id}/runs/${run.id}`);
      if (now.status !== "running") return now;
      await new Promise((resolve) => { setTimeout(resolve, SOON); });
    }
  }

  // Changes wait for each other: the next one starts from what the last one has left.
  set(change) {
    this.turn = (this.turn ?? Promise.resolve()).then(() => this.trying(async () => {
      const before = this.table.settings;
      const settings = typeof change === "function" ? change(before) : change;
      this.keep(await request("PUT", `tables/${this.table.id}/settings`, { settings, settings_revision: this.table.settings_revision }));
      const reread = this.state.reading.some((name) => before[name] !== this.table.settings[name]);
      if (reread) await this.lookAgain();
      else if (view() === "columns") await render(true);
    }));
    return this.turn;
  }

  // Looks at a file that is read in another way now; a look that is going on is of no use any more.
  async lookAgain() {
    const running = this.table.running.filter((run) => run.kind === "look");
    await Promise.all(running.map((run) => request("DELETE", `tables/${this.table.id}/runs/${run.id}`)));
    await this.run("look");
  }

  async setRoles(changes) {
    const look = await this.result(this.table.runs.look);
    const all = Object.fromEntries(look.columns.map((column) => [column.column, column.role]));
    await this.set((now) => ({ roles: { ...all, ...now.roles, ...changes } }));
  }

  undo() {
    return this.trying(async () => {
      this.keep(await request("DELETE", `tables/${this.table.id}/edits`));
      await render(true);
    });
  }

  // Undoes the last change of cells of this person, or does the next one again. What somebody else
  // has changed since then stays.
  step(step, over = false) {
    this.turn = (this.turn ?? Promise.resolve()).then(() => this.trying(async () => {
      try {
        this.keep(await request("POST", `tables/${this.table.id}/changes`, { step, over }));
        notice(step === "undo" ? "Undone." : "Done again.");
      } catch (error) {
        if (error.status !== 409) throw error;
        const made = notice(`${error.message} Nothing was ${step === "undo" ? "undone" : "done"}.`, "problem");
        made.querySelector("button").before(button(`${step === "undo" ? "Undo" : "Redo"} the rest`, () => { made.remove(); this.step(step, true); }, { class: "plain" }));
      }
      await this.reload();
    }));
    return this.turn;
  }

  update() {
    document.querySelectorAll("[data-starts]").forEach((each) => { each.disabled = this.busy(each.dataset.starts); });
    for (const panel of this.panels) {
      if (panel.isConnected) panel.update();
      else if (panel.seen) this.panels.delete(panel);
      panel.seen ||= panel.isConnected;
    }
  }
}

let studio = null;
let timer = 0;

function place() {
  const [id, view] = location.hash.slice(1).split("/");
  return { id, view: VIEWS[view] ? view : "" };
}

function view() {
  const { view: wanted } = place();
  if (wanted) return wanted;
  return studio?.table.runs.complete ? "table" : "columns";
}

// Asks how things stand, often while something is going on, and shows results when they are there.
function watch() {
  clearTimeout(timer);
  if (!studio) return;
  const asked = studio;
  timer = setTimeout(async () => {
    try {
      if (!document.hidden) await follow(asked);
    } catch (error) {
      if (asked === studio && error.status === 404) notice(error.message, "problem");
      else if (asked === studio) asked.away ||= notice(error.message, "problem") ?? true;
    }
    if (asked === studio) watch();
  }, studio.table.running.length ? SOON : LATER);
}

async function follow(asked) {
  const table = await request("GET", `tables/${asked.table.id}`);
  if (asked !== studio) return;
  if (asked.away) document.getElementById("notices").replaceChildren();
  asked.away = false;
  const before = asked.table;
  asked.keep(table);
  const results = JSON.stringify(before.runs) !== JSON.stringify(table.runs);
  const changed = before.revision !== table.revision;
  if (results) await settle(asked, before.runs.look);
  // A file that could not be read: how it is read is at hand.
  if (!table.runs.look && asked.failed("look") && before.newest.look?.status === "running") await render();
  else if ((results || changed) && !main.contains(document.querySelector(".cell-input"))) await render(true);
  else asked.update();
}

// What was found out about the columns becomes what the user says. What the user has said otherwise
// stays, of the columns that are still there; `last` is the look before.
async function settle(asked, last = null) {
  const { look } = asked.table.runs;
  if (!look || (last === look)) return;
  const now = asked.table.settings.roles;
  if (!last && Object.keys(now).length) return;
  const guess = roleOf(await asked.result(look));
  const before = last ? roleOf(await asked.result(last).catch(() => ({ columns: [] }))) : {};
  const said = Object.entries(now).filter(([name, role]) => last && role !== before[name]);
  const kept = said.filter(([name]) => name in guess);
  const gone = said.filter(([name]) => !(name in guess)).map(([name]) => name);
  const roles = { ...guess, ...Object.fromEntries(kept) };
  if (gone.length) notice(`The file has no column ${gone.slice(0, 3).join(", ")} when it is read this way; the role that you gave is no longer used.`);
  if (JSON.stringify(roles) === JSON.stringify(now)) return;
  try {
    asked.keep(await request("PUT", `tables/${asked.table.id}/settings`, { settings: { roles }, settings_revision: asked.table.settings_revision }));
  } catch (error) {
    if (error.status !== 409) throw error; // another tab was faster
  }
}

const roleOf = (look) => Object.fromEntries(look.columns.map((column) => [column.column, column.role]));

async function drawLook(asked) {
  const again = () => asked.run("look");
  const panel = jobPanel(asked, ["look"], again);
  if (!asked.table.runs.look) {
    if (!asked.newest("look")) await again();
    return make("div", {}, make("h1", {}, asked.table.name), panel,
      make("div", { class: "actions" }, make("a", { class: "button secondary", href: "#" }, "Choose another file")),
      make("details", { class: "options", open: asked.failed("look") }, make("summary", {}, "How the file is read"), drawReading(asked)));
  }
  return make("div", {}, panel, drawColumns(asked, await asked.result(asked.table.runs.look)));
}

function drawNav() {
  const now = view();
  const { runs } = studio.table;
  const done = { columns: runs.look, inspect: runs.inspect, table: runs.complete, report: runs.complete, compare: runs.compare, predict: runs.predict };
  const items = Object.entries(VIEWS).map(([name, [text]]) => make("li", { class: done[name] ? "done" : "" },
    make("a", { href: `#${studio.table.id}/${name}`, "aria-current": name === now ? "page" : null }, text,
      done[name] ? make("span", { class: "unseen" }, " (done)") : null)));
  nav.replaceChildren(make("ul", {}, items));
  nav.hidden = false;
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

// Whoever shares the studio is told so on every screen, and by which name the others know them.
function tellShared({ people, person }) {
  const place = document.getElementById("shared");
  place.hidden = !people.length;
  const others = people.filter((name) => name !== person);
  place.textContent = `Shared: you are ${person}`;
  place.title = others.length ? `${others.join(", ")} can see and change all tables, too.` : "Nobody else has an address.";
}

let drawing = 0;

async function render(still = false) {
  const mine = ++drawing;
  const { id } = place();
  if (!id || id === "main") return home();
  if (studio?.table.id !== id) {
    const [state, table] = await Promise.all([request("GET", "state"), request("GET", `tables/${id}`)]);
    if (mine !== drawing) return undefined;
    studio = new Studio(state, table);
    tellShared(state);
    await settle(studio);
  }
  document.title = `${studio.table.name} – inldl studio`;
  title.textContent = studio.table.name;
  drawNav();
  const scrolled = scrollY;
  const focused = main.contains(document.activeElement) ? selectorOf(document.activeElement) : "";
  const name = view();
  const drawn = await VIEWS[name][1](studio);
  if (mine !== drawing) return undefined;
  const [open, closed] = ["[open]", ":not([open])"].map((which) => [...main.querySelectorAll(`details${which}`)].map((each) => each.className));
  main.replaceChildren(drawn);
  main.dataset.view = name;
  studio.grid?.restore();
  if (still) {
    main.querySelectorAll("details").forEach((each) => { each.open = open.includes(each.className) || (each.open && !closed.includes(each.className)); });
    scrollTo(0, scrolled);
    if (focused) main.querySelector(focused)?.focus({ preventScroll: true });
  }
  studio.update();
  await studio.ready;
  sideways(); // of page.js
  main.dataset.ready = name;
  watch();
  return undefined;
}

// How to find an element again once the page is drawn again.
function selectorOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  const label = element.getAttribute("aria-label");
  return label ? `[aria-label=${CSS.escape(label)}]` : "";
}

async function home() {
  studio = null;
  clearTimeout(timer);
  nav.hidden = true;
  title.textContent = "";
  tellShared(await showHome(main));
  main.dataset.view = main.dataset.ready = "home";
}

async function show() {
  main.dataset.ready = "";
  try {
    await render();
    scrollTo(0, 0);
  } catch (error) {
    nav.hidden = true;
    main.replaceChildren(make("h1", {}, "This did not work"), make("p", { class: "problem", role: "alert" }, error.message),
      make("div", { class: "actions" }, make("a", { class: "button primary", href: "#" }, "All tables"),
        button("Try again", show, { class: "secondary" })));
    main.dataset.ready = "problem";
  }
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", async () => {
  await show();
  if (document.activeElement === document.body) main.focus({ preventScroll: true }); // its button is gone
});
// Undo and redo, wherever the focus is; a field has its own.
document.addEventListener("keydown", (event) => {
  const key = event.key.toLowerCase();
  if (!studio || view() !== "table" || !(event.ctrlKey || event.metaKey) || event.altKey || !["z", "y"].includes(key)) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  studio.step(key === "y" || event.shiftKey ? "redo" : "undo");
});
document.addEventListener("visibilitychange", () => { if (!document.hidden) watch(); });
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => event.preventDefault()); // a file that misses its place is not opened
show();

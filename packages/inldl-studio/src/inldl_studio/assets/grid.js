// The table as a heat map, with a cell that has the focus.

import { CellEditor } from "./cell_editor.js";
import { Chosen } from "./chosen.js";
import { button, make, select } from "./dom.js";
import { PAGE, Rows } from "./rows.js";
import { headings, shortNames } from "./headings.js";

const ROW = 30; // pixels
const TALLEST = 8_000_000; // pixels that browsers scroll without trouble
export const KIND = ["known", "filled", "missing", "edited", "emptied"];
export const SAID = ["known", "filled in", "missing", "edited", "made missing"];
const [FILLED, MISSING, EMPTIED] = [1, 2, 4];

export class Grid {
  constructor(studio, run, { onedit }) {
    Object.assign(this, { studio, run, onedit, active: { row: 0, column: 0 }, lines: new Map() });
    this.data = new Rows(`tables/${studio.table.id}/runs/${run}`, () => this.draw());
    this.editor = new CellEditor(this);
    this.chosen = new Chosen(this);
    this.view = make("div", { class: "grid", role: "grid", "aria-label": `Rows of ${studio.table.name}`, "aria-readonly": "false", "aria-multiselectable": "true" });
    this.space = make("div", { class: "grid-space", role: "presentation" });
    this.head = make("div", { class: "grid-row grid-head", role: "row", "aria-rowindex": 1 });
    this.rows = make("div", { class: "grid-rows", role: "rowgroup" });
    this.tip = make("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    this.said = make("p", { class: "unseen", role: "status", "aria-live": "polite" });
    this.count = make("span", { class: "quiet", role: "status" });
    this.view.append(this.head, this.space, this.rows);
    this.element = make("div", { class: "grid-box" }, this.toolbar(), this.chosen.bar, this.view, this.legend(), this.tip, this.said);
    this.listen();
    new ResizeObserver(() => { if (this.shown) this.wide(); this.draw(); }).observe(this.view);
  }

  listen() {
    const cellOf = (event) => event.target.closest("[data-column]");
    this.view.addEventListener("scroll", () => {
      if (this.view.isConnected) this.scrolled = [this.view.scrollLeft, this.view.scrollTop];
      if (!this.rows.contains(document.activeElement)) this.hide();
      this.draw();
    }, { passive: true });
    this.view.addEventListener("keydown", (event) => this.key(event));
    this.rows.addEventListener("mouseover", (event) => {
      if (event.movementX || event.movementY) this.point(cellOf(event)); // else the table moved
    });
    this.rows.addEventListener("mouseleave", () => this.hide());
    this.rows.addEventListener("focusout", () => this.hide());
    this.rows.addEventListener("dblclick", (event) => this.editor.open(cellOf(event)));
    this.rows.addEventListener("mousedown", (event) => {
      const cell = cellOf(event);
      if (event.shiftKey && cell) {
        event.preventDefault();
        this.chosen.extend(cell);
        return;
      }
      this.choose(cell);
      this.chosen.begin(cell);
      this.point(cell); // fingers do not hover
    });
    this.rows.addEventListener("mousemove", (event) => { if (event.buttons === 1) this.chosen.drag(cellOf(event)); });
    for (const what of ["copy", "paste", "cut"]) this.rows.addEventListener(what, (event) => this.chosen[what](event));
    this.rows.addEventListener("focusin", (event) => this.choose(cellOf(event)));
    addEventListener("scroll", () => {
      if (!this.view.isConnected) return;
      if (this.rows.contains(document.activeElement) && !this.editor.input) this.follow();
      else this.hide();
    }, { passive: true });
  }

  toolbar() {
    const find = this.find = make("input", { type: "search", placeholder: "Find rows", "aria-label": "Show rows that contain" });
    let waiting = 0;
    find.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.ask({ find: find.value }), 250);
    });
    const only = this.only = select([["", "All rows"], ["filled", "Rows with missing shares"], ["doubt", "Most doubtful rows first"], ["edited", "Edited rows"]], "", (value) => this.ask({ only: value }), { "aria-label": "Which rows" });
    this.doubt = make("span", { class: "doubt", role: "group", "aria-label": "Least certain cells" },
      button("‹", () => this.jump(-1), { "aria-label": "Previous doubtful cell", title: "Previous doubtful cell" }),
      this.where = make("span", { role: "status" }, "Doubtful cells"),
      button("›", () => this.jump(1), { "aria-label": "Next doubtful cell", title: "Next doubtful cell" }));
    this.freeze = select([["1", "Row numbers stay in sight"], ["2", "Row numbers and names stay"], ["3", "All up to the chosen column stay"]],
      matchMedia("(max-width: 40rem)").matches ? "1" : "2", () => { this.stays = this.active.column + 1; this.columns(); this.lines.clear(); this.paint(); }, { "aria-label": "Which columns stay in sight" });
    return make("div", { class: "grid-tools" }, find, only, this.freeze, this.doubt, this.count);
  }

  legend() {
    return make("p", { class: "legend quiet small" },
      make("span", { class: "key known" }), "known ", make("span", { class: "key filled" }), "filled in ",
      make("span", { class: "key missing" }), "missing ", make("span", { class: "key edited" }), "edited ", make("span", { class: "key emptied" }), "made missing. ",
      "Press Enter or double-click to edit a cell; Shift and the arrow keys choose several; copy and paste as in a spreadsheet.");
  }

  async start() {
    await this.ask({});
    return this;
  }

  // A table that is drawn again stays where it was.
  restore() {
    if (!this.view.isConnected || !this.facts) return;
    if (this.scrolled) this.view.scrollTo(...this.scrolled);
    this.refresh();
  }

  async ask(change) {
    this.chosen.clear(); // other rows may stand in these places
    this.cells = null;
    this.at = -1;
    this.where.textContent = "Doubtful cells";
    if (!await this.data.ask(change)) return;
    this.columns();
    this.view.setAttribute("aria-rowcount", this.total + 1);
    this.count.textContent = `${this.total.toLocaleString("en")} rows`;
    this.space.style.height = `${Math.min(this.total * ROW, TALLEST)}px`;
    this.doubt.hidden = !this.facts.intervals;
    this.active.row = Math.min(this.active.row, Math.max(0, this.total - 1));
    this.draw();
  }

  get total() {
    return this.data.total;
  }

  get facts() {
    return this.data.facts;
  }

  // Columns ------------------------------------------------------------------------------------

  // Number, ids, labels, others.
  columns() {
    const ids = this.facts.ids.length;
    const others = this.facts.others.map((name, at) => ({ name, kind: "other", at }));
    this.shown = [{ name: "#", kind: "number" }, ...others.slice(0, ids), ...this.facts.labels.map((name, at) => ({ name, kind: "label", at })), ...others.slice(ids)];
    shortNames(this.shown.filter((each) => each.kind === "label"));
    this.element.classList.toggle("with-histograms", Boolean(this.facts.histograms));
    this.view.setAttribute("aria-colcount", this.shown.length);
    this.wide();
    const widths = { number: "var(--number)", label: "var(--label)", other: "var(--other)" };
    this.view.style.setProperty("--template", this.shown.map((each) => widths[each.kind]).join(" "));
    this.head.replaceChildren(...this.shown.map((each, at) => this.heading(each, at)));
  }

  // Columns of shares are as wide as their names, while there is room.
  wide() {
    const names = this.shown.filter((each) => each.kind === "label").map((each) => each.short ?? each.name);
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const longest = Math.max(0, ...names.map((name) => name.length)) * 0.52 + 1.4;
    const room = (this.view.clientWidth || innerWidth) / rem - 13;
    const width = Math.min(longest, Math.max(6, room / Math.max(1, names.length)), 14);
    if (width > 6) this.view.style.setProperty("--label", `${width.toFixed(2)}rem`);
    else this.view.style.removeProperty("--label");
  }

  heading(column, at) {
    const { sort, down } = this.data.query;
    const sorted = sort === column.name && column.kind !== "number";
    const order = sorted ? (down ? "descending" : "ascending") : "none";
    const text = column.kind === "number" ? button("Row", () => this.ask({ sort: "", down: "" }), { title: "As in the file" }) : button(column.short ?? column.name, () => this.sort(column.name), { title: `${column.name}: sort by it`, "aria-label": column.name });
    const drawn = column.kind === "label" && headings(this.facts.histograms?.[column.at], column.name);
    return this.placed(at, make("div", { role: "columnheader", class: `cell ${column.kind} ${this.sticky(at)}`, "aria-sort": order, "aria-colindex": at + 1 }, text, drawn || null));
  }

  // How many columns stay in sight when the table is scrolled to the side.
  get frozen() {
    return { 1: 1, 2: 1 + Math.min(1, this.facts.ids.length), 3: this.stays }[this.freeze.value];
  }

  sticky(at) {
    return at < this.frozen ? "frozen" : "";
  }

  // A column that stays begins behind those before it.
  placed(at, made) {
    const widths = this.shown.slice(0, at).map(({ kind }) => `var(--${kind})`);
    if (at < this.frozen) made.style.left = `calc(${["0px", ...widths].join(" + ")})`;
    return made;
  }

  sort(name) {
    const { sort, down } = this.data.query;
    if (sort !== name) return this.ask({ sort: name, down: "" });
    return this.ask(down ? { sort: "", down: "" } : { sort: name, down: "1" });
  }

  // Drawing ------------------------------------------------------------------------------------

  get height() {
    return this.view.clientHeight - this.head.offsetHeight;
  }

  get fits() {
    return Math.ceil(this.height / ROW) + 1;
  }

  get allFit() {
    return this.total * ROW <= TALLEST;
  }

  // Which rows are in sight: as far down as the view is scrolled, also if the rows do not all fit.
  window() {
    const { fits } = this;
    if (this.allFit) {
      const first = Math.max(0, Math.floor(this.view.scrollTop / ROW) - 5);
      return { first, count: fits + 10, top: first * ROW };
    }
    const share = this.view.scrollTop / Math.max(1, TALLEST - this.height);
    const first = Math.round(share * Math.max(0, this.total - fits + 1));
    return { first, count: fits, top: this.view.scrollTop };
  }

  draw() {
    if (!this.shown || this.editor.input) return;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const { first, count, top } = this.window();
    this.data.fetchSoon(() => this.window());
    const focused = this.rows.contains(document.activeElement);
    this.rows.style.transform = `translateY(${top}px)`;
    const last = Math.min(this.total, first + count);
    this.replace(first, last);
    const { row, column } = this.active;
    this.mark(this.cell({ row: this.lines.has(row) ? row : Math.min(first + 6, last - 1), column }));
    this.chosen.show();
    this.onrow?.(this.data.at(this.lines.has(row) ? row : first));
    if (focused) this.follow();
  }

  // Draws rows; those that are there already stay as they are.
  replace(first, last) {
    const lines = new Map();
    for (let position = first; position < last; position++) {
      const [data, old] = [this.data.at(position), this.lines.get(position)];
      lines.set(position, old?.data === data && old ? old : { data, element: this.line(position, data) });
    }
    for (const [position, { element }] of this.lines) if (lines.get(position)?.element !== element) element.remove();
    let next = this.rows.firstChild;
    for (const { element } of lines.values()) {
      if (element === next) next = next.nextSibling;
      else this.rows.insertBefore(element, next);
    }
    this.lines = lines;
    this.none ??= make("p", { class: "quiet empty" }, "No rows match.");
    if (this.total) this.none.remove();
    else this.rows.append(this.none);
  }

  line(position, data) {
    const cells = this.shown.map((column, at) => this.drawn(column, at, position, data));
    return make("div", { class: "grid-row", role: "row", "aria-rowindex": position + 2 }, cells);
  }

  drawn(column, at, position, data) {
    const attributes = { role: column.kind === "number" ? "rowheader" : "gridcell", class: `cell ${column.kind} ${this.sticky(at)}`, "data-position": position, "data-column": at, "aria-colindex": at + 1, tabindex: -1 };
    const made = this.placed(at, make("div", attributes));
    if (!data) return made;
    if (column.kind === "number") made.textContent = data.row + 1;
    if (column.kind === "other") made.textContent = data.texts[column.at];
    if (column.kind === "label") {
      const [text, kind, share] = data.cells[column.at];
      made.textContent = text;
      made.classList.add(KIND[kind]);
      made.classList.toggle("outdated", data.old && (kind === FILLED || kind === EMPTIED));
      made.style.setProperty("--heat-share", `${Math.round(100 * Math.min(1, Math.max(0, share)) ** 0.7)}%`);
      made.setAttribute("aria-label", this.told(data, column));
    }
    return made;
  }

  // What is said about a share: where it is, what it is, and how sure.
  told(data, column) {
    const [text, kind, , interval, who] = data.cells[column.at];
    const name = data.texts.slice(0, this.facts.ids.length).join(", ");
    const known = kind === MISSING || !text ? `${SAID[kind]}${who ? ` by ${who}` : ""}` : `${text}, ${kind === EMPTIED ? "filled in, " : ""}${SAID[kind]}${who ? ` by ${who}` : ""}`;
    const [low, high] = interval?.split(" to ") ?? [];
    const older = data.old && interval ? "; from before the row was edited" : "";
    const sure = (!low ? "" : high ? `; likely between ${low} and ${high} (true of about 9 in 10 cells)` : "; exact, from the sum of the row") + older;
    return `Row ${data.row + 1}${name ? `, ${name}` : ""}, ${column.name}: ${known}${sure}`;
  }

  // Cells --------------------------------------------------------------------------------------

  cell({ row, column }) {
    return this.lines.get(row)?.element.children[column];
  }

  rowOf(cell) {
    return this.data.at(+cell.dataset.position);
  }

  columnOf(cell) {
    return this.shown[+cell.dataset.column];
  }

  isLabel(cell) {
    return Boolean(cell) && this.columnOf(cell)?.kind === "label";
  }

  sentence(cell) {
    const data = this.rowOf(cell);
    return data && this.isLabel(cell) ? this.told(data, this.columnOf(cell)) : "";
  }

  point(cell) {
    if (this.editor.input) return undefined;
    const text = cell && this.sentence(cell);
    if (!text) return this.hide();
    this.tip.textContent = text;
    this.tip.classList.remove("problem");
    return this.place(cell);
  }

  tell(cell, problem) {
    this.tip.textContent = problem;
    this.tip.classList.add("problem");
    this.said.textContent = problem;
    this.place(cell);
  }

  place(cell) {
    Object.assign(this.tip.style, { left: 0, top: 0 }); // as wide as its text
    this.tip.hidden = false;
    const box = cell.getBoundingClientRect();
    const left = Math.min(box.left, document.documentElement.clientWidth - this.tip.offsetWidth - 8);
    const below = box.bottom + 6 + this.tip.offsetHeight < innerHeight;
    this.tip.style.left = `${Math.max(8, left)}px`;
    this.tip.style.top = `${below ? box.bottom + 6 : box.top - this.tip.offsetHeight - 6}px`;
  }

  hide() {
    if (!this.editor.input) this.tip.hidden = true;
  }

  choose(cell) {
    if (!cell || this.editor.input) return;
    this.active = { row: +cell.dataset.position, column: +cell.dataset.column };
    this.mark(cell);
    this.chosen.show();
    this.onrow?.(this.rowOf(cell));
  }

  // One cell of the table can be reached with the Tab key.
  mark(cell) {
    this.marked?.setAttribute("tabindex", -1);
    this.marked = cell;
    cell?.setAttribute("tabindex", 0);
  }

  // The cell that has the focus keeps it, and what is said about it stays beside it.
  follow() {
    const cell = this.cell(this.active);
    cell?.focus({ preventScroll: true });
    const [view, box] = [this.view, cell ?? this.head].map((each) => each.getBoundingClientRect());
    if (cell && box.top >= view.top && box.bottom <= view.bottom && box.right > view.left && box.left < view.right) this.point(cell);
    else this.hide();
  }

  // Moving -------------------------------------------------------------------------------------

  // Moves to a cell, and scrolls as far as is necessary; one that is far away comes to the middle.
  async move(row, column, far = false) {
    row = Math.max(0, Math.min(this.total - 1, row));
    column = Math.max(0, Math.min(this.shown.length - 1, column));
    this.active = { row, column };
    this.scrollTo(row, far);
    await this.data.page(Math.floor(row / PAGE));
    if (this.editor.input) return;
    this.paint();
    const cell = this.cell(this.active);
    if (!cell) return;
    this.reveal(cell);
    cell.focus({ preventScroll: true });
    if (far) cell.scrollIntoView({ block: "nearest" });
    this.point(cell);
    this.said.textContent = this.sentence(cell) || cell.textContent;
  }

  scrollTo(row, far) {
    const { view, height, fits } = this;
    if (!this.allFit) {
      const { first, count } = this.window();
      if (row < first || row >= first + count - 2) view.scrollTop = Math.max(0, (row - fits / 2) / Math.max(1, this.total - fits + 1)) * (TALLEST - height);
    } else if (far) view.scrollTop = (row + 0.5) * ROW - height / 2;
    else if (row * ROW < view.scrollTop) view.scrollTop = row * ROW;
    else if ((row + 1) * ROW > view.scrollTop + height - 12) view.scrollTop = (row + 1) * ROW - height + 12;
  }

  reveal(cell) {
    const fixed = [...this.head.querySelectorAll(".frozen")].reduce((sum, each) => sum + (getComputedStyle(each).position === "sticky" ? each.offsetWidth : 0), 0);
    const left = cell.offsetLeft;
    if (cell.matches(".frozen")) return;
    if (left < this.view.scrollLeft + fixed) this.view.scrollLeft = left - fixed;
    else if (left + cell.offsetWidth > this.view.scrollLeft + this.view.clientWidth) this.view.scrollLeft = left + cell.offsetWidth - this.view.clientWidth;
  }

  key(event) {
    if (this.editor.input || !event.target.dataset?.column) return;
    if (this.chosen.key(event)) return;
    const { row, column } = this.active;
    const page = Math.max(1, Math.floor(this.view.clientHeight / ROW) - 3);
    const all = event.ctrlKey || event.metaKey;
    const moves = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      PageUp: [row - page, column], PageDown: [row + page, column],
      Home: [all ? 0 : row, 0], End: [all ? this.total - 1 : row, this.shown.length - 1],
    };
    const cell = this.cell(this.active);
    let action = null;
    if (moves[event.key]) action = () => this.move(...moves[event.key]);
    else if (event.key === "Enter" || event.key === "F2") action = () => this.editor.open(cell);
    else if (/^[0-9.,]$/.test(event.key) && !all) action = () => this.editor.open(cell, event.key);
    else if (event.key === "Delete" || event.key === "Backspace") action = () => this.chosen.makeMissing();
    if (!action) return;
    event.preventDefault();
    if (moves[event.key]) this.chosen.clear();
    action();
  }

  // Fetches what is in sight again.
  async refresh() {
    const total = await this.data.again(this.window());
    if (total !== this.total) await this.ask({});
    if (!this.editor.input) this.paint();
  }

  async jump(step) {
    this.cells ??= await this.data.doubtful();
    if (!this.cells.length) {
      this.where.textContent = "No doubtful cell";
      return;
    }
    this.at = (this.at + step + this.cells.length + (this.at < 0 && step < 0 ? 1 : 0)) % this.cells.length;
    const [position, label] = this.cells[this.at];
    this.where.textContent = `${this.at + 1} of ${this.cells.length.toLocaleString("en")}`;
    await this.move(position, this.shown.findIndex((each) => each.kind === "label" && each.at === label), true);
  }

  // Moves to a row by its number in the file.
  async goTo(row, label) {
    const { sort, find, only } = this.data.query;
    if (sort || find || only) {
      this.find.value = this.only.value = "";
      await this.ask({ sort: "", down: "", find: "", only: "" });
    }
    await this.move(row, this.shown.findIndex((each) => each.kind === "label" && each.name === label), true);
  }
}

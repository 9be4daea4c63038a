// The table as a heat map. Rows are fetched as they come into sight, however many there are.

import { request } from "./api.js";
import { button, make, notice, select } from "./dom.js";

const ROW = 30; // pixels
const PAGE = 100; // rows that are fetched at once
const TALLEST = 8_000_000; // pixels that browsers scroll without trouble
const [KNOWN, FILLED, MISSING, EDITED] = [0, 1, 2, 3];
const KIND = ["known", "filled", "missing", "edited"];
const SAID = ["known", "filled in", "missing", "edited by you"];

export class Grid {
  constructor(studio, run, { onedit }) {
    Object.assign(this, { studio, run, onedit, pages: new Map(), total: 0, active: { row: 0, column: 0 } });
    this.query = { sort: "", down: "", find: "", only: "" };
    this.base = `tables/${studio.table.id}/runs/${run}`;
    this.view = make("div", { class: "grid", role: "grid", "aria-label": `Rows of ${studio.table.name}`, "aria-readonly": "false" });
    this.space = make("div", { class: "grid-space", role: "presentation" });
    this.head = make("div", { class: "grid-row grid-head", role: "row", "aria-rowindex": 1 });
    this.rows = make("div", { class: "grid-rows", role: "rowgroup" });
    this.tip = make("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    this.said = make("p", { class: "unseen", role: "status", "aria-live": "polite" });
    this.count = make("span", { class: "quiet", role: "status" });
    this.view.append(this.head, this.space, this.rows);
    this.element = make("div", { class: "grid-box" }, this.toolbar(), this.view, this.legend(), this.tip, this.said);
    this.view.addEventListener("scroll", () => {
      if (this.view.isConnected) this.scrolled = [this.view.scrollLeft, this.view.scrollTop];
      if (!this.rows.contains(document.activeElement)) this.hide();
      this.draw();
    }, { passive: true });
    this.view.addEventListener("keydown", (event) => this.key(event));
    this.rows.addEventListener("mouseover", (event) => this.point(event.target.closest("[data-column]")));
    this.rows.addEventListener("mouseleave", () => this.hide());
    this.rows.addEventListener("focusout", () => this.hide());
    this.rows.addEventListener("dblclick", (event) => this.edit(event.target.closest("[data-column]")));
    this.rows.addEventListener("mousedown", (event) => this.choose(event.target.closest("[data-column]")));
    addEventListener("scroll", () => {
      if (!this.view.isConnected) return;
      if (this.rows.contains(document.activeElement) && !this.editing) this.follow();
      else this.hide();
    }, { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.view);
  }

  toolbar() {
    const find = make("input", { type: "search", placeholder: "Find rows", "aria-label": "Show rows that contain" });
    let waiting = 0;
    find.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.ask({ find: find.value }), 250);
    });
    const only = select([["", "All rows"], ["filled", "Rows with missing shares"], ["edited", "Edited rows"]], "", (value) => this.ask({ only: value }), { "aria-label": "Which rows" });
    this.doubt = make("span", { class: "doubt", role: "group", "aria-label": "Least certain cells" },
      button("‹", () => this.jump(-1), { "aria-label": "Previous doubtful cell", title: "Previous doubtful cell" }),
      this.where = make("span", { role: "status" }, "Doubtful cells"),
      button("›", () => this.jump(1), { "aria-label": "Next doubtful cell", title: "Next doubtful cell" }));
    return make("div", { class: "grid-tools" }, find, only, this.doubt, this.count);
  }

  legend() {
    return make("p", { class: "legend quiet small" },
      make("span", { class: "key known" }), "known ", make("span", { class: "key filled" }), "filled in ",
      make("span", { class: "key missing" }), "missing ", make("span", { class: "key edited" }), "edited. ",
      "Press Enter or double-click to edit a cell.");
  }

  async start() {
    await this.ask({});
    return this;
  }

  // A table that is drawn again stays where it was.
  restore() {
    if (!this.scrolled || !this.view.isConnected) return;
    this.view.scrollTo(...this.scrolled);
    this.refresh();
  }

  async ask(change) {
    Object.assign(this.query, change);
    this.pages.clear();
    this.cells = null;
    this.at = -1;
    this.where.textContent = "Doubtful cells";
    const first = await this.page(0);
    if (!first) return;
    this.total = first.total;
    this.facts ??= first.facts;
    this.columns();
    this.view.setAttribute("aria-rowcount", this.total + 1);
    this.count.textContent = `${this.total.toLocaleString("en")} rows`;
    this.space.style.height = `${Math.min(this.total * ROW, TALLEST)}px`;
    this.doubt.hidden = !this.facts.completed;
    this.active.row = Math.min(this.active.row, Math.max(0, this.total - 1));
    this.draw();
  }

  // The columns: number, ids, labels, others.
  columns() {
    const ids = this.facts.ids.length;
    const others = this.facts.others.map((name, at) => ({ name, kind: "other", at }));
    this.shown = [{ name: "#", kind: "number" }, ...others.slice(0, ids), ...this.facts.labels.map((name, at) => ({ name, kind: "label", at })), ...others.slice(ids)];
    this.view.setAttribute("aria-colcount", this.shown.length);
    const widths = { number: "var(--number)", label: "var(--label)", other: "var(--other)" };
    this.view.style.setProperty("--template", this.shown.map((each) => widths[each.kind]).join(" "));
    this.head.replaceChildren(...this.shown.map((each, at) => this.heading(each, at)));
  }

  heading(column, at) {
    const sorted = this.query.sort === column.name && column.kind !== "number";
    const order = sorted ? (this.query.down ? "descending" : "ascending") : "none";
    const text = column.kind === "number" ? button("Row", () => this.ask({ sort: "", down: "" })) : button(column.name, () => this.sort(column.name), { title: `Sort by ${column.name}` });
    return make("div", { role: "columnheader", class: `cell ${column.kind} ${this.sticky(at)}`, "aria-sort": order, "aria-colindex": at + 1 }, text);
  }

  sticky(at) {
    return at === 0 ? "first" : at === 1 && this.facts.ids.length ? "second" : "";
  }

  sort(name) {
    const down = this.query.sort === name && !this.query.down ? "1" : "";
    const again = this.query.sort === name && this.query.down;
    return this.ask(again ? { sort: "", down: "" } : { sort: name, down });
  }

  // Fetches a page of rows; those that are asked for twice come once.
  page(number) {
    if (!this.pages.has(number)) {
      if (this.pages.size > 60) this.pages.delete(this.pages.keys().next().value);
      const asked = new URLSearchParams({ ...this.query, first: number * PAGE, count: PAGE });
      const pages = this.pages;
      const coming = request("GET", `${this.base}/rows?${asked}`).then((found) => {
        pages.set(number, found);
        if (pages === this.pages && number) this.draw();
        return found;
      }).catch((error) => {
        pages.delete(number);
        notice(error.message, "problem");
        return null;
      });
      pages.set(number, coming);
    }
    return this.pages.get(number);
  }

  row(position) {
    const page = this.pages.get(Math.floor(position / PAGE));
    return page?.rows?.[position % PAGE];
  }

  // Which rows are in sight: as far down as the view is scrolled, also if the rows do not all fit.
  window() {
    const height = this.view.clientHeight - this.head.offsetHeight;
    const fits = Math.ceil(height / ROW) + 1;
    if (this.total * ROW <= TALLEST) {
      const first = Math.max(0, Math.floor(this.view.scrollTop / ROW) - 5);
      return { first, count: fits + 10, top: first * ROW };
    }
    const share = this.view.scrollTop / Math.max(1, TALLEST - height);
    const first = Math.round(share * Math.max(0, this.total - fits + 1));
    return { first, count: fits, top: this.view.scrollTop };
  }

  draw() {
    if (!this.shown || this.editing) return;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const { first, count, top } = this.window();
    const last = Math.min(this.total, first + count);
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(0, last - 1) / PAGE); page++) this.fetchSoon(page);
    const focused = this.rows.contains(document.activeElement);
    const made = [];
    for (let position = first; position < last; position++) made.push(this.line(position));
    this.rows.style.transform = `translateY(${top}px)`;
    this.rows.replaceChildren(...made);
    if (!this.total) this.rows.append(make("p", { class: "quiet empty" }, "No row fits."));
    if (focused) this.follow();
  }

  // The cell that has the focus keeps it, and what is said about it stays beside it.
  follow() {
    const cell = this.cell(this.active);
    cell?.focus({ preventScroll: true });
    const [view, box] = [this.view, cell ?? this.head].map((each) => each.getBoundingClientRect());
    if (cell && box.top >= view.top && box.bottom <= view.bottom && box.right > view.left && box.left < view.right) this.point(cell);
    else this.hide();
  }

  // Pages that are only passed are not fetched.
  fetchSoon(page) {
    if (this.pages.has(page)) return;
    clearTimeout(this.soon);
    this.soon = setTimeout(() => {
      const { first, count } = this.window();
      for (let each = Math.floor(first / PAGE); each <= Math.floor((first + count) / PAGE); each++) {
        if (each * PAGE < this.total) this.page(each);
      }
    }, 30);
  }

  line(position) {
    const data = this.row(position);
    const cells = this.shown.map((column, at) => this.drawn(column, at, position, data));
    return make("div", { class: "grid-row", role: "row", "aria-rowindex": position + 2 }, cells);
  }

  drawn(column, at, position, data) {
    const active = position === this.active.row && at === this.active.column;
    const attributes = { role: column.kind === "number" ? "rowheader" : "gridcell", class: `cell ${column.kind} ${this.sticky(at)}`, "data-position": position, "data-column": at, "aria-colindex": at + 1, tabindex: active ? 0 : -1 };
    const made = make("div", attributes);
    if (!data) return made;
    if (column.kind === "number") made.textContent = data.row + 1;
    if (column.kind === "other") made.textContent = data.texts[column.at];
    if (column.kind === "label") {
      const [text, kind, share] = data.cells[column.at];
      made.textContent = text;
      made.classList.add(KIND[kind]);
      made.style.setProperty("--heat-share", `${Math.round(100 * Math.min(1, Math.max(0, share)) ** 0.7)}%`);
      made.setAttribute("aria-label", this.sentence(position, at));
    }
    return made;
  }

  sentence(position, at) {
    const data = this.row(position);
    const column = this.shown[at];
    if (!data || column.kind !== "label") return "";
    const [text, kind, , interval] = data.cells[column.at];
    const name = data.texts.slice(0, this.facts.ids.length).join(", ");
    const known = kind === MISSING ? "missing" : `${text}, ${SAID[kind]}`;
    const sure = !interval ? "" : interval.includes(" to ") ? `; 9 in 10 true shares lie from ${interval}` : "; exact, from the sum of the row";
    return `Row ${data.row + 1}${name ? `, ${name}` : ""}, ${column.name}: ${known}${sure}`;
  }

  cell({ row, column }) {
    return this.rows.querySelector(`[data-position="${row}"][data-column="${column}"]`);
  }

  point(cell) {
    if (!cell) return this.hide();
    const text = this.sentence(+cell.dataset.position, +cell.dataset.column);
    if (!text) return this.hide();
    this.tip.textContent = text;
    this.tip.classList.remove("problem");
    this.place(cell);
  }

  place(cell) {
    this.tip.hidden = false;
    const box = cell.getBoundingClientRect();
    const left = Math.min(box.left, innerWidth - this.tip.offsetWidth - 8);
    const below = box.bottom + 6 + this.tip.offsetHeight < innerHeight;
    this.tip.style.left = `${Math.max(8, left)}px`;
    this.tip.style.top = `${below ? box.bottom + 6 : box.top - this.tip.offsetHeight - 6}px`;
  }

  hide() {
    if (!this.editing) this.tip.hidden = true;
  }

  choose(cell) {
    if (!cell || this.editing) return;
    this.active = { row: +cell.dataset.position, column: +cell.dataset.column };
    this.rows.querySelectorAll("[tabindex='0']").forEach((each) => each.setAttribute("tabindex", -1));
    cell.setAttribute("tabindex", 0);
  }

  // Moves to a cell, and scrolls as far as is necessary; one that is far away comes to the middle.
  async move(row, column, far = false) {
    row = Math.max(0, Math.min(this.total - 1, row));
    column = Math.max(0, Math.min(this.shown.length - 1, column));
    this.active = { row, column };
    const height = this.view.clientHeight - this.head.offsetHeight;
    if (far && this.total * ROW <= TALLEST) this.view.scrollTop = (row + 0.5) * ROW - height / 2;
    else if (this.total * ROW <= TALLEST) {
      if (row * ROW < this.view.scrollTop) this.view.scrollTop = row * ROW;
      else if ((row + 1) * ROW > this.view.scrollTop + height - 12) this.view.scrollTop = (row + 1) * ROW - height + 12;
    } else {
      const { first, count } = this.window();
      const fits = Math.ceil(height / ROW) + 1;
      if (row < first || row >= first + count - 2) this.view.scrollTop = Math.max(0, (row - fits / 2) / Math.max(1, this.total - fits + 1)) * (TALLEST - height);
    }
    await this.page(Math.floor(row / PAGE));
    if (this.editing) return;
    this.paint();
    const cell = this.cell(this.active);
    if (!cell) return;
    this.reveal(cell);
    cell.focus({ preventScroll: true });
    this.point(cell);
    this.said.textContent = this.sentence(row, column) || cell.textContent;
  }

  reveal(cell) {
    const fixed = [...this.head.querySelectorAll(".first, .second")].reduce((sum, each) => sum + (getComputedStyle(each).position === "sticky" ? each.offsetWidth : 0), 0);
    const left = cell.offsetLeft;
    if (cell.matches(".first, .second")) return;
    if (left < this.view.scrollLeft + fixed) this.view.scrollLeft = left - fixed;
    else if (left + cell.offsetWidth > this.view.scrollLeft + this.view.clientWidth) this.view.scrollLeft = left + cell.offsetWidth - this.view.clientWidth;
  }

  key(event) {
    if (this.editing || !event.target.dataset?.column) return;
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
    if (moves[event.key]) {
      event.preventDefault();
      this.move(...moves[event.key]);
    } else if (event.key === "Enter" || event.key === "F2") {
      event.preventDefault();
      this.edit(cell);
    } else if (/^[0-9.,]$/.test(event.key) && !all) {
      event.preventDefault();
      this.edit(cell, event.key);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      this.save(cell, "");
    }
  }

  edit(cell, start = null) {
    const column = cell && this.shown[+cell.dataset.column];
    if (!column || column.kind !== "label" || this.editing) return;
    this.choose(cell);
    const before = cell.textContent;
    const input = make("input", { type: "text", inputmode: "decimal", class: "cell-input", "aria-label": `New share: ${this.sentence(+cell.dataset.position, +cell.dataset.column)}` });
    input.value = start ?? before;
    this.editing = input;
    cell.replaceChildren(input);
    input.focus();
    if (start === null) input.select();
    const end = (restore) => {
      this.editing = null;
      if (restore) cell.textContent = before;
      this.tip.hidden = true;
      this.paint();
    };
    input.addEventListener("keydown", async (event) => {
      event.stopPropagation();
      if (event.key === "Escape") {
        end(true);
        this.cell(this.active)?.focus();
      } else if (event.key === "Enter" || event.key === "Tab") {
        event.preventDefault();
        if (await this.save(cell, input.value)) {
          end(false);
          await this.move(this.active.row + (event.key === "Enter"), this.active.column + (event.key === "Tab"));
        }
      }
    });
    input.addEventListener("blur", () => this.editing === input && setTimeout(() => this.editing === input && end(true), 150));
  }

  async save(cell, text) {
    const column = cell && this.shown[+cell.dataset.column];
    const data = cell && this.row(+cell.dataset.position);
    if (!data || column.kind !== "label") return false;
    try {
      await this.put(data.row, column.name, text);
      return true;
    } catch (error) {
      this.tip.textContent = error.message;
      this.tip.classList.add("problem");
      this.said.textContent = error.message;
      this.place(cell);
      return false;
    }
  }

  // Keeps a number for a cell of a row, by its number in the file; no text takes it back.
  // A change in another tab is taken in first: it is about other cells, or older.
  async put(row, label, text, again = true) {
    const path = `tables/${this.studio.table.id}`;
    try {
      const body = { run: this.run, row, label, value: text, revision: this.studio.table.revision };
      this.onedit(await request("PUT", `${path}/edits`, body));
    } catch (error) {
      if (error.status !== 409 || !again) throw error;
      this.onedit(await request("GET", path));
      return this.put(row, label, text, false);
    }
    return this.refresh();
  }

  // Fetches what is in sight again.
  async refresh() {
    const { first, count } = this.window();
    this.pages.clear();
    const pages = new Set([0, Math.floor(first / PAGE), Math.floor((first + count) / PAGE)]);
    const found = await Promise.all([...pages].filter((page) => page * PAGE < Math.max(1, this.total)).map((page) => this.page(page)));
    const total = found.find((page) => page)?.total ?? this.total;
    if (total !== this.total) await this.ask({});
    if (!this.editing) this.paint();
  }

  async jump(step) {
    this.cells ??= (await request("GET", `${this.base}/doubtful?${new URLSearchParams(this.query)}`)).cells;
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
    if (this.query.sort || this.query.find || this.query.only) await this.ask({ sort: "", down: "", find: "", only: "" });
    await this.move(row, this.shown.findIndex((each) => each.kind === "label" && each.name === label), true);
  }
}

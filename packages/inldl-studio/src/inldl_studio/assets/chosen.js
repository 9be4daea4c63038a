// The cells that are chosen together: copy, paste, fill with estimates, make missing, take back.

import { pasted, said } from "./cell_editor.js";
import { button, counted, make, notice } from "./dom.js";
import { PAGE } from "./rows.js";

const FILLED = 1;
const MOST = 10_000; // cells of one change
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class Chosen {
  constructor(grid) {
    Object.assign(this, { grid, from: null, to: null });
    this.count = make("span", { class: "quiet", role: "status" });
    this.bar = make("div", { class: "chosen", hidden: true, role: "group", "aria-label": "The chosen cells" }, this.count,
      button("Fill with estimates", () => this.fill(), { class: "plain" }),
      button("Make missing", () => this.makeMissing(), { class: "plain" }),
      button("Take edits back", () => this.takeBack(), { class: "plain" }));
  }

  begin(cell) {
    this.clear();
    this.from = cell && this.place(cell);
  }

  drag(cell) {
    if (!cell || !this.from || this.grid.editor.input) return;
    const to = this.place(cell);
    if (to.row !== this.from.row || to.column !== this.from.column || this.to) this.set(to);
  }

  extend(cell) {
    this.from ??= { ...this.grid.active };
    this.set(this.place(cell));
  }

  place(cell) {
    return { row: +cell.dataset.position, column: +cell.dataset.column };
  }

  set(to) {
    this.to = to;
    this.show();
  }

  clear() {
    this.from = this.to = null;
    this.show();
  }

  // The chosen rectangle; the active cell alone if no other is.
  get area() {
    const from = (this.to && this.from) || this.grid.active;
    const to = this.to ?? this.grid.active;
    return {
      top: Math.min(from.row, to.row), bottom: Math.max(from.row, to.row),
      left: Math.min(from.column, to.column), right: Math.max(from.column, to.column),
    };
  }

  show() {
    const { rows } = this.grid;
    rows.querySelectorAll("[aria-selected=true]").forEach((each) => each.removeAttribute("aria-selected"));
    const { top, bottom, left, right } = this.area;
    this.bar.hidden = !this.to || this.grid.editor.input !== null;
    if (!this.to) return;
    for (const [position, { element }] of this.grid.lines) {
      if (position < top || position > bottom) continue;
      for (let column = left; column <= right; column++) element.children[column].setAttribute("aria-selected", "true");
    }
    this.count.textContent = `${counted((bottom - top + 1) * (right - left + 1), "cell")} chosen`;
  }

  // Shift with the arrow keys, Ctrl+A, Escape, and Ctrl+Z and Ctrl+Y; returns whether it was one.
  key(event) {
    const { grid } = this;
    const all = event.ctrlKey || event.metaKey;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.shiftKey && STEPS[key]) {
      this.from ??= { ...grid.active };
      const [down, right] = STEPS[key];
      const { row, column } = this.to ?? this.from;
      const to = { row: Math.max(0, Math.min(grid.total - 1, row + down)), column: Math.max(0, Math.min(grid.shown.length - 1, column + right)) };
      this.to = to;
      grid.scrollTo(to.row);
      this.show();
      grid.said.textContent = this.count.textContent;
    } else if (key === "Escape" && this.to) this.clear();
    else if (all && key === "a") {
      const labels = grid.shown.flatMap((each, at) => (each.kind === "label" ? [at] : []));
      this.from = { row: 0, column: labels[0] };
      this.set({ row: grid.total - 1, column: labels.at(-1) });
    } else if (all && key === "z") grid.studio.step(event.shiftKey ? "redo" : "undo");
    else if (all && key === "y") grid.studio.step("redo");
    else return false;
    event.preventDefault();
    return true;
  }

  // Calls a function with each chosen share: its data, its column and its place in the rectangle.
  async each(visit, area = this.area) {
    const { grid } = this;
    const { top, bottom, left, right } = area;
    for (let page = Math.floor(top / PAGE); page * PAGE <= bottom; page++) await grid.data.page(page);
    for (let row = top; row <= bottom; row++) {
      const data = grid.data.at(row);
      for (let column = left; data && column <= right; column++) {
        if (grid.shown[column]?.kind === "label") visit(data, grid.shown[column], row - top, column - left);
      }
    }
  }

  async change(what, text, area = this.area) {
    const cells = [];
    await this.each((data, column, ...at) => {
      const found = text(data.cells[column.at], ...at);
      if (found !== undefined && cells.length <= MOST) cells.push([data.row, column.name, found]);
    }, area);
    if (!cells.length) return notice("There is nothing to change in these cells.");
    try {
      await this.grid.editor.put(cells, what);
      if (cells.length > 1) said(cells.length, `${what}:`);
      return cells.length;
    } catch (error) {
      const cell = this.grid.cell(this.grid.active);
      if (cell && cells.length === 1) this.grid.tell(cell, error.message);
      else notice(error.message, "problem");
      return 0;
    }
  }

  fill() {
    return this.change("Filled with estimates", ([text, kind]) => (kind === FILLED ? text.replace(/,/g, "") : undefined));
  }

  makeMissing() {
    return this.change("Made missing", () => null);
  }

  takeBack() {
    return this.change("Took back", () => "");
  }

  async copy(event) {
    if (this.grid.editor.input) return;
    event.preventDefault();
    const { top, bottom, left, right } = this.area;
    const lines = [];
    for (let row = top; row <= bottom; row++) {
      const data = this.grid.data.at(row);
      if (!data) continue;
      lines.push(this.grid.shown.slice(left, right + 1).map((column) => this.textOf(data, column)).join("\t"));
    }
    event.clipboardData.setData("text/plain", lines.join("\n"));
  }

  textOf(data, column) {
    if (column.kind === "number") return String(data.row + 1);
    return column.kind === "other" ? data.texts[column.at] : data.cells[column.at][0];
  }

  cut(event) {
    this.copy(event);
    return this.makeMissing();
  }

  // What is pasted begins at the first chosen cell; a single text fills all chosen cells.
  async paste(event) {
    if (this.grid.editor.input) return undefined;
    event.preventDefault();
    const lines = pasted(event.clipboardData.getData("text/plain"));
    const { top, left, bottom, right } = this.area;
    if (lines.length === 1 && lines[0].length === 1) return this.change("Pasted", () => lines[0][0].trim());
    const wide = Math.max(...lines.map((line) => line.length));
    const area = { top, left, bottom: Math.min(this.grid.total - 1, Math.max(top + lines.length - 1, Math.min(bottom, top))), right: Math.max(left + wide - 1, Math.min(right, left)) };
    return this.change("Pasted", (_, row, column) => lines[row]?.[column]?.trim(), area);
  }
}

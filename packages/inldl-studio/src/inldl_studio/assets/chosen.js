// The cells that are chosen together: copy, paste, fill with estimates, make missing, take back.

import { request } from "./api.js";
import { pasted, said } from "./cell_editor.js";
import { button, counted, make, notice } from "./dom.js";

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class Chosen {
  constructor(grid) {
    Object.assign(this, { grid, from: null, to: null });
    this.count = make("span", { class: "quiet", role: "status" });
    this.bar = make("div", { class: "chosen idle", role: "group", "aria-label": "The chosen cells" }, this.count,
      button("Fill with estimates", () => this.fill(), { class: "plain" }),
      button("Clear", () => this.makeMissing(), { class: "plain" }),
      button("As in the file", () => this.takeBack(), { class: "plain" }),
      button("Copy", () => this.copyAll(), { class: "plain" }));
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
    const alone = this.grid.shown?.[this.grid.active.column]?.kind === "label";
    this.bar.classList.toggle("idle", !this.to && !alone);
    this.count.textContent = alone && !this.to ? "1 cell" : "";
    if (!this.to) return;
    for (const [position, { element }] of this.grid.lines) {
      if (position < top || position > bottom) continue;
      for (let column = left; column <= right; column++) element.children[column].setAttribute("aria-selected", "true");
    }
    this.count.textContent = `${counted((bottom - top + 1) * (right - left + 1), "cell")} chosen`;
  }

  // Shift with the arrow keys, Ctrl+A, Escape; returns whether it was one.
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
    } else return false;
    event.preventDefault();
    return true;
  }

  // The rectangle as the studio understands it, which knows all of its rows.
  asked({ top, bottom, left, right } = this.area) {
    const { grid } = this;
    const columns = grid.shown.slice(left, right + 1).map(({ kind, name }) => [kind, name]);
    return { run: grid.run, query: grid.data.query, area: { top, bottom, columns, total: grid.total, row: grid.data.at(top)?.row ?? null } };
  }

  async change(what, action, area = this.area, texts = null) {
    const { query, area: asked } = this.asked(area);
    try {
      const changed = await this.grid.editor.put({ query, area: asked, action, texts, what });
      if (changed > 1) said(changed, `${what}:`);
      return changed;
    } catch (error) {
      const cell = this.grid.cell(this.grid.active);
      if (cell && area.top === area.bottom && area.left === area.right) this.grid.tell(cell, error.message);
      else notice(error.message, "problem");
      return 0;
    }
  }

  async changeAny(what, action) {
    if (!await this.change(what, action) && !document.querySelector(".notice.problem")) notice("There is nothing to change in these cells.");
  }

  fill() {
    return this.changeAny("Filled with estimates", "fill");
  }

  makeMissing() {
    return this.changeAny("Made missing", "missing");
  }

  takeBack() {
    return this.changeAny("Took back", "take back");
  }

  // All chosen cells are copied, also those that were never in sight: the studio sends them.
  async copy(event) {
    if (this.grid.editor.input) return;
    event.preventDefault();
    const here = this.textHere();
    if (here === null) await this.copyAll();
    else event.clipboardData.setData("text/plain", here);
  }

  async copyAll() {
    const { run, query, area } = this.asked();
    const { top, bottom, left, right } = this.area;
    try {
      const { text } = await request("POST", `tables/${this.grid.studio.table.id}/copied`, { run, query, area });
      const what = `Copied ${counted((bottom - top + 1) * (right - left + 1), "cell")}.`;
      if (toClipboard(text)) notice(what);
      else notice("The cells are ready.", "problem").querySelector("button").before(button("Copy them now", () => toClipboard(text) && notice(what), { class: "plain" }));
    } catch (error) {
      notice(error.message, "problem");
    }
  }

  // A single cell is copied at once.
  textHere() {
    const { top, bottom, left, right } = this.area;
    const [data, column] = [this.grid.data.at(top), this.grid.shown[left]];
    if (top !== bottom || left !== right || !data) return null;
    if (column.kind === "number") return String(data.row + 1);
    return column.kind === "other" ? data.texts[column.at] : data.cells[column.at][0];
  }

  async cut(event) {
    await this.copy(event);
    return this.makeMissing();
  }

  // What is pasted begins at the first chosen cell; a single text fills all chosen cells.
  async paste(event) {
    if (this.grid.editor.input) return undefined;
    event.preventDefault();
    const lines = pasted(event.clipboardData.getData("text/plain")).map((line) => line.map((each) => each.trim()));
    const { top, left, bottom, right } = this.area;
    if (lines.length === 1 && lines[0].length === 1) return this.change("Pasted", "paste", this.area, lines);
    const wide = Math.max(...lines.map((line) => line.length));
    return this.change("Pasted", "paste", { top, left, bottom: Math.min(this.grid.total - 1, top + lines.length - 1), right: left + wide - 1 }, lines);
  }
}

// Works for some seconds after a key was pressed, also where the newer way is not allowed.
function toClipboard(text) {
  const focused = document.activeElement;
  const box = make("textarea", { class: "unseen", "aria-hidden": "true", tabindex: -1 });
  box.value = text;
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  focused?.focus({ preventScroll: true });
  return done;
}

// Writing a number into a cell of the table, and taking it back.

import { request } from "./api.js";
import { make } from "./dom.js";

export class CellEditor {
  constructor(grid) {
    Object.assign(this, { grid, input: null });
  }

  open(cell, start = null) {
    const { grid } = this;
    if (!grid.isLabel(cell) || this.input) return;
    grid.choose(cell);
    const before = cell.textContent;
    const input = make("input", { type: "text", inputmode: "decimal", class: "cell-input", "aria-label": `New share: ${grid.sentence(cell)}` });
    input.value = start ?? before;
    this.input = input;
    cell.replaceChildren(input);
    input.focus();
    if (start === null) input.select();
    const end = (restore) => {
      this.input = null;
      if (restore) cell.textContent = before;
      grid.hide();
      grid.paint();
    };
    input.addEventListener("keydown", async (event) => {
      event.stopPropagation();
      if (event.key === "Escape") {
        end(true);
        grid.cell(grid.active)?.focus();
      } else if (event.key === "Enter" || event.key === "Tab") {
        event.preventDefault();
        if (await this.save(cell, input.value)) {
          end(false);
          await grid.move(grid.active.row + (event.key === "Enter"), grid.active.column + (event.key === "Tab"));
        }
      }
    });
    input.addEventListener("blur", () => this.input === input && setTimeout(() => this.input === input && end(true), 150));
  }

  async save(cell, text) {
    const { grid } = this;
    const data = grid.isLabel(cell) && grid.rowOf(cell);
    if (!data) return false;
    try {
      await this.put(data.row, grid.columnOf(cell).name, text);
      return true;
    } catch (error) {
      grid.tell(cell, error.message);
      return false;
    }
  }

  // Keeps a number for a cell of a row, by its number in the file; no text takes it back.
  // A change in another tab is taken in first: it is about other cells, or older.
  async put(row, label, text, again = true) {
    const { studio, run } = this.grid;
    const path = `tables/${studio.table.id}`;
    try {
      const body = { run, row, label, value: text, revision: studio.table.revision };
      this.grid.onedit(await request("PUT", `${path}/edits`, body));
    } catch (error) {
      if (error.status !== 409 || !again) throw error;
      this.grid.onedit(await request("GET", path));
      return this.put(row, label, text, false);
    }
    return this.grid.refresh();
  }
}

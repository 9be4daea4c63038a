// Writing into cells of the table, taking it back, and what happens if two people do.

import { request } from "./api.js";
import { button, counted, make, notice } from "./dom.js";

export class CellEditor {
  constructor(grid) {
    Object.assign(this, { grid, input: null });
  }

  open(cell, start = null) {
    const { grid } = this;
    if (!grid.isLabel(cell) || this.input) return;
    grid.choose(cell);
    const before = cell.textContent;
    const seen = grid.data.revision; // what others write from here on is not seen
    const input = make("input", { type: "text", inputmode: "decimal", class: "cell-input", "aria-label": `New share: ${grid.sentence(cell)}` });
    input.value = start ?? before;
    this.input = input;
    cell.replaceChildren(input);
    input.focus();
    if (start === null) input.select();
    const end = (restore) => {
      if (this.input === input) this.input = null;
      if (restore) cell.textContent = before;
      grid.hide();
      grid.paint();
    };
    let saving = false;
    const keep = async () => {
      if (saving) return false;
      saving = true;
      const done = input.value === before || await this.save(cell, input.value, seen);
      saving = false;
      return done;
    };
    input.addEventListener("keydown", async (event) => {
      event.stopPropagation();
      if (event.key === "Escape") {
        end(true);
        grid.cell(grid.active)?.focus();
      } else if (event.key === "Enter" || event.key === "Tab") {
        event.preventDefault();
        if (await keep()) {
          end(false);
          await grid.move(grid.active.row + (event.key === "Enter"), grid.active.column + (event.key === "Tab"));
        }
      }
    });
    // A click elsewhere keeps what was typed; what cannot be kept is said, and goes.
    input.addEventListener("blur", async () => {
      if (this.input !== input || saving) return;
      const typed = input.value;
      if (await keep()) end(false);
      else {
        end(true);
        notice(`${typed} was not kept: ${grid.tip.textContent}`, "problem");
      }
    });
  }

  async save(cell, text, seen) {
    const { grid } = this;
    const data = grid.isLabel(cell) && grid.rowOf(cell);
    if (!data) return false;
    try {
      await this.put({ cells: [[data.row, grid.columnOf(cell).name, text]], what: "Typed" }, seen);
      return true;
    } catch (error) {
      grid.tell(cell, error.message);
      return false;
    }
  }

  // Keeps what is to change: `cells`, each a row by its number in the file, a label and a text
  // (a number, nothing to take an edit back, null to have the share be missing), or an `area` and
  // an `action`. `seen` is the table that its author saw. Changes wait for each other. Returns how
  // many cells were changed.
  put(change, seen = this.grid.data.revision, over = false) {
    const { studio, run } = this.grid;
    const path = `tables/${studio.table.id}`;
    const turn = (this.turn ?? Promise.resolve()).then(async () => {
      let changed = 0;
      try {
        const revision = Number.isFinite(seen) ? seen : studio.table.revision;
        const table = await request("PUT", `${path}/edits`, { run, revision, over, ...change });
        changed = table.changed;
        this.grid.onedit(table);
      } catch (error) {
        if (error.status !== 409) throw error;
        this.grid.onedit(await request("GET", path));
        await this.grid.refresh();
        conflict(error.message, () => this.put(change, seen, true));
      }
      await this.grid.refresh();
      return changed;
    });
    this.turn = turn.catch(() => {});
    return turn;
  }
}

// Somebody else has written into the same cell: theirs is there, and ours can be put over it.
function conflict(text, over) {
  const made = notice(`${text} Yours was not kept.`, "problem");
  made.querySelector("button").before(button("Use mine", () => { made.remove(); over(); }, { class: "plain" }));
}

// Rows and columns of text, as spreadsheets copy them.
export function pasted(text) {
  return text.replace(/\r/g, "").replace(/\n$/, "").split("\n").map((line) => line.split("\t"));
}

export function said(cells, what) {
  notice(`${what} ${counted(cells, "cell")}.`);
}

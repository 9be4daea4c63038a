// What is going on with a table.

import { meanings } from "./columns.js";
import { button, make, notice } from "./dom.js";

// How far a piece of work is, how it failed, and a way to stop it or to try again.
export function jobPanel(studio, kinds, again) {
  const panel = make("div", { class: "job" });
  panel.update = () => {
    const run = studio.table.running.find((each) => kinds.includes(each.kind));
    if (run) return showProgress(panel, studio, run);
    const last = kinds.map((kind) => studio.table.newest[kind]).filter(Boolean).sort((a, b) => b.started - a.started)[0];
    panel.dataset.run = "";
    if (!last || last.status === "done" || studio.closed.has(last.id)) return panel.replaceChildren();
    if (panel.dataset.told === last.id) return undefined;
    panel.dataset.told = last.id;
    const calm = last.status === "stopped";
    return panel.replaceChildren(make("div", { class: calm ? "told" : "told problem", role: "alert" },
      make("p", {}, last.error),
      about(studio, last.about?.word, again),
      make("div", { class: "actions" },
        last.about?.row >= 0 && button(`Go to row ${last.about.row + 1}`, () => toRow(studio, last.about), { class: "secondary" }),
        again && last.kind === kinds[0] && button("Try again", again, { class: "secondary" }),
        button("Close", () => { studio.closed.add(last.id); panel.replaceChildren(); }, { class: "plain" }))));
  };
  panel.update();
  studio.panels.add(panel);
  return panel;
}

// A word among the shares gets a meaning where it is in the way.
function about(studio, word, again) {
  if (!word) return null;
  return make("p", { class: "meaning" }, make("strong", { class: "sign" }, word), " stands for ", meanings(studio, word, "", again));
}

// Shows a row in the table, or its cells as they stand in the file if there is no table yet.
async function toRow(studio, { row, label }) {
  if (studio.grid?.view.isConnected) return studio.grid.goTo(row, label ?? studio.grid.facts.labels[0]);
  const { columns } = await studio.result(studio.table.runs.look);
  const shown = columns[0]?.first?.length ?? 0;
  if (row >= shown) return notice(`Row ${row + 1} is below the rows that are shown here${label ? `; its ${label} is what to correct` : ""}.`);
  if (!document.querySelector("table.preview")) studio.go("columns");
  for (let tries = 0; tries < 50 && !document.querySelector("table.preview"); tries++) await new Promise((resolve) => { setTimeout(resolve, 50); });
  const line = document.querySelectorAll("table.preview tbody tr")[row];
  line?.classList.add("wanted");
  return line?.scrollIntoView({ block: "center" });
}

function showProgress(panel, studio, run) {
  const { text, detail, share, step, steps } = run.progress;
  const what = `${text}${steps > 1 && step ? ` (step ${step} of ${steps})` : ""}`;
  if (panel.dataset.run !== run.id) {
    panel.dataset.run = run.id;
    panel.dataset.told = "";
    const bar = make("progress", { max: 1, "aria-label": "Progress" });
    panel.replaceChildren(
      make("p", { class: "doing", role: "status", "aria-live": "polite" }), bar,
      make("p", { class: "quiet small detail" }),
      button("Stop", () => studio.stop(run), { class: "secondary" }));
  }
  const [doing, bar, more] = panel.children;
  if (doing.textContent !== what) doing.textContent = what;
  if (share === null) bar.removeAttribute("value");
  else bar.value = share;
  const left = run.left ? `, about ${duration(run.left)} left` : "";
  const seconds = `${duration(run.seconds)}${left}`;
  more.textContent = detail ? `${detail} · ${seconds}` : seconds;
}

function duration(seconds) {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

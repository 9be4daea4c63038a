// The first page: drop a file, or go on with an earlier table.

import { request, send } from "./api.js";
import { button, bytes, make, notice } from "./dom.js";

export function dropZone({ state, path, title, onsent }) {
  const input = make("input", { type: "file", id: "file", class: "hidden-input", accept: accepted(state) });
  const words = make("p", { class: "quiet" },
    `${state.suffixes.join(", ")}, also compressed; up to ${bytes(state.limit)}.`);
  const label = make("label", { for: "file", class: "button primary" }, "Choose a file");
  const status = make("div", { class: "sending", role: "status" });
  const zone = make("div", { class: "drop" },
    make("p", { class: "drop-title" }, title), make("div", {}, input, label), words, status);
  const take = (file) => file && start(file, { state, path, status, onsent });
  input.addEventListener("change", () => take(input.files[0]));
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
  return zone;
}

function accepted(state) {
  return [...state.suffixes, ".gz", ".bz2", ".xz", ".zip"].join(",");
}

async function start(file, { state, path, status, onsent }) {
  if (file.size > state.limit) {
    tell(status, `${file.name} is larger than ${bytes(state.limit)}; start the studio with a higher --largest, or use inldl complete.`);
    return;
  }
  const bar = make("progress", { max: 1, value: 0, "aria-label": `Sending ${file.name}` });
  const sending = send(path, file, (share) => { bar.value = share; });
  status.replaceChildren(make("p", {}, `Reading ${file.name} …`), bar,
    button("Stop", sending.stop, { class: "secondary" }));
  try {
    const sent = await sending.done;
    status.replaceChildren();
    onsent(sent);
  } catch (error) {
    tell(status, error.message);
  }
}

function tell(status, text) {
  status.replaceChildren(make("p", { class: "problem", role: "alert" }, text));
}

export async function showHome(main) {
  const state = await request("GET", "state");
  document.title = "inldl studio";
  const zone = dropZone({
    state, path: "tables", title: "Drop a table here",
    onsent: (table) => { location.hash = table.id; },
  });
  main.replaceChildren(
    make("div", { class: "home" },
      make("h1", {}, "Fill in the missing shares of a table"),
      make("p", { class: "lead" },
        "Each row divides a whole: spending, votes, ratings. Some of the shares are missing. The studio fills them in, says how sure it is, and which ones to ask for next."),
      zone,
      make("p", { class: "example" }, "No table at hand? ", button("Try it with an example", example, { class: "plain" }),
        make("span", { class: "quiet" }, ": what 120 households spent, with two in five shares missing")),
      earlier(state, main),
      make("p", { class: "quiet small" }, where(state))),
  );
  return state;
}

// What is true of where tables are, and of who can see them.
function where({ people, folder }) {
  if (!people.length) return `Everything stays on this machine, in ${folder}. Your own file is never changed.`;
  return `This studio is shared: ${people.join(", ")} can see and change all tables, through your local network and without encryption. The tables are kept in ${folder}, on the machine on which it was started. Your own file is never changed.`;
}

function earlier(state, main) {
  if (!state.tables.length) return null;
  const items = state.tables.map((table) => {
    const done = { complete: "completed", inspect: "inspected" };
    const stage = Object.keys(done).find((kind) => table.runs[kind]);
    const when = new Date(1000 * table.created).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    return make("li", {},
      make("a", { href: `#${table.id}` }, table.name),
      make("span", { class: "quiet" }, `${bytes(table.size)} · ${when}${stage ? ` · ${done[stage]}` : ""}`),
      button("Remove", () => remove(table, main), { class: "plain", "aria-label": `Remove ${table.name}` }));
  });
  return make("section", { class: "earlier" }, make("h2", {}, "Earlier tables"), make("ul", {}, items));
}

async function remove(table, main) {
  if (!confirm(`Remove ${table.name} and all results of it from the studio? Your own file stays.`)) return;
  await request("DELETE", `tables/${table.id}`);
  notice(`${table.name} was removed.`);
  await showHome(main);
}

async function example() {
  try {
    const table = await request("POST", "example", {});
    location.hash = table.id;
  } catch (error) {
    notice(error.message, "problem");
  }
}

// What to ask next: the list beside the table, answers on the page, and answers in a file.

import { request, send } from "./api.js";
import { button, counted, field, make, notice, select } from "./dom.js";
import { jobPanel } from "./jobs.js";

export async function askPanel(studio, grid, unasked) {
  const panel = make("aside", { class: "ask", "aria-label": "What to ask next" }, make("h2", {}, "What to ask next"));
  if (unasked) {
    panel.append(make("p", { class: "quiet small" }, unasked));
    return panel;
  }
  const [form, asked] = drawForm(studio, () => again());
  const again = () => studio.run("ask", asked());
  const list = make("div", { class: "questions" });
  panel.append(
    make("p", { class: "quiet small" }, "Knowing these shares would improve the completed table most."),
    form, jobPanel(studio, ["ask", "answers"], again), list, fromFile(studio), await agreement(studio));
  if (studio.table.runs.ask) await questions(studio, grid, list);
  return panel;
}

// Returns the form, and a function that returns what is chosen in it.
function drawForm(studio, again) {
  const budget = make("input", { type: "number", min: 1, max: 10000, value: 20 });
  const by = select([["cell", "Single shares"], ["row", "All missing shares of a row"]], "cell", () => {});
  const price = (value) => make("input", { type: "number", min: 0, step: "any", value });
  const [first, more] = [price(1), price("")];
  more.placeholder = "the same";
  const people = make("input", { type: "text", placeholder: "Ada, Emmy", value: studio.divided?.people ?? studio.state.people.join(", ") });
  const twice = make("input", { type: "number", min: 0, step: 1, value: studio.divided?.twice ?? 0 });
  const keep = () => { studio.divided = { people: people.value, twice: twice.value }; };
  [people, twice].forEach((each) => each.addEventListener("change", keep));
  const form = make("form", { "aria-label": "Which questions", onsubmit: (event) => { event.preventDefault(); again(); } },
    make("div", { class: "line" }, field("How many to ask for", budget), make("button", { class: "secondary", "data-starts": "ask" }, "List them")),
    make("details", { class: "prices" }, make("summary", {}, "Whole rows and prices"),
      make("div", { class: "fields" },
        field("Ask for", by),
        field("Price of the first answer in a row", first, "With prices, the number above is the most that all answers together may cost. A column with the role “price” gives each row a price of its own."),
        field("Price of each further answer in that row", more))),
    make("details", { class: "prices divide" }, make("summary", {}, "Divide among people"),
      make("div", { class: "fields" },
        field("Names", people, "Each person gets a list of their own, with a column for the name."),
        field("Questions that two people get", twice, "The first ones of the list; their answers show how far people agree."))));
  return [form, () => ({ people: people.value, twice: twice.value, budget: budget.value, by: by.value, row_cost: first.value, cell_cost: more.value })];
}

async function questions(studio, grid, list) {
  const run = studio.table.runs.ask;
  const result = await studio.result(run);
  const { people } = result;
  const { person } = studio.state;
  const items = result.questions.map((each, at) => [each, question(studio, grid, result.ids, each, at)]);
  const show = (name) => items.forEach(([each, item]) => { item.hidden = Boolean(name) && !each.asked.includes(name); });
  const whose = people.length ? select([["", "Questions for everybody"], ...people.map((name) => [name, `Questions for ${name}`])], people.includes(person) ? person : "", show, { "aria-label": "Whose questions" }) : null;
  if (whose) show(whose.value);
  const link = (key, text) => make("a", { class: "button secondary", href: `${studio.base(run)}/files/${key}`, download: "" }, text);
  list.replaceChildren(
    ...result.document.summary.slice(0, items.length ? 2 : 1).map((text) => make("p", { class: "small" }, text)),
    studio.stale("ask") ? make("p", { class: "quiet small" }, "The table has changed since then; complete it again, then list the questions again.") : "",
    whose ?? "", person || !items.length ? "" : answeredBy(),
    make("ol", {}, items.map(([, item]) => item)),
    make("div", { class: "lists" }, items.length ? link("questions", "Download the list") : "",
      result.people.map((name, at) => link(`questions-${at}`, `List for ${name}`))));
}

const NAME = "inldl-answered-by";

// Without an address for each person, the page asks who answers.
function answeredBy() {
  const input = make("input", { type: "text", autocomplete: "name", value: sessionStorage.getItem(NAME) ?? "" });
  input.addEventListener("change", () => sessionStorage.setItem(NAME, input.value.trim()));
  return field("Answers are by", input);
}

// Who has answered how much, and how far the answers to one question agree.
async function agreement(studio) {
  const found = await request("GET", `tables/${studio.table.id}/answers`);
  const names = Object.entries(found.people);
  if (!names.length) return "";
  const number = (value) => String(Number(value.toPrecision(3)));
  const within = found.tolerance === null ? "within 5%" : `within ${number(found.tolerance)}`;
  const apart = found.apart.map(({ row, label, answers }) => make("li", {}, button(`Row ${row + 1}, ${label}`, () => studio.grid?.goTo(row, label), { class: "plain" }),
    `: ${Object.entries(answers).map(([name, value]) => `${name || "somebody"} ${number(value)}`).join(", ")}`));
  return make("section", { class: "agreement", "aria-label": "Answers so far" }, make("h3", {}, "Answers so far"),
    make("p", { class: "small" }, names.map(([name, count]) => `${name || "somebody"}: ${count.toLocaleString("en")}`).join(", ")),
    found.cells ? make("p", { class: "small" }, `${counted(found.cells, "cell")} with several answers: ${Math.round(100 * found.agree)}% agree ${within}; on average, two answers differ by ${number(found.difference)}. The table has their mean.`) : "",
    apart.length ? make("ul", { class: "small" }, apart) : "");
}

function question(studio, grid, ids, each, at) {
  const names = ids.map((id) => each[id]).filter(Boolean);
  const [, , answer] = studio.table.edits.find(([row, label]) => row === each.row - 1 && label === each.label) ?? [];
  const name = [`row ${each.row}`, ...names].join(", ");
  const input = make("input", { type: "text", inputmode: "decimal", placeholder: "answer", "aria-label": `Answer: ${each.label} of ${name}`, value: answer ?? "" });
  const problem = make("p", { class: "problem small", role: "alert" });
  let seen = NaN;
  input.addEventListener("focus", () => { seen = grid.data.revision; });
  input.addEventListener("change", async () => {
    try {
      await grid.editor.put({ cells: [[each.row - 1, each.label, input.value]], what: "Answered", answer: true, by: sessionStorage.getItem(NAME) ?? "" }, seen);
      problem.textContent = "";
    } catch (error) {
      problem.textContent = error.message;
    }
  });
  const where = button("", () => grid.goTo(each.row - 1, each.label), { class: "plain where" });
  where.append(make("strong", {}, each.label), ` ${names.join(", ") || `row ${each.row}`}`);
  return make("li", {}, make("span", { class: "rank" }, at + 1), where, input,
    make("span", { class: "quiet small" }, `estimate ${each.estimate} (${each.low} to ${each.high})${each.asked?.length ? `; for ${each.asked.join(" and ")}` : ""}`), problem);
}

// The list that somebody has filled in elsewhere comes back as edits.
function fromFile(studio) {
  const input = make("input", { type: "file", id: "answers", class: "hidden-input" });
  input.addEventListener("change", () => input.files[0] && studio.trying(async () => {
    const other = await send(`tables/${studio.table.id}/others`, input.files[0], () => {}).done;
    input.value = "";
    const run = await studio.run("answers", { other: other.id });
    if (!run || (await studio.ended(run)).status !== "done") return;
    const kept = await request("PUT", `tables/${studio.table.id}/edits`, { answers: run.id, what: "Answers from a file", revision: studio.table.revision, by: sessionStorage.getItem(NAME) ?? "" });
    studio.keep(kept);
    notice(`${counted(kept.changed, "answer")} put into the table.`);
    await studio.reload();
  }));
  return make("div", { class: "answers" }, input,
    make("label", { for: "answers", class: "button secondary" }, "Put in answers from a file"),
    make("p", { class: "quiet small" }, "The downloaded list, with its column “answer” filled in."));
}

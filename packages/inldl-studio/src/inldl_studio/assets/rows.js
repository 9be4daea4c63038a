// The rows of a table, sorted and filtered, fetched in pages as they come into sight.

import { request } from "./api.js";
import { notice } from "./dom.js";

export const PAGE = 100; // rows that are fetched at once
const MOST = 60; // pages that are kept
const AHEAD = 50; // rows above and below those in sight that are fetched, too
const SOON = 30; // milliseconds between two looks at what is in sight: most pages are only passed
const AT_ONCE = 2; // pages that are under way; the next ones are those in sight then

export class Rows {
  constructor(base, ondraw) {
    Object.assign(this, { base, ondraw, pages: new Map(), coming: 0, total: 0, query: { sort: "", down: "", find: "", only: "" } });
  }

  // Changes what is sorted or filtered by; returns whether rows came.
  async ask(change) {
    Object.assign(this.query, change);
    this.pages.clear();
    const first = await this.page(0);
    if (!first || await this.pages.get(0) !== first) return false; // or something else was asked since
    this.total = first.total;
    this.facts ??= first.facts;
    return true;
  }

  // Fetches a page of rows; those that are asked for twice come once.
  page(number) {
    if (!this.pages.has(number)) {
      if (this.pages.size > MOST) this.pages.delete(this.pages.keys().next().value);
      const asked = new URLSearchParams({ ...this.query, first: number * PAGE, count: PAGE });
      const coming = request("GET", `${this.base}/rows?${asked}`).then((found) => {
        if (this.pages.get(number) === coming) this.pages.set(number, found);
        return found;
      }).catch((error) => {
        this.pages.delete(number);
        notice(error.message, "problem");
        return null;
      }).finally(() => {
        this.coming--;
        this.ondraw();
      });
      this.coming++;
      this.pages.set(number, coming);
    }
    return this.pages.get(number);
  }

  at(position) {
    return this.pages.get(Math.floor(position / PAGE))?.rows?.[position % PAGE];
  }

  // The table as it was when these rows came: what people see when they change a cell.
  get revision() {
    return Math.min(...[...this.pages.values()].map((page) => page.revision ?? Infinity));
  }

  pagesOf({ first, count }) {
    const last = Math.min(this.total, first + count);
    const pages = [];
    for (let page = Math.floor(first / PAGE); page * PAGE < last; page++) pages.push(page);
    return pages;
  }

  // Pages that have not come: those in sight first, then those around.
  lacking({ first, count }) {
    const start = Math.max(0, first - AHEAD);
    const around = this.pagesOf({ first: start, count: first - start + count + AHEAD });
    return [...new Set([...this.pagesOf({ first, count }), ...around])].filter((page) => !this.pages.has(page));
  }

  // `window` says which rows are in sight once the waiting is over.
  fetchSoon(window) {
    if (this.soon || !this.lacking(window()).length) return;
    this.soon = setTimeout(() => {
      this.soon = 0;
      this.lacking(window()).slice(0, Math.max(0, AT_ONCE - this.coming)).forEach((page) => this.page(page));
    }, SOON);
  }

  // Fetches what is in sight again; returns how many rows there are now.
  async again(window) {
    const pages = new Set([0, ...this.pagesOf(window)]);
    this.pages.clear();
    const found = await Promise.all([...pages].map((page) => this.page(page)));
    return found.find((page) => page)?.total ?? this.total;
  }

  async doubtful() {
    return (await request("GET", `${this.base}/doubtful?${new URLSearchParams(this.query)}`)).cells;
  }
}

/** The page: panels around one engine, and what they share. */
import { Client } from "./client.js";
import { ClassifyPanel } from "./classify-panel.js";
import { ComparePanel } from "./compare-panel.js";
import { find } from "./dom.js";
import { EngineCard } from "./engine-card.js";
import { LibraryPanel } from "./library-panel.js";
import { MapPanel } from "./map-panel.js";
import { keepForOffline } from "./offline-state.js";
import { Reader } from "./reader.js";
import { VIEWS, readRoute, writeRoute } from "./route.js";
import { SearchPanel } from "./search-panel.js";

let ready = false;
let route = readRoute(location.hash);
/** Which load is the current one: answers of those before no longer count. */
let loads = 0;

const client = new Client((event, detail) => {
  if (event === "progress") card.progress(detail);
  else if (event === "embedding") card.indexing(detail.done, detail.total);
  else if (event === "crashed") fail(detail);
  else library.hear(event, detail);
});
const card = new EngineCard({ onCancel: cancel, onRetry: start });
const app = {
  client,
  isReady: () => ready,
  route: () => route,
  go,
  collectionChosen: () => search.fromRoute({ focus: true }),
  read: (/** @type {any} */ collection, /** @type {string} */ id, /** @type {any} */ pieces) => reader.open(collection, id, pieces),
};
const reader = new Reader(app);
const search = new SearchPanel(app);
const library = new LibraryPanel(app, () => {
  search.groupsChanged();
  map.collectionChanged();
});
const map = new MapPanel(app);
const panels = { search, map, library, compare: new ComparePanel(app), classify: new ClassifyPanel(app) };

/** @typedef {typeof app} App */

async function start() {
  const load = ++loads;
  ready = false;
  card.loading();
  const model = new URLSearchParams(location.search).get("model");
  try {
    const url = model ? new URL(model, location.href).href : undefined;
    const { summary, count, problem, stored } = await client.ask("load", { model: url });
    if (load !== loads) return;
    ready = true;
    card.ready(summary, count, problem);
    library.opened(stored);
    keepForOffline();
    for (const panel of Object.values(panels)) panel.engineReady();
  } catch (failure) {
    if (load === loads) fail(/** @type {any} */ (failure));
  }
}

/** @param {{code: string, message: string}} failure */
function fail({ code, message }) {
  loads++;
  ready = false;
  card.failed(code, message);
}

function cancel() {
  loads++;
  ready = false;
  client.restart();
  card.cancelled();
  search.refresh();
}

/**
 * Changes where the page is.
 *
 * @param {Partial<import("./route.js").Route>} change
 * @param {{push?: boolean}} [how] push: as a step that "back" undoes
 */
function go(change, { push = false } = {}) {
  const before = route;
  route = { ...route, ...change };
  const address = writeRoute(route) || location.pathname + location.search;
  if (push && writeRoute(before) !== writeRoute(route)) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  show(before.view !== route.view);
}

/** @param {boolean} moved to another panel */
function show(moved) {
  for (const view of VIEWS) find(`view-${view}`).hidden = view !== route.view;
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("nav a"))) {
    if (link.dataset.view === route.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  panels[route.view].show(moved);
}

document.querySelector("nav")?.addEventListener("click", (event) => {
  const view = /** @type {HTMLElement} */ (event.target).closest("a")?.dataset.view;
  if (view === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go({ view: /** @type {any} */ (view) }, { push: true });
  window.scrollTo(0, 0);
});
addEventListener("popstate", () => {
  const before = route.view;
  route = readRoute(location.hash);
  search.fromRoute();
  show(before !== route.view);
});
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault(); // the address says where the page is; it is not for this
  find("main").focus();
});

search.fromRoute();
show(true);
start();

// The address of every view. Filters and selections are in the query: a link shows the same to everyone. A task is in the
// query too, because its name may contain a dot, and a path with a dot looks like a file.
export const RUN_TABS = ["tasks", "changes", "log"] as const;
export type RunTab = (typeof RUN_TABS)[number];

export interface RunFilter {
  /** A word of `RUN_GROUPS`, or empty for all. */
  state: string;
  text: string;
}

export type PageRoute =
  | { view: "inbox"; item: string | null }
  | { view: "runs"; filter: RunFilter }
  | { view: "new"; from: string | null; after: string | null }
  | { view: "run"; id: string; session: string | null; tab: RunTab; task: string | null }
  | { view: "costs"; by: string }
  | { view: "machine" }
  | { view: "unknown"; path: string };

export const INBOX = "/";
export const RUNS = "/runs";
export const NEW_RUN = "/runs/new";
export const COSTS = "/costs";
export const MACHINE = "/machine";

const withQuery = (path: string, query: Record<string, string | null>): string => {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== null && pair[1] !== "");
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
};

export const inboxAddress = (item: string | null): string => withQuery(INBOX, { item });
export const runsAddress = ({ state, text }: RunFilter): string => withQuery(RUNS, { state, q: text });
export const newRunAddress = (given: { from?: string; after?: string }): string =>
  withQuery(NEW_RUN, { from: given.from ?? null, after: given.after ?? null });
export const costsAddress = (by: string): string => withQuery(COSTS, { by });
/** The changes of one task, or of the whole run. */
export const changesAddress = (id: string, task: string | null): string =>
  withQuery(`/runs/${encodeURIComponent(id)}`, { tab: "changes", task });
export const runAddress = (id: string, session: string | null = null, tab: RunTab = "tasks"): string =>
  withQuery(`/runs/${encodeURIComponent(id)}`, { tab: tab === "tasks" ? null : tab, session });

export function readRoute(address: string): PageRoute {
  const { pathname, searchParams: query } = new URL(address, "http://page");
  switch (pathname.replace(/(.)\/$/, "$1")) {
    case "/":
    case "/index.html":
      return { view: "inbox", item: query.get("item") };
    case RUNS:
      return { view: "runs", filter: { state: query.get("state") ?? "", text: query.get("q") ?? "" } };
    case NEW_RUN:
      return { view: "new", from: query.get("from"), after: query.get("after") };
    case COSTS:
      return { view: "costs", by: query.get("by") ?? "day" };
    case MACHINE:
      return { view: "machine" };
  }
  const id = /^\/runs\/([A-Za-z0-9_]+)\/?$/.exec(pathname)?.[1];
  if (!id) return { view: "unknown", path: pathname };
  const tab = RUN_TABS.find((each) => each === query.get("tab")) ?? "tasks";
  return { view: "run", id, session: query.get("session"), tab, task: query.get("task") };
}

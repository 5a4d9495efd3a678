// `readRoute` reads the address of a view. Filters and selections are in the query, so that a link shows the same to
// every user. A task is in the query too, because its name may contain a dot, and a path with a dot looks like a file.
export const RUN_TABS = ["tasks", "plan", "changes", "checks", "cost", "messages", "log"] as const;
export type RunTab = (typeof RUN_TABS)[number];

export const TASK_VIEWS = ["graph", "table", "timeline"] as const;
export type TaskView = (typeof TASK_VIEWS)[number];

export const ENTRY_KINDS = ["all", "words", "tools", "problems"] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** The newest sentences of the log, those of all events, or the events themselves. */
export const LOG_KINDS = ["recent", "all", "raw"] as const;
export type LogKind = (typeof LOG_KINDS)[number];

export const PANEL_PARTS = ["summary", "transcript", "prompt", "changes", "checks", "attempts", "agents"] as const;
export type PanelPart = (typeof PANEL_PARTS)[number];

export interface RunPlace {
  tab: RunTab;
  /** Null for the view that suits the number of tasks. */
  taskView: TaskView | null;
  /** The words that the tab is searched for. */
  find: string;
  log: LogKind;
  /** The changes of this task are shown; null shows those of the run. */
  task: string | null;
  /** The changes of this task are shown beside those of `task`. */
  beside: string | null;
  /** The panel of this task, or of `main`, is open. */
  session: string | null;
  part: PanelPart;
  attempt: number | null;
  /** The `n` of the transcript entry that a link names. */
  entry: number | null;
  /** The entries of the transcript that are shown, by kind and by their words. */
  kind: EntryKind;
  words: string;
}

export interface RunFilter {
  /** A key of `RUN_GROUPS`, or empty for all. */
  state: string;
  text: string;
}

export type PageRoute =
  | { view: "inbox"; item: string | null }
  | { view: "runs"; filter: RunFilter }
  | { view: "new"; from: string | null; after: string | null; template: string | null }
  | ({ view: "run"; id: string } & RunPlace)
  | { view: "templates"; id: string | null }
  | { view: "schedules" }
  | { view: "costs"; by: string }
  | { view: "machine" }
  | { view: "hosts" }
  | { view: "parts" }
  | { view: "unknown"; path: string };

export const INBOX = "/";
export const RUNS = "/runs";
export const NEW_RUN = "/runs/new";
export const TEMPLATES = "/templates";
export const SCHEDULES = "/schedules";
export const COSTS = "/costs";
export const MACHINE = "/machine";
export const HOSTS = "/hosts";
/** For developers; no link leads to `PARTS`. */
const PARTS = "/parts";

const withQuery = (path: string, query: Record<string, string | null>): string => {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== null && pair[1] !== "");
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
};

export const inboxAddress = (item: string | null): string => withQuery(INBOX, { item });
export const runsAddress = ({ state, text }: RunFilter): string => withQuery(RUNS, { state, q: text });
export const newRunAddress = ({
  from,
  after,
  template,
}: {
  from?: string;
  after?: string;
  template?: string;
}): string => withQuery(NEW_RUN, { from: from ?? null, after: after ?? null, template: template ?? null });
export const templatesAddress = (id: string | null): string => withQuery(TEMPLATES, { id });
export const costsAddress = (by: string): string => withQuery(COSTS, { by });
/** Defaults of `place` stay out of its address. */
export function runAddress(id: string, place: Partial<RunPlace> = {}): string {
  const { tab = "tasks", taskView = null, find = "", log = "recent", task = null, beside = null } = place;
  const { session = null, part = "transcript", attempt = null, entry = null, kind = "all", words = "" } = place;
  return withQuery(`/runs/${encodeURIComponent(id)}`, {
    tab: tab === "tasks" ? null : tab,
    view: taskView,
    find,
    log: log === "recent" ? null : log,
    task,
    beside,
    session,
    part: part === "transcript" ? null : part,
    attempt: attempt === null ? null : String(attempt),
    entry: entry === null ? null : String(entry),
    kind: kind === "all" ? null : kind,
    words,
  });
}

/** The same view of the run, with the panel of another `session`, or with none. */
export const withSession = (place: RunPlace, session: string | null): RunPlace => ({
  ...place,
  session,
  part: "transcript",
  attempt: null,
  entry: null,
  kind: "all",
  words: "",
});

const wordOf = <T extends string>(words: readonly T[], word: string | null): T | null =>
  words.find((each) => each === word) ?? null;

const numberOf = (text: string | null): number | null =>
  text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;

export function readRoute(address: string): PageRoute {
  const { pathname, searchParams: query } = new URL(address, "http://page");
  switch (pathname.replace(/(.)\/$/, "$1")) {
    case "/":
    case "/index.html":
      return { view: "inbox", item: query.get("item") };
    case RUNS:
      return { view: "runs", filter: { state: query.get("state") ?? "", text: query.get("q") ?? "" } };
    case NEW_RUN:
      return { view: "new", from: query.get("from"), after: query.get("after"), template: query.get("template") };
    case TEMPLATES:
      return { view: "templates", id: query.get("id") };
    case SCHEDULES:
      return { view: "schedules" };
    case COSTS:
      return { view: "costs", by: query.get("by") ?? "day" };
    case MACHINE:
      return { view: "machine" };
    case HOSTS:
      return { view: "hosts" };
    case PARTS:
      return { view: "parts" };
  }
  const id = /^\/runs\/([A-Za-z0-9_]+)\/?$/.exec(pathname)?.[1];
  if (!id) return { view: "unknown", path: pathname };
  return {
    view: "run",
    id,
    tab: wordOf(RUN_TABS, query.get("tab")) ?? "tasks",
    taskView: wordOf(TASK_VIEWS, query.get("view")),
    find: query.get("find") ?? "",
    log: wordOf(LOG_KINDS, query.get("log")) ?? "recent",
    task: query.get("task"),
    beside: query.get("beside"),
    session: query.get("session"),
    part: wordOf(PANEL_PARTS, query.get("part")) ?? "transcript",
    attempt: numberOf(query.get("attempt")),
    entry: numberOf(query.get("entry")),
    kind: wordOf(ENTRY_KINDS, query.get("kind")) ?? "all",
    words: query.get("words") ?? "",
  };
}

// `RunAccess` is the access of commands to runs: `localRuns` uses an engine in this process, `serverRuns` a server.
// `RunReader` is its read-only part, which also works on the log on disk.
import type { RouteInput } from "../../client/call-route.ts";
import type { ListedRun } from "../../client/run-summary.ts";
import type { OrderArguments, OrderName } from "../../schema/api/orders.ts";
import type { DropReport, MergeReport, ResultDiff } from "../../schema/api/result-values.ts";
import { noSuchRun } from "../../schema/error.ts";
import type { InboxItem, PersonAnswer } from "../../schema/inbox.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { Outcome } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import type { TemplateConfig } from "../../schema/template.ts";
import type { TranscriptEntry } from "../../schema/transcript.ts";

type ShownFields = "id" | "status" | "outcome" | "templateId" | "cwd" | "userRequest" | "agent";
type CountedFields = "taskCount" | "completedTasks" | "skippedTasks" | "usage";

export interface RunRow extends Pick<ListedRun, ShownFields | CountedFields> {
  createdAt: number;
  updatedAt: number;
  /**
   * True if the run is not over and no process works on it. A server works on all its runs, so it sends no
   * `interrupted`.
   */
  interrupted?: boolean;
}

export type RunRequest = Omit<RouteInput<"POST /api/orchestrator">["body"], "config"> & {
  config: Partial<TemplateConfig>;
};

type CleanupOptions = RouteInput<"DELETE /api/orchestrator/:id">["body"] & { removeState: boolean };

export type TakenRun = Pick<RunRow, "id" | "status">;

/** A server reports only `removed`. */
interface CleanupReport {
  removed: boolean;
  archived?: number;
  deleted?: number;
  errors?: { sessionId: string; error: string }[];
  workspacesLeft?: true;
}

interface DiffFlags {
  task?: string | undefined;
  stat: boolean;
}

export interface RunReader {
  rows(): Promise<RunRow[]>;
  inbox(): Promise<InboxItem[]>;
  /** `id` is a complete id, not a prefix. */
  run(id: string): Promise<Run>;
  /** All events of a run after `afterSeq`. */
  events(id: string, afterSeq?: number): Promise<StoredEvent[]>;
  copy(id: string): Promise<string>;
  /** Includes a fold that differs from the current state. Empty if the log is correct. */
  problems(id: string): Promise<string[]>;
  /** Compares the result of a run, or of `task`, with its base. */
  diff(id: string, options: DiffFlags): Promise<ResultDiff>;
  transcript(id: string, sessionId: string, after?: number): Promise<TranscriptEntry[]>;
}

export interface LiveRun {
  readonly run: Run;
  /** The events before `watch`; `subscribe` delivers those after it. */
  readonly past: readonly StoredEvent[];
  /** Calls `listener` for every new event, with the run after it. Returns a function that unsubscribes. */
  subscribe(listener: (event: StoredEvent, run: Run) => void): () => void;
  until(reached: (run: Run) => boolean): Promise<Run>;
  /** Unlike `until`, resolves when this process has also cleaned up for the run. */
  settled(): Promise<void>;
  close(): void;
}

export type WorkerOrder = "pause" | "resume" | "cancel";

export interface RunAccess extends RunReader {
  /** Gives an order of `ORDERS`; `input` is the body of its route. */
  order<Name extends OrderName>(id: string, name: Name, ...input: OrderArguments<Name>): Promise<unknown>;
  orderWorker(id: string, sessionId: string, name: WorkerOrder): Promise<unknown>;
  /** Opens the gate of `environment` without an approval, where the template allows it. */
  overrideGate(id: string, environment: string, reason: string): Promise<unknown>;
  answer(itemId: string, answer: PersonAnswer): Promise<unknown>;
  /** Runs of a "server" outlive this command; those of the "other process" continue only until that ends. */
  readonly home: "server" | "other process" | "here";
  /**
   * Whether another process follows the run and so continues it after this command. Only the process that has the
   * engine knows; `isFollowed` is false in all others.
   */
  isFollowed(id: string): boolean;
  /** Starts the dashboard if needed. Returns the URL that signs a browser in to it. */
  openDashboard(): Promise<string>;
  watch(id: string): Promise<LiveRun>;
  result(id: string): Promise<Outcome>;
  create(request: RunRequest): Promise<string>;
  /**
   * Prepares this machine for a session that will start soon. Call the returned function when the session runs, or will
   * not start.
   */
  expectSession?(): () => void;
  /** `trust` is the hash of the programs that the user agreed to. */
  import(text: string, trust?: string): Promise<TakenRun[]>;
  /**
   * Merges the result of an ended run into the branch that is checked out in its folder. `noFf` always makes a commit.
   */
  merge(id: string, options: { noFf: boolean }): Promise<MergeReport>;
  drop(id: string): Promise<DropReport>;
  /**
   * Creates a run with the events of another one up to `at`, by default all of them. `fresh` repeats the work after
   * `at`.
   */
  fork(id: string, options: { at?: number | undefined; fresh: boolean }): Promise<TakenRun>;
  /** Stores that the user agreed to the programs with this hash. */
  agree(hash: string): void;
  activate(id: string): Promise<unknown>;
  cleanup(id: string, options: CleanupOptions): Promise<CleanupReport>;
}

export function mustExist(run: Run | null, id: string): Run {
  if (run !== null) return run;
  throw noSuchRun(id);
}

export const openItems = (summaries: readonly { inbox: readonly InboxItem[] }[]): InboxItem[] =>
  summaries.flatMap(({ inbox }) => inbox).toSorted((a, b) => a.createdAt - b.createdAt);

// `RunAccess` is the access of commands to runs: `localRuns` uses an engine in this process, `serverRuns` a server.
// `RunReader` is its read-only part, which also works on the log on disk.
import type { RouteInput } from "../../client/call-route.ts";
import type { ListedRun } from "../../client/run-summary.ts";
import type { OrderArguments, OrderName } from "../../schema/api/orders.ts";
import type { DropReport, MergeReport, ResultDiff } from "../../schema/api/result-values.ts";
import { TuttiError } from "../../schema/error.ts";
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
  /** True if the run would continue, but no process works on it. A server works on all its runs. */
  interrupted?: boolean;
}

export type RunRequest = Omit<RouteInput<"POST /api/orchestrator">["body"], "config"> & {
  config: Partial<TemplateConfig>;
};

type CleanupOptions = RouteInput<"DELETE /api/orchestrator/:id">["body"] & { removeState: boolean };

export type TakenRun = Pick<RunRow, "id" | "status">;

/** The result of `cleanup`. A server reports only `removed`. */
interface CleanupReport {
  removed: boolean;
  archived?: number;
  deleted?: number;
  errors?: { sessionId: string; error: string }[];
}

export interface DiffFlags {
  task?: string | undefined;
  /** Leaves out the patches. */
  stat: boolean;
}

export interface RunReader {
  rows(): Promise<RunRow[]>;
  /** All open inbox items, the oldest first. */
  inbox(): Promise<InboxItem[]>;
  /** `id` is a complete id, not a prefix. */
  run(id: string): Promise<Run>;
  /** All events of a run after `afterSeq`. */
  events(id: string, afterSeq?: number): Promise<StoredEvent[]>;
  /** The log of a run in the format of `tutti export`. */
  copy(id: string): Promise<string>;
  /** Problems of the log, including a fold that differs from the current state. */
  problems(id: string): Promise<string[]>;
  /** The difference between the result of a run or of a task and its base. */
  diff(id: string, options: DiffFlags): Promise<ResultDiff>;
  /** All transcript entries of a session after entry `after`. */
  transcript(id: string, sessionId: string, after?: number): Promise<TranscriptEntry[]>;
}

export interface LiveRun {
  readonly run: Run;
  /** The events before `watch`. */
  readonly past: readonly StoredEvent[];
  /** Calls `listener` for every new event, with the run after it. Returns a function that unsubscribes. */
  subscribe(listener: (event: StoredEvent, run: Run) => void): () => void;
  until(reached: (run: Run) => boolean): Promise<Run>;
  /** Resolves when this process has nothing left to clean up for the run. */
  settled(): Promise<void>;
  close(): void;
}

export interface RunAccess extends RunReader {
  /** Gives an order of `ORDERS`; `input` is the body of its route. */
  order<Name extends OrderName>(id: string, name: Name, ...input: OrderArguments<Name>): Promise<unknown>;
  answer(itemId: string, answer: PersonAnswer): Promise<unknown>;
  /** Where the runs work. Those of a server outlive this command; those of another process only until that ends. */
  readonly home: "server" | "other process" | "here";
  /** Whether another process follows the run, and so continues it after this command. Only its engine knows. */
  isFollowed(id: string): boolean;
  /** Returns the address that signs a browser in to the dashboard, and starts the dashboard if needed. */
  openDashboard(): Promise<string>;
  watch(id: string): Promise<LiveRun>;
  result(id: string): Promise<Outcome>;
  create(request: RunRequest): Promise<string>;
  /** `trust` is the hash of the programs that the user agreed to. */
  import(text: string, trust?: string): Promise<TakenRun[]>;
  /** Merges the result of an ended run into the branch that is checked out in its folder. */
  merge(id: string, options: { noFf: boolean }): Promise<MergeReport>;
  /** Removes the branch of an ended run. */
  drop(id: string): Promise<DropReport>;
  /** Creates a run with the events of another one up to `at`, by default all of them. */
  fork(id: string, options: { at?: number | undefined; fresh: boolean }): Promise<TakenRun>;
  /** Stores that the user agreed to the programs with this hash. */
  agree(hash: string): void;
  /** Makes the engine act for a run, which rests until then. */
  activate(id: string): Promise<unknown>;
  cleanup(id: string, options: CleanupOptions): Promise<CleanupReport>;
}

export function mustExist(run: Run | null, id: string): Run {
  if (run !== null) return run;
  throw new TuttiError("run_not_found", `Run "${id}" does not exist. List runs with "tutti list".`);
}

/** All open inbox items of runs, the oldest first. */
export const openItems = (summaries: readonly { inbox: readonly InboxItem[] }[]): InboxItem[] =>
  summaries.flatMap(({ inbox }) => inbox).toSorted((a, b) => a.createdAt - b.createdAt);

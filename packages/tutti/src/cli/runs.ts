// What commands ask of runs. Whether an engine in this process answers, a server, or the log on disk, they need not know.
import type { InboxItem, PersonAnswer } from "../schema/inbox.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { Outcome, Verdict } from "../schema/outcome.ts";
import type { ChangedPlan } from "../schema/plan-changes.ts";
import type { Run } from "../schema/run.ts";
import type { RunStatus } from "../schema/status.ts";
import type { TemplateConfig } from "../schema/template.ts";
import type { Budget } from "../schema/budget.ts";
import type { TranscriptEntry } from "../schema/transcript.ts";

/** A run in a list. */
export interface RunRow {
  id: string;
  status: RunStatus;
  outcome: Verdict | null;
  templateId: string;
  cwd: string;
  userRequest: string;
  createdAt: number;
  updatedAt: number;
}

export interface NewRun {
  templateId: string;
  cwd: string;
  message: string;
  agent?: string | undefined;
  customVariables: Record<string, unknown>;
  config: Partial<TemplateConfig>;
  budget: Budget;
  trust?: string | undefined;
}

export interface CleanupOptions {
  archiveWorkers: boolean;
  deleteWorkers: boolean;
  removeState: boolean;
  /** Refused if the run is not over, or something in it waits for a person. */
  onlyEnded?: boolean;
}

/** A run that came in, or was forked. */
export type TakenRun = Pick<RunRow, "id" | "status">;

/** What was tidied up; a server says only that it was done. */
export interface Cleanup {
  removed: boolean;
  archived?: number;
  deleted?: number;
  errors?: { sessionId: string; error: string }[];
}

/** Only looks, and changes nothing. */
export interface Look {
  rows(): Promise<RunRow[]>;
  /** Everything that waits for a person, the oldest first. */
  inbox(): Promise<InboxItem[]>;
  /** A run by its whole id. */
  run(id: string): Promise<Run>;
  /** The events of a run after one of them, all that there are. */
  events(id: string, afterSeq?: number): Promise<StoredEvent[]>;
  /** The run's log as a text to take along. */
  copy(id: string): Promise<string>;
  /** What about the run's log is not as it should be, or does not lead to the state in use. */
  problems(id: string): Promise<string[]>;
  /** What was said in a session after one of its entries, all that there is. */
  transcript(id: string, sessionId: string, after?: number): Promise<TranscriptEntry[]>;
}

/** A run that is watched while it changes. */
export interface LiveRun {
  readonly run: Run;
  /** What happened before it was watched. */
  readonly past: readonly StoredEvent[];
  /** Every event from now on, with the run after it. Returns the way out. */
  subscribe(listener: (event: StoredEvent, run: Run) => void): () => void;
  until(reached: (run: Run) => boolean): Promise<Run>;
  /** Resolves when everything that ends with the run has ended, as far as this process has to do with it. */
  settled(): Promise<void>;
  close(): void;
}

export interface Runs extends Look {
  /** Whether runs go on when this command ends. */
  readonly outlives: boolean;
  watch(id: string): Promise<LiveRun>;
  result(id: string): Promise<Outcome>;
  create(request: NewRun): Promise<string>;
  /** Takes in what was exported. `trust` is the hash of the programs that the person agreed to. */
  import(text: string, trust?: string): Promise<TakenRun[]>;
  /** A new run with the past of another, up to one of its events or to its last. */
  fork(id: string, options: { at?: number | undefined; fresh: boolean }): Promise<TakenRun>;
  /** Remembers that the person agreed to these programs. */
  agree(hash: string): void;
  start(id: string): Promise<void>;
  /** Lets whoever answers here act for the run. */
  takeUp(id: string): Promise<void>;
  pause(id: string): Promise<void>;
  resume(id: string): Promise<void>;
  cancel(id: string): Promise<void>;
  confirm(id: string, changes: ChangedPlan): Promise<void>;
  retry(id: string, taskId: string): Promise<void>;
  /** To the worker of a task, or to the main session. */
  message(id: string, text: string, taskId?: string): Promise<void>;
  answer(itemId: string, answer: PersonAnswer): Promise<void>;
  cleanup(id: string, options: CleanupOptions): Promise<Cleanup>;
}

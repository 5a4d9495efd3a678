// Creates and starts the runs of schedules and triggers.
//
// Invariants
// 1. One occasion creates one run, even if the process dies at any moment: the key of the occasion is part of the run's
//    first event, and `#launch` looks for a run with the same key first.
// 2. An origin has at most `maxConcurrent` open runs. Launches are serialized and count the open runs in the log.
// 3. A run that was created is started, if necessary by the next server (`startCreated`).
import type { RunSettings } from "./settings.ts";
import type { Budget } from "../schema/budget.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import type { Idempotency, ServerEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, type RunStatus } from "../schema/status.ts";

export type KnownRun = Pick<Run, "id" | "status" | "outcome" | "idempotency" | "createdAt">;

interface NewRun {
  templateId: string;
  cwd: string;
  message: string;
  agent?: string | undefined;
  customVariables: Record<string, unknown>;
  config: { autoSpawn: boolean };
  budget: Budget;
  idempotency: Idempotency;
  mayUse?: (root: string) => void;
}

/** `LaunchedRuns` is the part of the engine that launching needs. */
export interface LaunchedRuns {
  create(request: NewRun): Promise<{ id: string; status: RunStatus }>;
  order(id: string, name: "start" | "cancel"): Promise<{ status: RunStatus }>;
  summaries(): readonly KnownRun[];
  append(...events: ServerEvent[]): Promise<unknown>;
}

export interface Launched {
  run: string;
  status: RunStatus;
  /** False if the occasion already had a run. */
  isNew: boolean;
}

/** The source of runs, for example `schedule/nightly`. Stored as `idempotency.body`, where API requests have a hash. */
type LaunchOrigin = `${"schedule" | "trigger"}/${string}`;

const isOrigin = (text: string | undefined): boolean => /^(schedule|trigger)\//.test(text ?? "");

export class RunLauncher {
  readonly #runs: LaunchedRuns;
  readonly #mayUse: ((root: string) => void) | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(runs: LaunchedRuns, mayUse?: (root: string) => void) {
    this.#runs = runs;
    this.#mayUse = mayUse;
  }

  /** Groups all runs by `LaunchOrigin`, oldest first, so that a list of many origins reads the summaries once. */
  byOrigin(): Map<string | undefined, KnownRun[]> {
    return Map.groupBy(this.#runs.summaries(), ({ idempotency }) => idempotency?.body);
  }

  find(origin: LaunchOrigin, occasion: string): KnownRun | undefined {
    return this.#runsOf(origin).find(({ idempotency }) => idempotency!.key === `${origin}/${occasion}`);
  }

  launch(origin: LaunchOrigin, occasion: string, settings: RunSettings): Promise<Launched> {
    return this.#enqueue(() => this.#launch(origin, occasion, settings));
  }

  /** Starts the runs that a previous server created and did not start before it died. */
  startCreated(): Promise<void> {
    return this.#enqueue(async () => {
      const unstarted = this.#runs
        .summaries()
        .filter(({ idempotency, status }) => isOrigin(idempotency?.body) && status === "created");
      // `#start` cancels a run that can never start; others are retried with their occasion.
      for (const { id } of unstarted) await this.#start(id).catch(() => {});
    });
  }

  async publish(event: ServerEvent): Promise<void> {
    await this.#runs.append(event);
  }

  async idle(): Promise<void> {
    await this.#queue;
  }

  #runsOf(origin: LaunchOrigin): KnownRun[] {
    return this.#runs.summaries().filter(({ idempotency }) => idempotency?.body === origin);
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }

  async #launch(origin: LaunchOrigin, occasion: string, settings: RunSettings): Promise<Launched> {
    const existing = this.find(origin, occasion);
    if (existing) {
      const status = existing.status === "created" ? await this.#start(existing.id) : existing.status;
      return { run: existing.id, status, isNew: false };
    }
    const open = this.#runsOf(origin).filter(({ status }) => !isRunOver(status));
    if (open.length >= settings.maxConcurrent) throw tooMany(open);
    const { template, cwd, message, variables, agent, budget, confirm } = settings;
    const { id } = await this.#runs.create({
      templateId: template,
      cwd,
      message,
      agent,
      customVariables: variables,
      // `autoSpawn` is always set: a project's template must not decide whether a plan needs confirmation.
      config: { autoSpawn: confirm === "yes" },
      budget,
      idempotency: { key: `${origin}/${occasion}`, body: origin },
      ...(this.#mayUse && { mayUse: this.#mayUse }),
    });
    return { run: id, status: await this.#start(id), isNew: true };
  }

  /** Cancels a run that can never start; otherwise it would count towards `maxConcurrent` forever. */
  async #start(id: string): Promise<RunStatus> {
    try {
      return (await this.#runs.order(id, "start")).status;
    } catch (error) {
      if (!asTuttiError(error).kind.retryable) await this.#runs.order(id, "cancel").catch(() => {});
      throw error;
    }
  }
}

function tooMany(open: readonly KnownRun[]): TuttiError {
  const ids = open.map(({ id }) => id);
  const message = `The limit "maxConcurrent" is reached by open runs: ${ids.join(", ")}. Wait until one ends, or cancel one.`;
  return new TuttiError("too_many_runs", message, { details: { runs: ids } });
}

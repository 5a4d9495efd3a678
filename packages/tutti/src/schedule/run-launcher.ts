// Makes and starts the runs of schedules and triggers.
//
// Invariants
// 1. One occasion makes one run, also if the process dies at any moment: the occasion's key is part of the run's first
//    event, and a run of the same key is looked for before one is made.
// 2. No more runs of one origin are open at once than its settings say. They are counted in the log, one launch at a time.
// 3. A run that was made is started, if need be by the next server.
import type { RunSettings } from "./settings.ts";
import type { Budget } from "../schema/budget.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import type { Idempotency, ServerEvent } from "../schema/event.ts";
import type { Verdict } from "../schema/outcome.ts";
import { isRunOver, type RunStatus } from "../schema/status.ts";

export interface KnownRun {
  id: string;
  status: RunStatus;
  outcome: Verdict | null;
  idempotency: Idempotency | null;
  createdAt: number;
}

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

/** What is needed of the engine. */
export interface Runs {
  create(request: NewRun): Promise<{ id: string; status: RunStatus }>;
  start(id: string): Promise<{ status: RunStatus }>;
  cancel(id: string): Promise<unknown>;
  summaries(): readonly KnownRun[];
  tell(...events: ServerEvent[]): Promise<unknown>;
}

export interface Launched {
  run: string;
  status: RunStatus;
  /** False if the occasion had its run already. */
  isNew: boolean;
}

/** Where runs come from, such as `schedule/nightly`. It stands where requests have the hash of what they said. */
export type Origin = `${"schedule" | "trigger"}/${string}`;

const isOrigin = (text: string | undefined): boolean => /^(schedule|trigger)\//.test(text ?? "");

export class RunLauncher {
  readonly #runs: Runs;
  readonly #mayUse: ((root: string) => void) | undefined;
  #line: Promise<unknown> = Promise.resolve();

  constructor(runs: Runs, mayUse?: (root: string) => void) {
    this.#runs = runs;
    this.#mayUse = mayUse;
  }

  /** All runs of each origin that the log has, oldest first; one look at the log for those who list many. */
  byOrigin(): Map<string | undefined, KnownRun[]> {
    return Map.groupBy(this.#runs.summaries(), ({ idempotency }) => idempotency?.body);
  }

  /** The run of one occasion. */
  find(origin: Origin, occasion: string): KnownRun | undefined {
    return this.#runsOf(origin).find(({ idempotency }) => idempotency!.key === `${origin}/${occasion}`);
  }

  launch(origin: Origin, occasion: string, settings: RunSettings): Promise<Launched> {
    return this.#inLine(() => this.#launch(origin, occasion, settings));
  }

  /** Starts what a server that died had only made. */
  startMade(): Promise<void> {
    return this.#inLine(async () => {
      const made = this.#runs
        .summaries()
        .filter(({ idempotency, status }) => isOrigin(idempotency?.body) && status === "created");
      // One that cannot be started is over by then, or is tried again with its occasion.
      for (const { id } of made) await this.#start(id).catch(() => {});
    });
  }

  tell(...events: ServerEvent[]): Promise<unknown> {
    return this.#runs.tell(...events);
  }

  /** Resolves when nothing is being launched. */
  async idle(): Promise<void> {
    await this.#line;
  }

  #runsOf(origin: Origin): KnownRun[] {
    return this.#runs.summaries().filter(({ idempotency }) => idempotency?.body === origin);
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#line.then(work);
    this.#line = done.catch(() => {});
    return done;
  }

  async #launch(origin: Origin, occasion: string, settings: RunSettings): Promise<Launched> {
    const known = this.find(origin, occasion);
    if (known) {
      const status = known.status === "created" ? await this.#start(known.id) : known.status;
      return { run: known.id, status, isNew: false };
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
      // In both cases: what the template says, which may be a project's, does not count here.
      config: { autoSpawn: confirm === "yes" },
      budget,
      idempotency: { key: `${origin}/${occasion}`, body: origin },
      ...(this.#mayUse && { mayUse: this.#mayUse }),
    });
    return { run: id, status: await this.#start(id), isNew: true };
  }

  /** A run that can never be started is ended, or it would take its place among those that are open for ever. */
  async #start(id: string): Promise<RunStatus> {
    try {
      return (await this.#runs.start(id)).status;
    } catch (error) {
      if (!asTuttiError(error).kind.retryable) await this.#runs.cancel(id).catch(() => {});
      throw error;
    }
  }
}

function tooMany(open: readonly KnownRun[]): TuttiError {
  const ids = open.map(({ id }) => id);
  const message = `as many runs of it as may be are not over: ${ids.join(", ")}`;
  return new TuttiError("too_many_runs", message, { details: { runs: ids } });
}

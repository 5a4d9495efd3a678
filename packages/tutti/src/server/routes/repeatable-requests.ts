// Idempotent creation of runs. Requests with the same `Idempotency-Key` create one run, also across a restart of the
// server: the key and a hash of the body are part of the run's first event, so they reach the disk together with the run.
import { createHash } from "node:crypto";
import { encodeError } from "../encode-error.ts";
import type { Engine } from "../../engine/engine.ts";
import type { NewRun } from "../../engine/new-run.ts";
import { canonicalJson } from "../../protocol/json/canonical-json.ts";
import { TuttiError } from "../../schema/error.ts";
import type { Idempotency } from "../../schema/event.ts";
import type { RunStatus } from "../../schema/status.ts";

export interface CreatedRun {
  orchestratorId: string;
  status: RunStatus;
  startError?: { code: string; message: string; details?: unknown };
}

interface Created {
  isNew: boolean;
  answer: CreatedRun;
}

/** `CallerLimits` throw for a repository or a setting that the caller may not use. */
type CallerLimits = Pick<NewRun, "mayUse" | "mayWiden">;
type Request = Omit<NewRun, "idempotency" | keyof CallerLimits> & { autoStart: boolean };

const mismatch = (key: string): string =>
  `The Idempotency-Key "${key}" belongs to a different request. Use a new key, or repeat the first request unchanged.`;

export class RepeatableRequests {
  readonly #engine: Engine;
  /** Requests in progress by key. A repeated request waits for the first one. */
  readonly #open = new Map<string, Promise<unknown>>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async create(request: Request, key: string | undefined, limits: CallerLimits): Promise<Created> {
    if (key === undefined) return { isNew: true, answer: await this.#createRun(request, limits) };
    if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
      throw new TuttiError("invalid_input", "The Idempotency-Key is invalid. Use 1 to 255 printable ASCII characters.");
    }
    const body = createHash("sha256").update(canonicalJson(request)).digest("hex");
    while (this.#open.has(key)) await this.#open.get(key);
    const creation = this.#createOnce(request, { key, body }, limits);
    this.#open.set(
      key,
      creation.catch(() => {}),
    );
    try {
      return await creation;
    } finally {
      this.#open.delete(key);
    }
  }

  async #createOnce(request: Request, idempotency: Idempotency, limits: CallerLimits): Promise<Created> {
    const { key, body } = idempotency;
    const existing = this.#engine.summaries().find((run) => run.idempotency?.key === key);
    if (!existing) return { isNew: true, answer: await this.#createRun(request, { ...limits, idempotency }) };
    if (existing.idempotency!.body !== body) {
      throw new TuttiError("idempotency_mismatch", mismatch(key));
    }
    return { isNew: false, answer: await this.#repeatAnswer(existing.id, request.autoStart) };
  }

  async #createRun(
    { autoStart, ...request }: Request,
    more: CallerLimits & Pick<NewRun, "idempotency">,
  ): Promise<CreatedRun> {
    const { id, status } = await this.#engine.create({ ...request, ...more });
    return autoStart ? this.#start(id) : { orchestratorId: id, status };
  }

  /** Rebuilds the first response from the log. With `autoStart`, starts the run now if the first request could not. */
  async #repeatAnswer(id: string, autoStart: boolean): Promise<CreatedRun> {
    if (!autoStart) return { orchestratorId: id, status: "created" };
    const started = this.#engine.events({ run: id }).find(({ type }) => type === "orchestrator:started");
    if (started?.type !== "orchestrator:started") return this.#start(id);
    return { orchestratorId: id, status: started.data.phase === "analysis" ? "analyzing" : "planning" };
  }

  /** The run exists at this point, so a failed start still returns its id, with `startError`. */
  async #start(id: string): Promise<CreatedRun> {
    try {
      return { orchestratorId: id, status: (await this.#engine.order(id, "start")).status };
    } catch (error) {
      const { status } = this.#engine.get(id)!;
      return { orchestratorId: id, status, startError: encodeError(error).body.error };
    }
  }
}

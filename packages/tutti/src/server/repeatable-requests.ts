// Requests for runs that may be sent twice. A request that is given a name (Idempotency-Key) makes one run however often
// it is sent, also if the server was restarted meanwhile: the name and a hash of what was asked are part of the run's
// first event, so there is no moment in which the one is on disk without the other.
import { createHash } from "node:crypto";
import { encodeError } from "./encode-error.ts";
import type { Engine } from "../engine/engine.ts";
import type { NewRun } from "../engine/new-run.ts";
import { canonicalJson } from "../protocol/canonical-json.ts";
import { TuttiError } from "../schema/error.ts";
import type { Idempotency } from "../schema/event.ts";
import type { RunStatus } from "../schema/status.ts";

export interface CreatedRun {
  orchestratorId: string;
  status: RunStatus;
  startError?: { code: string; message: string; details?: unknown };
}

interface Created {
  isNew: boolean;
  answer: CreatedRun;
}

type Request = Omit<NewRun, "idempotency" | "mayUse"> & { autoStart: boolean };

export class RepeatableRequests {
  readonly #engine: Engine;
  /** Named requests that are being carried out; whoever repeats one meanwhile waits for it. */
  readonly #open = new Map<string, Promise<unknown>>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async create(request: Request, key: string | undefined, mayUse: (root: string) => void): Promise<Created> {
    if (key === undefined) return { isNew: true, answer: await this.#make(request, { mayUse }) };
    if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
      throw new TuttiError("invalid_input", "an Idempotency-Key is 1 to 255 visible ASCII characters");
    }
    const body = createHash("sha256").update(canonicalJson(request)).digest("hex");
    while (this.#open.has(key)) await this.#open.get(key);
    const doing = this.#once(request, { key, body }, mayUse);
    this.#open.set(
      key,
      doing.catch(() => {}),
    );
    try {
      return await doing;
    } finally {
      this.#open.delete(key);
    }
  }

  async #once(request: Request, idempotency: Idempotency, mayUse: (root: string) => void): Promise<Created> {
    const { key, body } = idempotency;
    const known = this.#engine.summaries().find((run) => run.idempotency?.key === key);
    if (!known) return { isNew: true, answer: await this.#make(request, { mayUse, idempotency }) };
    if (known.idempotency!.body !== body) {
      throw new TuttiError("idempotency_mismatch", `the Idempotency-Key ${key} was used for another request`);
    }
    return { isNew: false, answer: await this.#again(known.id, request.autoStart) };
  }

  async #make({ autoStart, ...request }: Request, more: Pick<NewRun, "mayUse" | "idempotency">): Promise<CreatedRun> {
    const { id, status } = await this.#engine.create({ ...request, ...more });
    return autoStart ? this.#start(id) : { orchestratorId: id, status };
  }

  /** What was answered then, from the log. If the server died before the start, or could not start it, it is tried now. */
  async #again(id: string, autoStart: boolean): Promise<CreatedRun> {
    if (!autoStart) return { orchestratorId: id, status: "created" };
    const started = this.#engine.events({ run: id }).find(({ type }) => type === "orchestrator:started");
    if (started?.type !== "orchestrator:started") return this.#start(id);
    return { orchestratorId: id, status: started.data.phase === "analysis" ? "analyzing" : "planning" };
  }

  /** The run exists by now, so the answer must say its name even if it could not be started. */
  async #start(id: string): Promise<CreatedRun> {
    try {
      return { orchestratorId: id, status: (await this.#engine.start(id)).status };
    } catch (error) {
      const { status } = this.#engine.get(id)!;
      return { orchestratorId: id, status, startError: encodeError(error).body.error };
    }
  }
}

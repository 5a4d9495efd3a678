// Sessions in this process that answer at once: the main session with the plan, a worker with its completion. Their
// history is in the benchmark's trace, as a real session's is in its folder: a session that is reopened after a crash
// and has answered before repeats its answer and does nothing.
import type { Recorder } from "./recorder.ts";
import { GRAPH } from "./layered-graph.ts";
import type { Session, SessionHost, SessionSignal, SessionSpec, Turn } from "../../src/session/session.ts";
import type { Template } from "../../src/schema/template.ts";

type Delimiters = Template["prompts"]["responseFormat"];

export interface NoOpHostOptions {
  delimiters: Delimiters;
  recorder: Recorder;
  /** Tasks whose sessions answered before the engine was restarted. */
  answered: ReadonlySet<string>;
}

export class NoOpHost implements SessionHost {
  readonly #options: NoOpHostOptions;
  readonly #open = new Map<string, NoOpSession>();

  constructor(options: NoOpHostOptions) {
    this.#options = options;
  }

  open(spec: SessionSpec): Session {
    const session = new NoOpSession(spec, this.#options);
    // A real host would start the agent's process here.
    if (spec.taskId !== null) this.#options.recorder.started(spec.taskId);
    this.#open.set(spec.sessionId, session);
    return session;
  }

  async end(_: string, sessionId: string): Promise<void> {
    await this.#open.get(sessionId)?.stop();
    this.#open.delete(sessionId);
  }

  async reap(runId: string, keep: readonly string[]): Promise<void> {
    for (const sessionId of this.#open.keys()) if (!keep.includes(sessionId)) await this.end(runId, sessionId);
  }

  transcript = async (): Promise<[]> => [];
  archive = (): Promise<void> => Promise.resolve();
  isArchived = (): boolean => false;
  forget = (): Promise<void> => Promise.resolve();
  hasRun = (): boolean => false;
  check(): void {}
}

class NoOpSession implements Session {
  readonly sessionId: string;
  readonly #taskId: string | null;
  readonly #options: NoOpHostOptions;
  readonly #signals: SessionSignal[] = [];
  readonly #hasAnswered: boolean;
  #isOver = false;
  #wake: (() => void) | null = null;

  constructor({ sessionId, taskId }: SessionSpec, options: NoOpHostOptions) {
    this.sessionId = sessionId;
    this.#taskId = taskId;
    this.#options = options;
    this.#hasAnswered = taskId !== null && options.answered.has(taskId);
    if (this.#hasAnswered) this.#signals.push({ type: "ready" }, ...this.#answer(1), { type: "caughtUp" });
    else this.#signals.push({ type: "caughtUp" }, { type: "ready" });
  }

  async *signals(): AsyncGenerator<SessionSignal> {
    for (;;) {
      const signal = this.#signals.shift();
      if (signal) yield signal;
      else if (this.#isOver) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
      if (signal?.type === "gone") return;
    }
  }

  #tell(...signals: SessionSignal[]): void {
    this.#signals.push(...signals);
    this.#wake?.();
  }

  #answer(turn: number): SessionSignal[] {
    const { delimiterStart, delimiterEnd } = this.#options.delimiters;
    const block =
      this.#taskId === null
        ? { phase: "task_list", data: { tasks: PLAN } }
        : { phase: "completion", data: { task_id: this.#taskId, status: "success" } };
    return [
      { type: "text", text: `${delimiterStart}\n${JSON.stringify(block)}\n${delimiterEnd}`, complete: true },
      { type: "turnOver", turn, ending: { kind: "ended", detail: "" } },
    ];
  }

  async deliver({ number }: Turn): Promise<void> {
    if (this.#taskId !== null) this.#options.recorder.work(this.#taskId);
    this.#tell(...this.#answer(number));
  }

  wasDelivered(): boolean {
    return this.#hasAnswered;
  }

  async answer(): Promise<void> {}
  async interrupt(): Promise<void> {}

  async close(): Promise<void> {
    await this.stop();
  }

  async stop(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#tell({ type: "gone", reason: "it was ended", deliberate: true });
  }

  leave(): void {
    this.#isOver = true;
    this.#wake?.();
  }
}

const PLAN = GRAPH.map(({ id, needs }) => ({
  id,
  title: id,
  description: "nothing is to be done",
  scope: [`${id}.md`],
  priority: 5,
  dependencies: needs,
}));

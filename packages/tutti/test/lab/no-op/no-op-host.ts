// Sessions in this process that do nothing: the main session answers with the plan, a worker with its completion. Their
// history is in a trace of the caller, as a real session's is in its folder: a session that is reopened after a crash
// and has answered before repeats its answer and does nothing.
import type { Session, SessionHost, SessionSignal, SessionSpec, Turn } from "../../../src/session/session.ts";
import type { Template } from "../../../src/schema/template.ts";

type Delimiters = Template["prompts"]["responseFormat"];

export interface NoOpHostOptions {
  delimiters: Delimiters;
  plan: readonly object[];
  /** Called when a session is opened, where a real host would start the agent's process. */
  started?(spec: SessionSpec): void;
  /** Called before a turn begins. The caller stores it if sessions should outlive the process. */
  delivered(spec: SessionSpec, turn: number): void;
  /** The last turn that was delivered before this process was started, or 0. Its answer is repeated at once. */
  lastTurn(spec: SessionSpec): number;
  /** How long a worker works; by default it answers at once. */
  durationMs?: () => number;
}

export class NoOpHost implements SessionHost {
  readonly #options: NoOpHostOptions;
  readonly #open = new Map<string, NoOpSession>();

  constructor(options: NoOpHostOptions) {
    this.#options = options;
  }

  open(spec: SessionSpec): Session {
    const session = new NoOpSession(spec, this.#options);
    this.#options.started?.(spec);
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
  readonly #spec: SessionSpec;
  readonly #options: NoOpHostOptions;
  readonly #signals: SessionSignal[] = [];
  #lastTurn: number;
  #isOver = false;
  #wake: (() => void) | null = null;

  constructor(spec: SessionSpec, options: NoOpHostOptions) {
    this.sessionId = spec.sessionId;
    this.#spec = spec;
    this.#options = options;
    this.#lastTurn = options.lastTurn(spec);
    const answers = Array.from({ length: this.#lastTurn }, (_, i) => this.#answer(i + 1)).flat();
    if (answers.length > 0) this.#signals.push({ type: "ready" }, ...answers, { type: "caughtUp" });
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
    const { taskId } = this.#spec;
    const block =
      taskId === null
        ? { phase: "task_list", data: { tasks: this.#options.plan } }
        : { phase: "completion", data: { task_id: taskId, status: "success" } };
    return [
      { type: "text", text: `${delimiterStart}\n${JSON.stringify(block)}\n${delimiterEnd}`, complete: true },
      { type: "turnOver", turn, ending: { kind: "ended", detail: "" } },
    ];
  }

  async deliver({ number }: Turn): Promise<void> {
    if (number <= this.#lastTurn) return;
    this.#lastTurn = number;
    this.#options.delivered(this.#spec, number);
    const { durationMs } = this.#options;
    if (durationMs && this.#spec.taskId !== null) setTimeout(() => this.#tell(...this.#answer(number)), durationMs());
    else this.#tell(...this.#answer(number));
  }

  wasDelivered(turn: number): boolean {
    return turn <= this.#lastTurn;
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

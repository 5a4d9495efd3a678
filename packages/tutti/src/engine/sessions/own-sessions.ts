// `OwnSessions` offers the sessions of Tutti's runs as parents and children of sub-sessions. A session that is over
// receives no messages.
import type { SeenMessage, SessionAccess, SessionActivity } from "./session-access.ts";
import { workerOfSession } from "../../run/lookup.ts";
import type { Command } from "../../run/command.ts";
import { TuttiError } from "../../schema/error.ts";
import { mainSessionId, workerSessionId } from "../../schema/ids.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver, isWorkerOver } from "../../schema/status.ts";
import type { TranscriptEntry } from "../../schema/transcript.ts";
import type { SessionState, Worker } from "../../schema/worker.ts";
import type { SessionHost } from "../../session/session.ts";

interface OwnSession {
  run: Run;
  /** Null for the main session. */
  worker: Worker | null;
  session: SessionState;
}

export interface OwnSessionsOptions {
  runs(): Iterable<Run>;
  sessions: SessionHost;
  submit(runId: string, command: Command): Promise<unknown>;
}

export class OwnSessions implements SessionAccess {
  readonly #options: OwnSessionsOptions;

  constructor(options: OwnSessionsOptions) {
    this.#options = options;
  }

  find(sessionId: string): OwnSession | null {
    for (const run of this.#options.runs()) {
      if (run.main?.sessionId === sessionId) return { run, worker: null, session: run.main };
      const worker = workerOfSession(run, sessionId);
      if (worker) return { run, worker, session: worker.session };
    }
    return null;
  }

  isAlive(sessionId: string): boolean {
    const found = this.find(sessionId);
    return found !== null && !isRunOver(found.run.status) && found.session.state !== "over";
  }

  /** A lost main session or worker has a `#successor`, which receives its messages. */
  async isThere(sessionId: string): Promise<boolean> {
    const found = this.find(sessionId) ?? this.#successor(sessionId);
    if (!found || isRunOver(found.run.status)) return false;
    return found.worker === null || !isWorkerOver(found.worker.status);
  }

  #successor(sessionId: string): OwnSession | null {
    for (const run of this.#options.runs()) {
      const { sessionPrefix } = run.template.config;
      const { main } = run;
      const isOf = (attempts: number, idOf: (attempt: number) => string): boolean =>
        Array.from({ length: attempts }, (_, i) => idOf(i + 1)).includes(sessionId);
      if (main && isOf(main.attempt, (attempt) => mainSessionId(run.id, attempt, sessionPrefix)))
        return { run, worker: null, session: main };
      const isOfWorker = ({ taskId, attempt }: Worker): boolean =>
        attempt > 1 && isOf(attempt, (each) => workerSessionId(run.id, taskId, each, sessionPrefix));
      const worker = Object.values(run.workers).find(isOfWorker);
      if (worker) return { run, worker, session: worker.session };
    }
    return null;
  }

  async messages(sessionId: string): Promise<SeenMessage[] | null> {
    const found = this.find(sessionId);
    return found && (await this.#options.sessions.transcript(found.run.id, sessionId)).flatMap(asMessage);
  }

  async activity(sessionId: string): Promise<SessionActivity> {
    return { isBusy: this.#isBusy(sessionId) };
  }

  async isFree(sessionId: string): Promise<boolean> {
    return !this.#isBusy(sessionId);
  }

  #isBusy(sessionId: string): boolean {
    return (this.find(sessionId) ?? this.#successor(sessionId))?.session.turn != null;
  }

  async failure(sessionId: string): Promise<string | null> {
    const worker = this.find(sessionId)?.worker;
    const hasFailed = worker && ["failed", "timeout", "cancelled"].includes(worker.status);
    return hasFailed ? (worker.error ?? `its task ended with the status "${worker.status}"`) : null;
  }

  /** The next turn of the session contains `text`. */
  async send(sessionId: string, text: string, from: string): Promise<void> {
    const { run, worker } = this.#require(sessionId);
    await this.#options.submit(run.id, { type: "message", text, taskId: worker?.taskId ?? null, from });
  }

  async wasSent(sessionId: string, text: string): Promise<boolean> {
    const { run, worker } = this.#require(sessionId);
    return run.messages.some((message) => message.text === text && message.taskId === (worker?.taskId ?? null));
  }

  async archive(sessionId: string): Promise<void> {
    const { run } = this.#require(sessionId);
    await this.#options.sessions.archive(run.id, sessionId);
  }

  async others(): Promise<[]> {
    return [];
  }

  /** A session of a run reports its sub-agents itself. */
  async children(): Promise<[]> {
    return [];
  }

  #require(sessionId: string): OwnSession {
    const found = this.find(sessionId) ?? this.#successor(sessionId);
    if (!found)
      throw new TuttiError("wrong_state", `Session "${sessionId}" belongs to no live run. Resume its run first.`);
    return found;
  }
}

function asMessage(entry: TranscriptEntry): SeenMessage[] {
  switch (entry.type) {
    case "prompt":
      return [{ role: "user", text: entry.text, tools: [] }];
    case "text":
      return [{ role: "assistant", text: entry.text, tools: [] }];
    case "tool":
      return [{ role: "assistant", text: "", tools: [{ id: null, name: entry.name, input: entry.input }] }];
    default:
      return [];
  }
}

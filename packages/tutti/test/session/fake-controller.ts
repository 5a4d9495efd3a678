// A stub of a session controller: it keeps transcripts and plays an agent whose answers, delays and failures the test
// sets.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SessionController } from "../../src/session/polled/session-controller.ts";

interface FakeMessage {
  id?: string;
  role: string;
  content: unknown;
}

export interface FakeSession {
  id: string;
  cwd: string;
  title: string;
  messages: FakeMessage[];
  archived: boolean;
  /** Further members of the controller's description; none by default. */
  says: Record<string, unknown>;
}

/** The agent's reaction to a message: returns the answer, or calls `say` later. */
export type FakeAgent = (session: FakeSession, message: string) => string | null;

export class FakeController implements SessionController {
  readonly sessions = new Map<string, FakeSession>();
  readonly calls: { name: string; sessionId: string; at: number }[] = [];
  agent: FakeAgent;
  /** Whether transcripts are a list or an object, and whether messages have ids. */
  shape: "list" | "object" = "object";
  names = true;
  /** The number of transcript requests that still fail. */
  failures = 0;
  /** The delay of a transcript request, and the highest number of concurrent ones. */
  transcriptMs = 0;
  mostAtOnce = 0;
  #reading = 0;
  #count = 0;

  constructor(agent: FakeAgent) {
    this.agent = agent;
  }

  async startNewSessionWithMessage(cwd: string, message: string, { title }: { title: string }): Promise<unknown> {
    const id = `backend-${++this.#count}`;
    const session: FakeSession = { id, cwd, title, messages: [], archived: false, says: {} };
    this.sessions.set(id, session);
    this.#called("startNewSessionWithMessage", id);
    this.#receive(session, message);
    return { sessionId: id };
  }

  async sendMessage(sessionId: string, message: string): Promise<void> {
    this.#called("sendMessage", sessionId);
    this.#receive(this.#get(sessionId), message);
  }

  async getTranscript(sessionId: string): Promise<unknown> {
    this.#called("getTranscript", sessionId);
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#reading);
    try {
      if (this.transcriptMs > 0) await new Promise((done) => setTimeout(done, this.transcriptMs));
      if (this.failures > 0) {
        this.failures--;
        throw new Error("the controller is not to be reached");
      }
      const messages = structuredClone(this.#get(sessionId).messages);
      return this.shape === "list" ? messages : { messages };
    } finally {
      this.#reading--;
    }
  }

  async archiveSession(sessionId: string): Promise<void> {
    this.#called("archiveSession", sessionId);
    this.#get(sessionId).archived = true;
  }

  async getSession(sessionId: string): Promise<unknown> {
    this.#called("getSession", sessionId);
    return { id: sessionId, ...this.#get(sessionId).says };
  }

  async getAllSessions(): Promise<unknown> {
    return [...this.sessions.values()].map(({ id, title, cwd }) => ({ id, title, cwd }));
  }

  say(session: FakeSession, role: string, content: unknown): void {
    const id = this.names ? { id: `message-${session.messages.length + 1}` } : {};
    session.messages.push({ ...id, role, content });
  }

  /** The times of calls about a session, in milliseconds. */
  times(name: string, sessionId: string): number[] {
    return this.calls.filter((call) => call.name === name && call.sessionId === sessionId).map(({ at }) => at);
  }

  #called(name: string, sessionId: string): void {
    this.calls.push({ name, sessionId, at: performance.now() });
  }

  #get(sessionId: string): FakeSession {
    const session = this.sessions.get(sessionId);
    if (!session) throw new Error(`there is no session ${sessionId}`);
    return session;
  }

  #receive(session: FakeSession, message: string): void {
    this.say(session, "user", message);
    const answer = this.agent(session, message);
    if (answer !== null) this.say(session, "assistant", answer);
  }
}

export const block = (phase: string, data: object): string =>
  `<<<ORCHESTRATOR_RESPONSE>>>\n${JSON.stringify({ phase, data })}\n<<<END_ORCHESTRATOR_RESPONSE>>>`;

/** An agent that plans two tasks, writes one file for each, and passes the verification. */
export const twoPages: FakeAgent = ({ cwd }, message) => {
  if (message.includes('End with the "analysis" block'))
    return block("analysis", { summary: "small", recommended_splits: 2 });
  if (message.includes('End with the "task_list" block')) {
    const tasks = ["one", "two"].map((id) => ({ id, title: `Page ${id}`, description: `Write ${id}` }));
    return block("task_list", { tasks });
  }
  if (message.includes('End with the "aggregation" block')) return block("aggregation", { status: "success" });
  const task = /^Task (\w+):/m.exec(message)?.[1] ?? "none";
  const file = join(cwd, "docs", `${task}.md`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `# ${task}\n`);
  return `Here it is.\n${block("completion", { task_id: task, status: "success", summary: `wrote ${task}` })}`;
};

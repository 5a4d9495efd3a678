// One agent at work, as the engine sees it: it is opened, given turns, and tells what happens in signals. Which program
// runs, how it is spoken to and who keeps it alive are behind this interface, so that a simulation can stand in for all
// of it.
import type { Capabilities } from "./dialogue.ts";
import type { Ending, FailureCause } from "../schema/ending.ts";
import type { Usage } from "../schema/outcome.ts";
import type { Permissions } from "../schema/permissions.ts";
import type { Phase } from "../schema/status.ts";
import type { TranscriptEntry, TranscriptPage } from "../schema/transcript.ts";

export interface SessionSpec {
  sessionId: string;
  runId: string;
  /** What the session is for; `main` or `worker` unless the template says another. */
  role: string;
  taskId: string | null;
  attempt: number;
  /** The agent as the person named it, e.g. `command:my-agent --fast`. */
  agent: string;
  /** The folder it works in. */
  cwd: string;
  /** What it may do without asking. */
  permissions: Permissions;
  /** How long an agent that shows every step may show none. */
  stallTimeout?: number;
}

export interface Turn {
  /** Counts from 1 within the session. Delivering the same number again changes nothing. */
  number: number;
  phase: Phase;
  /** System text, blank line, user text. */
  text: string;
  variables: Record<string, string>;
}

/** What the agent itself told. */
export type AgentSignal =
  /** Which program it is, and what it can do, as it showed at its start. */
  | { type: "agent"; agent: string; version: string; conversation: string | null; capabilities: Capabilities | null }
  /** The agent said something; `complete` ends one message. */
  | { type: "text"; text: string; complete: boolean }
  /** A part of a message that will come whole; only for showing. */
  | { type: "partial"; text: string }
  | { type: "tool"; name: string; input: unknown }
  /** An agent that this one started itself has begun or ended. */
  | { type: "subagent"; id: string; phase: "started" | "done"; text: string | null }
  | { type: "usage"; usage: Usage }
  /** `permission` names the tool if the question is whether it may be used. */
  | {
      type: "ask";
      askId: string;
      question: string;
      options?: string[];
      permission?: { tool: string; subject: string };
    }
  /** It no longer wants to know. */
  | { type: "askCancelled"; askId: string }
  /** Its provider refused for now; the agent tries again by itself. */
  | { type: "trouble"; cause: FailureCause; detail: string; retryAfterMs: number | null };

export type SessionSignal =
  /** The session can take a turn. */
  | { type: "ready" }
  /** A turn went to the agent. */
  | { type: "sent"; turn: number }
  /** The agent cannot be started at all, e.g. because there is no such program. */
  | { type: "unstartable"; error: string }
  | AgentSignal
  /** The agent was asked to stop its open turn. Whether and when it does is told by the turn's end. */
  | { type: "interrupted"; turn: number }
  /** Nothing of the agent moved for too long; its process was ended, and where it can go on, it does. */
  | { type: "stalled"; detail: string }
  /** A turn that was interrupted before its end has an ending of that kind, however the agent ended it. */
  | { type: "turnOver"; turn: number; ending: Ending }
  /** Everything before this happened before the session was opened here; everything after it is new. */
  | { type: "caughtUp" }
  /** Nothing is left of it. `deliberate` when we ended it ourselves, so that nobody is to blame. Always the last signal. */
  | { type: "gone"; reason: string; deliberate: boolean };

export interface Session {
  readonly sessionId: string;
  /**
   * Everything that happened, from the very beginning, then what happens: an adopted session tells its whole story
   * again, and the engine skips what it has judged before.
   */
  signals(): AsyncGenerator<SessionSignal>;
  deliver(turn: Turn): Promise<void>;
  /** Whether this turn was delivered before, here or by an engine that is gone. */
  wasDelivered(turn: number): boolean;
  answer(askId: string, text: string): Promise<void>;
  /**
   * Asks the agent to stop the open turn. Without effect if that turn is over, was never delivered, or was interrupted
   * before. An agent that does not listen is left alone: its turn ends whenever it ends it. The number is used up, so
   * going on takes a turn of the next number.
   */
  interrupt(turn: number): Promise<void>;
  /** Lets it finish: no more input, a time of grace, then the end of its whole process tree. */
  close(): Promise<void>;
  /** Ends its whole process tree now. */
  stop(): Promise<void>;
  /** Stops listening; the session itself goes on under its keeper. */
  leave(): void;
}

export interface SessionHost {
  /** What was said and done in a session so far, alive or not, or a part of it; empty if there never was one. */
  transcript(runId: string, sessionId: string, page?: TranscriptPage): TranscriptEntry[];
  /** Starts the session; or adopts it if it was started before; or tells how it ended. Never starts one id twice. */
  open(spec: SessionSpec): Session;
  /** Ends whatever is left of a run's sessions but those to keep, and waits until it is gone. */
  reap(runId: string, keep: readonly string[]): Promise<void>;
  /** Ends one session, opened here or not, and waits until nothing is left of it. */
  end(runId: string, sessionId: string): Promise<void>;
  /**
   * Packs what is left of a session, once; the transcript can still be read. Refuses with wrong_state while it is alive.
   * A session that never began has nothing to pack.
   */
  archive(runId: string, sessionId: string): Promise<void>;
  isArchived(runId: string, sessionId: string): boolean;
  /** Removes everything that is left of a run's sessions, for good. Refuses with wrong_state while one of them is alive. */
  forget(runId: string): Promise<void>;
  /** Whether anything is left of a run's sessions. */
  knows(runId: string): boolean;
  /** The agent that a name of the person's choice means, or the name itself. Without it no such names are known. */
  meant?(agent: string): string;
  /** Fails with agent_unknown, agent_not_startable or invalid_scenario if such an agent cannot be had. */
  check(agent: string, cwd: string): void;
}

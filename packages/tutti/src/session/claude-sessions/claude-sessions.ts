// `ClaudeSessions` are the user's own sessions of Claude Code, which Tutti did not start, as a session controller: it
// reads their transcripts and sends messages by resuming them. Their files are never changed.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { resumeSession } from "./resume-session.ts";
import { readFolder, SessionFiles, type SubagentFile } from "./session-files.ts";
import { TranscriptFile, type TranscriptMessage } from "./transcript-file.ts";
import { uuidOf } from "../drivers/claude/command.ts";
import type { SessionController } from "../polled/session-controller.ts";
import { TuttiError } from "../../schema/error.ts";
import { realWorld, type World } from "../../world.ts";

/** Without other signs, a session with a transcript older than `RECENT_MS` has no process. */
const RECENT_MS = 30_000;
/** `MAX_TRANSCRIPTS` are kept in memory. A poll reads only those of watched and registered sessions. */
const MAX_TRANSCRIPTS = 200;

interface ClaudeSessionState {
  id: string;
  cwd: string | null;
  /** A tool, a sub-agent in the background or a provider that refuses keeps it from its answer. */
  isRunning: boolean;
  /** `isOpen` means that a process has it open. Only a session that no process has open can receive messages. */
  isOpen: boolean;
  /** `isGone` means that no process will complete its open turn. */
  isGone: boolean;
  /** For a sub-agent, `isReturned` means that the program has returned its result to its parent. */
  isReturned: boolean;
}

export class ClaudeSessions implements SessionController {
  readonly #files: SessionFiles;
  readonly #env: NodeJS.ProcessEnv;
  readonly #world: World;
  readonly #transcripts = new Map<string, TranscriptFile>();
  readonly #folders = new Map<string, string | null>();

  /** `env` selects the configuration folder and is the environment of resumed sessions. */
  constructor({ env = process.env, world = realWorld }: { env?: NodeJS.ProcessEnv; world?: World } = {}) {
    // Agents must not get the settings of Tutti, nor the token of its server, so `TUTTI_` variables are removed.
    this.#env = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("TUTTI_")));
    this.#world = world;
    this.#files = new SessionFiles(env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] || homedir(), ".claude"));
  }

  async getAllSessions(): Promise<{ id: string; cwd: string | null }[]> {
    return this.#files.sessions().map(({ id, file }) => ({ id, cwd: this.#folderOf(id, file) }));
  }

  async getSubSessions(sessionId: string): Promise<SubagentFile[]> {
    return this.#files.subagents(sessionId);
  }

  async getSession(sessionId: string): Promise<ClaudeSessionState | null> {
    const file = this.#files.find(sessionId);
    const transcript = this.#read(sessionId);
    if (file === null || transcript === null) return null;
    const session = sessionId.split("/")[0]!;
    const isOpen = this.#files.isOpen(session) ?? this.#world.now() - statSync(file).mtimeMs < RECENT_MS;
    const last = transcript.messages.at(-1);
    const isAnswered = last?.role === "assistant" && transcript.pending.size === 0 && !transcript.isRefused;
    return {
      id: sessionId,
      cwd: transcript.cwd,
      isRunning: isOpen && (transcript.pending.size > 0 || transcript.isRefused),
      isOpen,
      isGone: !isOpen && !isAnswered,
      isReturned: this.#isReturned(sessionId),
    };
  }

  #isReturned(sessionId: string): boolean {
    const [session = ""] = sessionId.split("/");
    if (session === sessionId) return false;
    const found = this.#files.subagents(session).find(({ id }) => id === sessionId);
    if (found?.taskToolId == null) return false;
    return this.#read(found.parentSessionId)?.received.has(found.taskToolId) ?? false;
  }

  async getTranscript(sessionId: string): Promise<TranscriptMessage[]> {
    return (this.#read(sessionId) ?? this.#missing(sessionId)).messages;
  }

  async sendMessage(sessionId: string, text: string): Promise<void> {
    const { cwd } = this.#read(sessionId) ?? this.#missing(sessionId);
    if (sessionId.includes("/") || cwd === null)
      throw new TuttiError("wrong_state", `Session "${sessionId}" cannot be resumed. Send the message to its parent.`);
    await resumeSession({ session: sessionId, cwd, text, env: this.#env, world: this.#world });
  }

  async startNewSessionWithMessage(cwd: string, text: string): Promise<string> {
    const session = uuidOf(this.#world.id(20));
    await resumeSession({ session, cwd, text, env: this.#env, world: this.#world, isNew: true });
    return session;
  }

  /** The program has no archive. The relation is marked as archived, and the transcript stays as it is. */
  async archiveSession(sessionId: string): Promise<void> {
    if (this.#files.find(sessionId) !== null) return;
    throw new TuttiError(
      "wrong_state",
      `Claude Code has no session "${sessionId}" that could be archived. Check its id.`,
    );
  }

  #read(sessionId: string): TranscriptFile | null {
    const file = this.#files.find(sessionId);
    if (file === null) return null;
    const transcript = this.#transcripts.get(sessionId) ?? new TranscriptFile(file, sessionId.includes("/"));
    // The last one in `#transcripts` is the most recently used.
    this.#transcripts.delete(sessionId);
    this.#transcripts.set(sessionId, transcript);
    const [oldest] = this.#transcripts.keys();
    if (this.#transcripts.size > MAX_TRANSCRIPTS) this.#transcripts.delete(oldest!);
    transcript.update();
    return transcript;
  }

  #folderOf(id: string, file: string): string | null {
    const known = this.#folders.get(id);
    if (known !== undefined) return known;
    const folder = readFolder(file);
    if (folder !== null) this.#folders.set(id, folder);
    return folder;
  }

  #missing(sessionId: string): never {
    throw new TuttiError("session_not_found", `Claude Code has no session "${sessionId}". Check its id.`);
  }
}

// A session controller as document 004 has it: something of somebody else's that starts sessions, takes messages and shows
// transcripts, and never speaks first. What it answers comes in more than one shape; here it becomes one.
import { TuttiError } from "../schema/error.ts";
import type { World } from "../world.ts";

export interface SessionController {
  /** Starts a session whose first message this is; answers with its id, as such or as `sessionId` or `id` of an object. */
  startNewSessionWithMessage(cwd: string, message: string, options: { title: string }): Promise<unknown>;
  /** The messages, in a list or as `messages` of an object. */
  getTranscript(sessionId: string): Promise<unknown>;
  sendMessage(sessionId: string, message: string): Promise<unknown>;
  archiveSession(sessionId: string): Promise<unknown>;
  getSession(sessionId: string): Promise<unknown>;
  getAllSessions(): Promise<unknown>;
  /** Asks the session to stop its turn. Without it nothing can be interrupted. */
  interruptSession?(sessionId: string): Promise<unknown>;
}

const METHODS = [
  "startNewSessionWithMessage",
  "getTranscript",
  "sendMessage",
  "archiveSession",
  "getSession",
  "getAllSessions",
] as const satisfies (keyof SessionController)[];

export function isSessionController(value: unknown): value is SessionController {
  return isObject(value) && METHODS.every((name) => typeof value[name] === "function");
}

const NO_ANSWER_MS = 30_000;

/** The same controller, but one that is silent for too long has failed: nobody waits for it for ever. */
export function impatiently(controller: SessionController, world: World): SessionController {
  const limited = async (call: Promise<unknown>, name: string): Promise<unknown> => {
    const answered = new AbortController();
    const late = world.sleep(NO_ANSWER_MS, answered.signal).then(() => {
      if (answered.signal.aborted) return null;
      throw new TuttiError("internal", `the session controller did not answer ${name} within ${NO_ANSWER_MS} ms`);
    });
    return Promise.race([call, late]).finally(() => answered.abort());
  };
  return {
    startNewSessionWithMessage: (cwd, message, options) =>
      limited(controller.startNewSessionWithMessage(cwd, message, options), "startNewSessionWithMessage"),
    getTranscript: (id) => limited(controller.getTranscript(id), "getTranscript"),
    sendMessage: (id, message) => limited(controller.sendMessage(id, message), "sendMessage"),
    archiveSession: (id) => limited(controller.archiveSession(id), "archiveSession"),
    getSession: (id) => limited(controller.getSession(id), "getSession"),
    getAllSessions: () => limited(controller.getAllSessions(), "getAllSessions"),
    ...(controller.interruptSession
      ? { interruptSession: (id) => limited(controller.interruptSession!(id), "interruptSession") }
      : {}),
  };
}

export interface ControllerMessage {
  /** The controller's own name for it, if it has one. */
  key: string | null;
  role: string;
  text: string;
  tools: { name: string; input: unknown }[];
}

export function readMessages(transcript: unknown): ControllerMessage[] {
  const list = Array.isArray(transcript) ? transcript : isObject(transcript) ? transcript["messages"] : null;
  if (!Array.isArray(list)) throw new TuttiError("internal", "the controller's transcript holds no list of messages");
  return list.filter(isObject).map(readMessage);
}

function readMessage(message: Record<string, unknown>): ControllerMessage {
  const inner = isObject(message["message"]) ? message["message"] : message;
  const key = message["id"] ?? message["uuid"] ?? message["messageId"];
  const role = inner["role"] ?? message["role"] ?? message["type"];
  const content = inner["content"] ?? inner["text"] ?? "";
  const parts = (Array.isArray(content) ? content : [content]).map(asPart);
  return {
    key: typeof key === "string" || typeof key === "number" ? String(key) : null,
    role: typeof role === "string" ? role : "",
    text: parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n"),
    tools: parts.flatMap(({ type, name, input }) =>
      type === "tool_use" && typeof name === "string" ? [{ name, input }] : [],
    ),
  };
}

const asPart = (part: unknown): Record<string, unknown> =>
  isObject(part) ? part : typeof part === "string" ? { type: "text", text: part } : {};

/** The id of a session, out of whatever a controller answers when it has started one. */
export function readSessionId(answer: unknown): string {
  const found = isObject(answer) ? (answer["sessionId"] ?? answer["id"] ?? answer["session"]) : answer;
  if (isObject(found)) return readSessionId(found);
  if (typeof found === "string" && found !== "") return found;
  throw new TuttiError("internal", "the controller started a session and did not say which");
}

export interface ListedSession {
  id: string;
  title: string | null;
  cwd: string | null;
}

export function readSessionList(answer: unknown): ListedSession[] {
  const list = Array.isArray(answer) ? answer : isObject(answer) ? answer["sessions"] : null;
  if (!Array.isArray(list)) throw new TuttiError("internal", "the controller's answer holds no list of sessions");
  return list.filter(isObject).map((session) => ({
    id: readSessionId(session),
    title: textOrNull(session["title"]),
    cwd: textOrNull(session["cwd"]),
  }));
}

const STARTING = new Set(["starting", "initializing", "initialising", "loading", "pending"]);
const BUSY = new Set(["running", "busy", "working", "processing", "streaming"]);

/** Whether a session can take a message, as far as the controller says. */
export function readReadiness(session: unknown): "ready" | "starting" | "unknown" {
  if (!isObject(session)) return "unknown";
  const said = session["isReady"] ?? session["ready"];
  if (typeof said === "boolean") return said ? "ready" : "starting";
  const { status } = session;
  if (typeof status !== "string") return "unknown";
  return STARTING.has(status) ? "starting" : "ready";
}

/** Whether the controller says that the session is in the middle of something. */
export function readBusy(session: unknown): boolean {
  if (!isObject(session)) return false;
  const { isRunning, busy, status } = session;
  return isRunning === true || busy === true || (typeof status === "string" && BUSY.has(status));
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

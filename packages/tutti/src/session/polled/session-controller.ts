// A `SessionController` (document 004) is an external object that starts sessions, accepts messages and returns
// transcripts. Controllers answer in different shapes; the `read…` functions normalise them.
import { textOf, textOrNull } from "../json-fields.ts";
import { isRecord } from "../../protocol/json/json-value.ts";
import { TuttiError } from "../../schema/error.ts";
import type { World } from "../../world.ts";

export interface SessionController {
  /** Returns the session's id, or an object with it as `sessionId`, `id` or `session`. */
  startNewSessionWithMessage(cwd: string, message: string, options: { title: string }): Promise<unknown>;
  /** Returns a list of messages, or an object with it as `messages`. */
  getTranscript(sessionId: string): Promise<unknown>;
  sendMessage(sessionId: string, message: string): Promise<unknown>;
  archiveSession(sessionId: string): Promise<unknown>;
  getSession(sessionId: string): Promise<unknown>;
  getAllSessions(): Promise<unknown>;
  /** Without `interruptSession` no turn can be interrupted. */
  interruptSession?(sessionId: string): Promise<unknown>;
  /** Lists the sessions that a session has started, as `{ id, parentSessionId, taskToolId }`, and theirs. */
  getSubSessions?(sessionId: string): Promise<unknown>;
}

/** Every controller has these methods. */
const METHODS = [
  "startNewSessionWithMessage",
  "getTranscript",
  "sendMessage",
  "archiveSession",
  "getSession",
  "getAllSessions",
] as const satisfies (keyof SessionController)[];

export function isSessionController(value: unknown): value is SessionController {
  return isRecord(value) && METHODS.every((name) => typeof value[name] === "function");
}

const NO_ANSWER_MS = 30_000;

/** Wraps the controller so that every call times out after NO_ANSWER_MS. */
export function withTimeout(controller: SessionController, world: World): SessionController {
  const limited = async (call: Promise<unknown>, name: string): Promise<unknown> => {
    const answered = new AbortController();
    const late = world.sleep(NO_ANSWER_MS, answered.signal).then(() => {
      if (answered.signal.aborted) return null;
      const problem = `The session controller did not answer "${name}" within ${NO_ANSWER_MS} ms.`;
      throw new TuttiError("internal", `${problem} Check that it is running.`);
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
    ...(controller.getSubSessions
      ? { getSubSessions: (id) => limited(controller.getSubSessions!(id), "getSubSessions") }
      : {}),
  };
}

/** In characters. `MAX_ERROR` limits the reason why a tool call failed. */
const MAX_ERROR = 2000;

export interface ControllerMessage {
  /** The controller's id of the message, if it has one. */
  key: string | null;
  role: string;
  text: string;
  tools: { name: string; input: unknown; id?: string }[];
  failures: { id: string; error: string }[];
  /** The beginnings of all results of calls. */
  results: { id: string; text: string }[];
}

export function readMessages(transcript: unknown): ControllerMessage[] {
  const list = Array.isArray(transcript) ? transcript : isRecord(transcript) ? transcript["messages"] : null;
  if (!Array.isArray(list)) throw unusable("list of messages", 'the list, or an object with it as "messages"');
  return list.filter(isRecord).map(readMessage);
}

function readMessage(message: Record<string, unknown>): ControllerMessage {
  const inner = isRecord(message["message"]) ? message["message"] : message;
  const key = message["id"] ?? message["uuid"] ?? message["messageId"];
  const role = inner["role"] ?? message["role"] ?? message["type"];
  const content = inner["content"] ?? inner["text"] ?? "";
  const parts = (Array.isArray(content) ? content : [content]).map(asPart);
  return {
    key: typeof key === "string" || typeof key === "number" ? String(key) : null,
    role: textOf(role),
    text: parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n"),
    tools: parts.flatMap(({ type, name, input, id }) =>
      type === "tool_use" && typeof name === "string"
        ? [{ name, input, ...(typeof id === "string" ? { id } : {}) }]
        : [],
    ),
    failures: parts.flatMap(({ type, tool_use_id: id, is_error: isError, content: said }) =>
      type === "tool_result" && isError === true && typeof id === "string"
        ? [{ id, error: textOf(said).slice(0, MAX_ERROR) }]
        : [],
    ),
    results: parts.flatMap(({ type, tool_use_id: id, content: said }) =>
      type === "tool_result" && typeof id === "string" ? [{ id, text: resultText(said) }] : [],
    ),
  };
}

function resultText(content: unknown): string {
  const texts = Array.isArray(content) ? content.map((part) => textOf(asPart(part)["text"])) : [textOf(content)];
  return texts.join("\n").slice(0, MAX_ERROR);
}

const asPart = (part: unknown): Record<string, unknown> =>
  isRecord(part) ? part : typeof part === "string" ? { type: "text", text: part } : {};

export function readSessionId(answer: unknown): string {
  const found = isRecord(answer) ? (answer["sessionId"] ?? answer["id"] ?? answer["session"]) : answer;
  if (isRecord(found)) return readSessionId(found);
  if (typeof found === "string" && found !== "") return found;
  throw unusable("session id", 'the id, or an object with it as "sessionId" or "id"');
}

export interface ControllerSession {
  id: string;
  title: string | null;
  cwd: string | null;
}

export function readSessionList(answer: unknown): ControllerSession[] {
  const list = Array.isArray(answer) ? answer : isRecord(answer) ? answer["sessions"] : null;
  if (!Array.isArray(list)) throw unusable("list of sessions", 'the list, or an object with it as "sessions"');
  return list.filter(isRecord).map((session) => ({
    id: readSessionId(session),
    title: textOrNull(session["title"]),
    cwd: textOrNull(session["cwd"]),
  }));
}

const STARTING = new Set(["starting", "initializing", "initialising", "loading", "pending"]);
const BUSY = new Set(["running", "busy", "working", "processing", "streaming"]);

/** `unknown` if the controller does not report readiness. */
export function readReadiness(session: unknown): "ready" | "starting" | "unknown" {
  if (!isRecord(session)) return "unknown";
  const isReady = session["isReady"] ?? session["ready"];
  if (typeof isReady === "boolean") return isReady ? "ready" : "starting";
  const { status } = session;
  if (typeof status !== "string") return "unknown";
  return STARTING.has(status) ? "starting" : "ready";
}

/** False if the controller does not report activity. */
export function readBusy(session: unknown): boolean {
  if (!isRecord(session)) return false;
  const { isRunning, busy, status } = session;
  return isRunning === true || busy === true || (typeof status === "string" && BUSY.has(status));
}

/** In `readActivity`, members that the controller does not report are false. */
export function readActivity(session: unknown): Record<"isBusy" | "isOpen" | "isGone" | "isReturned", boolean> {
  const is = (name: string): boolean => isRecord(session) && session[name] === true;
  return { isBusy: readBusy(session), isOpen: is("isOpen"), isGone: is("isGone"), isReturned: is("isReturned") };
}

/** Skips entries without an id or a parent. */
export function readSubSessions(answer: unknown): { id: string; parentSessionId: string; taskToolId: string | null }[] {
  return (Array.isArray(answer) ? answer.filter(isRecord) : []).flatMap(({ id, parentSessionId, taskToolId }) =>
    typeof id === "string" && typeof parentSessionId === "string"
      ? [{ id, parentSessionId, taskToolId: textOrNull(taskToolId) }]
      : [],
  );
}

const unusable = (missing: string, expected: string): TuttiError =>
  new TuttiError("internal", `The answer of the session controller contains no ${missing}. Return ${expected}.`);

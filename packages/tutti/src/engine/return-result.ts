// What a sub-session said last, on its way to the session that started it. If it has failed, that is what is told.
import type { SessionReach } from "./session-reach.ts";
import type { SubSessionLog } from "./sub-session-log.ts";
import type { SubSessionSettings } from "./sub-session-monitor.ts";
import type { SubSession } from "../run/sub-sessions.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";

export interface ReturnedResult {
  success?: boolean;
  alreadyReturned?: boolean;
  orphaned?: boolean;
  /** What the sub-session said last; where it failed, why. */
  message: string;
  /** What the parent was told. */
  formatted?: string;
}

export interface ReturnOptions {
  log: SubSessionLog;
  reach: SessionReach;
  settings: Pick<SubSessionSettings, "resultPrefix" | "resultSuffix" | "maxMessageLength">;
  /** Whether to come again if the parent is in the middle of something. */
  patient: boolean;
  isThere: (sessionId: string) => Promise<boolean>;
}

export async function returnResult(options: ReturnOptions, relation: SubSession): Promise<ReturnedResult> {
  const { log, isThere } = options;
  const { childSessionId, status, lastAssistantMessage } = relation;
  if (status === "returned") return { alreadyReturned: true, message: lastAssistantMessage ?? "" };
  if (status === "orphaned") return { orphaned: true, message: lastAssistantMessage ?? "" };
  const { message, failure, isUnreachable } = await lastWords(options, childSessionId);
  const said = message === null ? {} : { lastAssistantMessage: message };
  if (!(await isThere(relation.parentSessionId))) {
    await log.order({ type: "setStatus", childSessionId, status: "orphaned", updates: said });
    return { orphaned: true, message: message ?? "" };
  }
  if (relation.reported || isUnreachable) {
    const why = relation.reported ? "its agent tells when it is done" : "nobody here can look at that session";
    throw new TuttiError("wrong_state", `sub-session ${childSessionId} has nothing to return: ${why}`);
  }
  if (failure !== null) return fail(options, relation, failure, message);
  return handOver(options, relation, message!);
}

interface LastWords {
  message: string | null;
  failure: string | null;
  isUnreachable: boolean;
}

async function lastWords({ reach }: ReturnOptions, childSessionId: string): Promise<LastWords> {
  try {
    const messages = await reach.messages(childSessionId);
    if (messages === null) return { message: null, failure: null, isUnreachable: true };
    const message = messages.findLast(({ role, text }) => role === "assistant" && text !== "")?.text ?? null;
    const failure = reach.failure(childSessionId) ?? (message === null ? "it has said nothing" : null);
    return { message, failure, isUnreachable: false };
  } catch (error) {
    return { message: null, failure: asTuttiError(error).message, isUnreachable: false };
  }
}

async function fail(
  { log, reach, settings }: ReturnOptions,
  { childSessionId, parentSessionId }: SubSession,
  error: string,
  message: string | null,
): Promise<ReturnedResult> {
  const said = message === null ? {} : { lastAssistantMessage: message };
  const text = `The sub-session ${childSessionId} failed: ${error}${message === null ? "" : `\n\nIt said last:\n\n${message}`}`;
  const formatted = format(settings, text);
  // Written first: it is better that the parent is not told than that it is told at every look.
  await log.order({ type: "setStatus", childSessionId, status: "error", updates: { error, ...said } });
  const isTold = await reach.send(parentSessionId, formatted).then(
    () => true,
    () => false,
  );
  return { success: false, message: error, ...(isTold ? { formatted } : {}) };
}

async function handOver(
  { log, reach, settings, patient }: ReturnOptions,
  { childSessionId, parentSessionId, status }: SubSession,
  message: string,
): Promise<ReturnedResult> {
  const formatted = format(settings, message);
  const updates = { lastAssistantMessage: message };
  try {
    if (patient && (await reach.isBusy(parentSessionId))) return { success: false, message };
    // Somebody may have sent it and not lived to write that down.
    const isSent = status === "completed" && (await reach.hasHeard(parentSessionId, formatted));
    if (status !== "completed") await log.order({ type: "setStatus", childSessionId, status: "completed", updates });
    if (!isSent) await reach.send(parentSessionId, formatted);
  } catch (error) {
    const why = asTuttiError(error).message;
    await log.order({ type: "setStatus", childSessionId, status: "error", updates: { ...updates, error: why } });
    return { success: false, message: why };
  }
  await log.order({ type: "setStatus", childSessionId, status: "returned", updates });
  return { success: true, message, formatted };
}

const CUT = "\n\n[cut here: the message is longer]";

/** Prefix, message, suffix; a message that is too long is cut, and says so. The log has all of it. */
export function format(
  { resultPrefix, resultSuffix, maxMessageLength }: ReturnOptions["settings"],
  message: string,
): string {
  return `${resultPrefix}${cut(message, maxMessageLength)}${resultSuffix}`;
}

function cut(message: string, length: number): string {
  if (message.length <= length) return message;
  const mark = CUT.length < length ? CUT : "";
  const text = message.slice(0, length - mark.length);
  // Half of a character is none.
  return `${text.isWellFormed() ? text : text.slice(0, -1)}${mark}`;
}

// `returnResult` sends the last message of a sub-session, or its failure, to the session that started it.
import type { SessionAccess } from "../sessions/session-access.ts";
import type { SubSessionLog } from "./sub-session-log.ts";
import type { SubSessionSettings } from "./sub-session-monitor.ts";
import type { SubSession } from "../../run/fold/sub-sessions.ts";
import { asTuttiError, TuttiError } from "../../schema/error.ts";

export interface ReturnedResult {
  success?: boolean;
  alreadyReturned?: boolean;
  orphaned?: boolean;
  /** The last message of the sub-session, or the failure if `success` is false. */
  message: string;
  formatted?: string;
}

interface ReturnOptions {
  log: SubSessionLog;
  reach: SessionAccess;
  settings: Pick<SubSessionSettings, "resultPrefix" | "resultSuffix" | "maxMessageLength">;
  /** Whether to wait for a later poll if the parent is busy. */
  patient: boolean;
  isThere: (sessionId: string) => Promise<boolean>;
}

export async function returnResult(options: ReturnOptions, relation: SubSession): Promise<ReturnedResult> {
  const { log, isThere } = options;
  const { childSessionId, status, lastAssistantMessage } = relation;
  if (status === "returned") return { alreadyReturned: true, message: lastAssistantMessage ?? "" };
  if (status === "orphaned") return { orphaned: true, message: lastAssistantMessage ?? "" };
  const { message, failure, isUnreachable } = await lastWords(options, childSessionId);
  const lastMessage = message === null ? {} : { lastAssistantMessage: message };
  if (!(await isThere(relation.parentSessionId))) {
    await log.order({ type: "setStatus", childSessionId, status: "orphaned", updates: lastMessage });
    return { orphaned: true, message: message ?? "" };
  }
  if (relation.reported || isUnreachable) {
    const why = relation.reported
      ? "Its agent reports its end. Wait for that report."
      : "Its transcript cannot be read here. Unregister it if it has ended.";
    throw new TuttiError("wrong_state", `Sub-session "${childSessionId}" has nothing to return. ${why}`);
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
    const failure = (await reach.failure(childSessionId)) ?? (message === null ? "it has sent no message" : null);
    return { message, failure, isUnreachable: false };
  } catch (error) {
    return { message: null, failure: asTuttiError(error).message, isUnreachable: false };
  }
}

async function fail(
  { log, reach, settings, patient }: ReturnOptions,
  { childSessionId, parentSessionId }: SubSession,
  error: string,
  message: string | null,
): Promise<ReturnedResult> {
  const lastMessage = message === null ? {} : { lastAssistantMessage: message };
  const text = `The sub-session ${childSessionId} failed: ${error}${message === null ? "" : `\n\nIts last message:\n\n${message}`}`;
  const formatted = format(settings, text);
  if (patient && !(await reach.isFree(parentSessionId))) return { success: false, message: error };
  const isSent = await sendOnce(reach, parentSessionId, formatted, childSessionId).then(
    () => true,
    () => false,
  );
  await log.order({ type: "setStatus", childSessionId, status: "error", updates: { error, ...lastMessage } });
  return { success: false, message: error, ...(isSent ? { formatted } : {}) };
}

/** An earlier engine may have stopped between `send` and the change of the status. */
async function sendOnce(reach: SessionAccess, parent: string, text: string, child: string): Promise<void> {
  if (!(await reach.wasSent(parent, text))) await reach.send(parent, text, child);
}

async function handOver(
  { log, reach, settings, patient }: ReturnOptions,
  { childSessionId, parentSessionId, status }: SubSession,
  message: string,
): Promise<ReturnedResult> {
  const formatted = format(settings, message);
  const updates = { lastAssistantMessage: message };
  try {
    if (patient && !(await reach.isFree(parentSessionId))) return { success: false, message };
    // Nothing was sent before the status `completed`. An equal text of an earlier sub-session is another result.
    if (status === "completed") await sendOnce(reach, parentSessionId, formatted, childSessionId);
    else {
      await log.order({ type: "setStatus", childSessionId, status: "completed", updates });
      await reach.send(parentSessionId, formatted, childSessionId);
    }
  } catch (error) {
    const why = asTuttiError(error).message;
    await log.order({ type: "setStatus", childSessionId, status: "error", updates: { ...updates, error: why } });
    return { success: false, message: why };
  }
  await log.order({ type: "setStatus", childSessionId, status: "returned", updates });
  return { success: true, message, formatted };
}

const CUT = "\n\n[cut here: the message is longer]";

/** Truncates `message` to `maxMessageLength`. The log has the full message. */
function format({ resultPrefix, resultSuffix, maxMessageLength }: ReturnOptions["settings"], message: string): string {
  return `${resultPrefix}${cut(message, maxMessageLength)}${resultSuffix}`;
}

function cut(message: string, length: number): string {
  if (message.length <= length) return message;
  const mark = CUT.length < length ? CUT : "";
  const text = message.slice(0, length - mark.length);
  // Do not end with half of a surrogate pair.
  return `${text.isWellFormed() ? text : text.slice(0, -1)}${mark}`;
}

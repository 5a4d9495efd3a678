// `readHostSignal` validates a signal of a session on a host. A host is another machine, so it may report anything.
import { z } from "zod";
import type { CommittedSignal } from "./ahead.ts";
import { LOG_BOUNDS, parseBoundedJson } from "../schema/bounded-json.ts";
import { Ending, FailureCause } from "../schema/ending.ts";
import { ContextSize, Usage } from "../schema/outcome.ts";
import { SUBAGENT_ENDS } from "../schema/status.ts";

const text = z.string();
const turn = z.number().int();

const WorkCommitForm = z.object({ start: text, message: text, scope: z.array(text) });

/** `caughtUp` and `suspended` are for the engine of the host only. */
const HostSignal = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("ready") }),
  z.looseObject({ type: z.literal("sent"), turn }),
  z.looseObject({ type: z.literal("unstartable"), error: text }),
  z.looseObject({
    type: z.literal("agent"),
    agent: text,
    version: text,
    conversation: text.nullable(),
    capabilities: z.looseObject({}).nullable(),
  }),
  z.looseObject({ type: z.literal("text"), text, complete: z.boolean() }),
  z.looseObject({ type: z.literal("partial"), text }),
  z.looseObject({ type: z.literal("steered"), id: text, text }),
  z.looseObject({ type: z.literal("tool"), name: text, id: text.optional(), parent: text.optional() }),
  z.looseObject({ type: z.literal("toolFailed"), id: text, error: text }),
  z.looseObject({ type: z.literal("toolResult"), id: text, text }),
  z.looseObject({
    type: z.literal("subagent"),
    id: text,
    phase: z.enum(["started", "done"]),
    text: text.nullable(),
    toolId: text.optional(),
    parent: text.optional(),
    status: z.enum(SUBAGENT_ENDS).optional(),
  }),
  z.looseObject({ type: z.literal("usage"), usage: Usage, context: ContextSize.optional() }),
  z.looseObject({ type: z.literal("askCancelled"), askId: text }),
  z.looseObject({ type: z.literal("other") }),
  z.looseObject({
    type: z.literal("trouble"),
    cause: FailureCause,
    detail: text,
    retryAfterMs: z.number().nonnegative().nullable(),
  }),
  z.looseObject({
    type: z.literal("ask"),
    askId: text,
    question: text,
    options: z.array(text).optional(),
    permission: z.looseObject({ tool: text, subject: text }).optional(),
    blocker: z.looseObject({}).optional(),
  }),
  z.looseObject({ type: z.literal("report"), phase: text, data: z.looseObject({}) }),
  z.looseObject({ type: z.literal("interrupted"), turn }),
  z.looseObject({ type: z.literal("stalled"), detail: text }),
  z.looseObject({ type: z.literal("forged"), name: text }),
  z.looseObject({ type: z.literal("tooMuchOutput"), limit: z.number() }),
  z.looseObject({
    type: z.literal("turnOver"),
    turn,
    ending: Ending,
    cutOff: z.literal(true).optional(),
    committed: z.looseObject({ commit: WorkCommitForm }).optional(),
  }),
  z.looseObject({ type: z.literal("revived") }),
  z.looseObject({ type: z.literal("gone"), reason: text, deliberate: z.boolean() }),
]);

const UNREADABLE: CommittedSignal = {
  type: "gone",
  reason: "its host reported something that cannot be read. Install the same version of Tutti on the host",
  deliberate: false,
};

/** A signal that is not valid ends its session. */
export function readHostSignal(body: string): CommittedSignal {
  try {
    return HostSignal.parse(parseBoundedJson(body, LOG_BOUNDS)) as CommittedSignal;
  } catch {
    return UNREADABLE;
  }
}

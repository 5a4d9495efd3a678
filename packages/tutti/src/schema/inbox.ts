// An `InboxItem` waits for the user and is answered once. `hash` covers everything that the user sees, so an answer to
// another version of the question is rejected.
import { z } from "zod";
import { ORCHESTRATOR_PHASE } from "./status.ts";

export const INBOX_KINDS = [
  "plan",
  "question",
  "permission",
  "data",
  "decision",
  "budget",
  "limit",
  "failure",
  "blocker",
  "gate",
  "validation",
  "host",
] as const;

export const InboxItem = z.object({
  id: z.string(),
  /**
   * `plan`: confirm a plan. `question`, `permission`: an agent asks, or wants to use a tool. `data`: supply the data of a
   * phase. `decision`: merging needs a decision. `budget`: a budget is reached. `limit`: a provider refuses requests
   * because of a usage limit, a login or a payment. `failure`: a task, or without `taskId` a phase of the main session,
   * did not complete. `blocker`: a role of a team cannot continue without an answer. `gate`: a deployment was refused.
   * `validation`: the main session of a team gave no verdict on the work of a task. `host`: no worker host offers the labels
   * of a task.
   */
  kind: z.enum(INBOX_KINDS),
  run: z.string(),
  taskId: z.string().nullable(),
  /** The session that asks. */
  sessionId: z.string().nullable(),
  /** The session's own id for its question. */
  askId: z.string().nullable(),
  question: z.string(),
  options: z.array(z.string()).optional(),
  /** Facts that the user needs in order to answer `question`. */
  evidence: z.unknown().optional(),
  /** The harm that a wrong answer can do. */
  risk: z.enum(["low", "medium", "high"]),
  hash: z.string(),
  /** Set for the kind `data`. */
  phase: z.enum(ORCHESTRATOR_PHASE).optional(),
  /** For the kind `decision`: the position among those asked for together. */
  index: z.number().optional(),
  createdAt: z.number(),
  /** When `default` becomes the answer. */
  expiresAt: z.number().optional(),
  /** The answer if the user gives none before `expiresAt`. */
  default: z.string().optional(),
});
export type InboxItem = z.infer<typeof InboxItem>;

/** A `PersonAnswer` has one of these forms. The kind of the item determines which of them it accepts. */
export const PersonAnswer = z.union([
  z.strictObject({
    text: z.string().refine((text) => text.trim() !== "", "must not be empty"),
    hash: z.string().optional(),
  }),
  z.strictObject({ option: z.number().int().min(0), hash: z.string().optional() }),
  z.strictObject({ approve: z.boolean(), text: z.string().optional(), hash: z.string().optional() }),
  z.strictObject({ data: z.record(z.string(), z.unknown()), hash: z.string().optional() }),
]);
export type PersonAnswer = z.infer<typeof PersonAnswer>;

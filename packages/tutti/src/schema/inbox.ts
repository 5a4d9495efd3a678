// Something that waits for a person: one durable record, answered once. The hash covers what the person is shown, so an
// answer given to another version of the question is refused.
import { z } from "zod";
import { PHASES } from "./status.ts";

export const INBOX_KINDS = [
  "plan",
  "question",
  "permission",
  "data",
  "decision",
  "budget",
  "limit",
  "failure",
] as const;

export const InboxItem = z.object({
  id: z.string(),
  /**
   * A plan to confirm, a question of an agent, a tool that it wants to use, data of a phase that no session could give,
   * a decision that merging needs, a budget that is used up, a provider's limit that is reached, or a task that failed.
   */
  kind: z.enum(INBOX_KINDS),
  run: z.string(),
  taskId: z.string().nullable(),
  /** The session that asks, and the name it gave its question. */
  sessionId: z.string().nullable(),
  askId: z.string().nullable(),
  question: z.string(),
  options: z.array(z.string()).optional(),
  /** What the person needs to judge it. */
  evidence: z.unknown().optional(),
  /** How much harm a wrong answer can do. */
  risk: z.enum(["low", "medium", "high"]),
  hash: z.string(),
  /** For data: the phase it belongs to. For a decision: its place among the decisions of one asking. */
  phase: z.enum(PHASES as [(typeof PHASES)[number]]).optional(),
  index: z.number().optional(),
  createdAt: z.number(),
  /** After this moment the default answer is taken. */
  expiresAt: z.number().optional(),
  /** What happens if nobody answers: one of the options. */
  default: z.string().optional(),
});
export type InboxItem = z.infer<typeof InboxItem>;

/** What a person says to an item. Which of these an item takes depends on its kind. */
export const PersonAnswer = z.union([
  z.strictObject({
    text: z.string().refine((text) => text.trim() !== "", "an answer in words"),
    hash: z.string().optional(),
  }),
  z.strictObject({ option: z.number().int().min(0), hash: z.string().optional() }),
  z.strictObject({ approve: z.boolean(), text: z.string().optional(), hash: z.string().optional() }),
  z.strictObject({ data: z.record(z.string(), z.unknown()), hash: z.string().optional() }),
]);
export type PersonAnswer = z.infer<typeof PersonAnswer>;

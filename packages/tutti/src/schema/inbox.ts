// Something that waits for a person.
import { z } from "zod";
import { PHASES } from "./status.ts";

export const InboxItem = z.object({
  id: z.string(),
  /** A plan to confirm, a question of an agent, or data of a phase that no session could give. */
  kind: z.enum(["plan", "question", "data"]),
  run: z.string(),
  taskId: z.string().nullable(),
  /** The session that asks, and the name it gave its question. */
  sessionId: z.string().nullable(),
  askId: z.string().nullable(),
  question: z.string(),
  options: z.array(z.string()).optional(),
  /** For data: the phase it belongs to. */
  phase: z.enum(PHASES as [(typeof PHASES)[number]]).optional(),
  createdAt: z.number(),
});
export type InboxItem = z.infer<typeof InboxItem>;

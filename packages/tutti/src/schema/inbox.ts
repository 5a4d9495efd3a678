// Something that waits for a person.
import { z } from "zod";

export const InboxItem = z.object({
  id: z.string(),
  kind: z.enum(["plan", "question"]),
  run: z.string(),
  taskId: z.string().nullable(),
  /** The session that asks, and the name it gave its question. */
  sessionId: z.string().nullable(),
  askId: z.string().nullable(),
  question: z.string(),
  options: z.array(z.string()).optional(),
  createdAt: z.number(),
});
export type InboxItem = z.infer<typeof InboxItem>;

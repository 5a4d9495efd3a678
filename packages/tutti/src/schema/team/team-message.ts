import { z } from "zod";

export const MESSAGE_STATES = ["queued", "delivered", "acknowledged", "acted", "rejected", "expired"] as const;

export const QueuedMessage = z.object({
  id: z.string(),
  /** `message_type` of document 003. */
  type: z.string(),
  protocol: z.string(),
  from: z.string(),
  to: z.string(),
  taskId: z.string(),
  /** The session that sends or receives the message. */
  sessionId: z.string(),
  body: z.record(z.string(), z.unknown()),
});
export type QueuedMessage = z.infer<typeof QueuedMessage>;

export interface TeamMessage extends QueuedMessage {
  state: (typeof MESSAGE_STATES)[number];
  queuedAt: number;
  deliveredAt: number | null;
  acknowledgedAt: number | null;
  actedAt: number | null;
  /** How often a turn contained the message as a new one. */
  deliveries: number;
  /** Why a rejected message has no effect. */
  reasons?: string[];
}

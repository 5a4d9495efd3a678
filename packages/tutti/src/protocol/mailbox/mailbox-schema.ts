// The messages of document 001, each as Tutti writes it and as it accepts it.
import { z } from "zod";
import { Timestamp } from "../timestamp.ts";

export const PLATFORMS = ["web", "android", "ios", "custom"] as const;
const BUILD_STATUSES = ["success", "failed", "not_applicable", "not_verified"] as const;

const BuildResult = z.looseObject({
  status: z.enum(BUILD_STATUSES),
  command: z.string(),
  errors: z.number(),
  output: z.string().optional(),
});

export const WrittenMailboxAssignment = z.looseObject({
  type: z.literal("task_assignment"),
  taskId: z.string().min(1),
  platform: z.enum(PLATFORMS),
  title: z.string(),
  instructions: z.string(),
  filesToCreate: z.array(z.string()),
  architecture: z.string(),
  apiEndpoints: z.array(z.string()).optional(),
  timestamp: Timestamp,
});

export const WrittenMailboxReport = z.looseObject({
  type: z.literal("completion_report"),
  taskId: z.string().min(1),
  platform: z.enum(PLATFORMS),
  status: z.literal("awaiting_review"),
  summary: z.string(),
  filesCreated: z.array(z.string()),
  filesModified: z.array(z.string()),
  buildResult: BuildResult,
  timestamp: Timestamp,
});

/** Only the type and the task are required. The rest can be requested or follows from the task. */
export const ReadMailboxAssignment = WrittenMailboxAssignment.partial().extend({
  type: z.literal("task_assignment"),
  taskId: z.string().min(1),
  platform: z.string().optional(),
  timestamp: z.string().optional(),
});

export const ReadMailboxReport = WrittenMailboxReport.partial().extend({
  type: z.literal("completion_report"),
  taskId: z.string().min(1),
  platform: z.string().optional(),
  status: z.string().optional(),
  buildResult: BuildResult.partial().extend({ status: z.string().optional() }).optional(),
  timestamp: z.string().optional(),
});

/** The program of document 001 has more types than the document, for example for planning documents. */
export const OtherMailboxMessage = z.looseObject({
  type: z.string().min(1),
  taskId: z.string().optional(),
  timestamp: z.string().optional(),
});

export type WrittenMailboxMessage = z.infer<typeof WrittenMailboxAssignment | typeof WrittenMailboxReport>;

type Stamped<M> = M & { timestamp: string };
type MailboxAssignment = Stamped<z.infer<typeof ReadMailboxAssignment>>;
export type MailboxReport = Stamped<z.infer<typeof ReadMailboxReport>>;
export type OtherMailboxMessage = Stamped<z.infer<typeof OtherMailboxMessage>>;
/** `isMailboxReport` recognizes a report. */
export type MailboxMessage = MailboxAssignment | MailboxReport | OtherMailboxMessage;

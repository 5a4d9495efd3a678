// The files of the mailbox (document 001 and the program it describes): messages, queue, agent status and
// configuration. Other programs share them, so `looseObject` preserves unknown members. An empty file belongs to a
// project in which nothing has happened yet.
import { z } from "zod";
import { isRecord } from "../json/json-value.ts";
import { problem, type ProfileProblem, type ProfileReading, type ProfileOptions } from "../response/profile.ts";
import { readWithProfile, type SchemaPair } from "../response/read-with-profile.ts";
import { Timestamp } from "../timestamp.ts";
import { PLATFORMS } from "./mailbox-schema.ts";

const TASK_STATES = ["pending", "in_progress", "awaiting_review", "completed", "rejected"] as const;
const AGENT_STATES = [
  "idle",
  "planning",
  "designing",
  "analyzing",
  "assigning",
  "implementing",
  "reviewing",
  "verifying",
] as const;

export const MessageFile = z.looseObject({
  messages: z.array(z.unknown()),
  lastRead: Timestamp.nullable(),
});
export const ReadMessageFile = MessageFile.extend({ lastRead: z.string().nullable() });

export const QueueTask = z.looseObject({
  id: z.string().min(1),
  type: z.string().optional(),
  priority: z.enum(["high", "medium", "low"]).optional(),
  title: z.string(),
  description: z.string(),
  acceptanceCriteria: z.array(z.string()).optional(),
  status: z.enum(TASK_STATES),
  createdAt: Timestamp,
  updatedAt: Timestamp.optional(),
  rejectionReason: z.string().optional(),
});
const ReadQueueTask = QueueTask.partial().extend({
  id: z.string().min(1),
  type: z.string().optional(),
  priority: z.union([z.string(), z.number()]).optional(),
  status: z.string().optional(),
  createdAt: z.string().optional(),
  updatedAt: z.string().nullish(),
  rejectionReason: z.string().nullish(),
});

export const QueueFile = z.looseObject({
  version: z.string(),
  tasks: z.array(QueueTask),
  /** Finished tasks. Some programs store whole tasks in `completed`, others only ids. */
  completed: z.array(z.union([QueueTask, z.string()])),
  /** The id of the current task, or the task itself. */
  current: z.union([z.string(), QueueTask]).nullable(),
  lastUpdated: Timestamp.nullable(),
});
export const ReadQueueFile = QueueFile.extend({
  tasks: z.array(ReadQueueTask),
  completed: z.array(z.union([ReadQueueTask, z.string()])),
  current: z.union([z.string(), ReadQueueTask]).nullable(),
  lastUpdated: z.string().nullable(),
});

const AgentStatus = z.looseObject({
  status: z.enum(AGENT_STATES),
  currentTask: z.string().nullish(),
  lastActivity: Timestamp.nullable(),
});
const ReadAgentStatus = AgentStatus.partial().extend({
  status: z.string().optional(),
  lastActivity: z.string().nullish(),
});

export const StatusFile = z.looseObject({
  orchestrator: z.looseObject({ running: z.boolean(), pid: z.number().nullable(), startedAt: Timestamp.nullable() }),
  teamLead: AgentStatus.optional(),
  planner: AgentStatus.optional(),
  designer: AgentStatus.optional(),
  techLead: AgentStatus.optional(),
  developer: AgentStatus.optional(),
  lastCycle: z
    .looseObject({ number: z.number(), completed: z.number(), failed: z.number(), remaining: z.number() })
    .nullable(),
});
export const ReadStatusFile = StatusFile.extend({
  orchestrator: z.looseObject({
    running: z.boolean().optional(),
    pid: z.number().nullish(),
    startedAt: z.string().nullish(),
  }),
  teamLead: ReadAgentStatus.nullish(),
  planner: ReadAgentStatus.nullish(),
  designer: ReadAgentStatus.nullish(),
  techLead: ReadAgentStatus.nullish(),
  developer: ReadAgentStatus.nullish(),
  lastCycle: z.looseObject({}).nullable(),
});

export const ConfigFile = z.looseObject({
  project: z.looseObject({ name: z.string(), path: z.string() }),
  scope: z.string(),
  goals: z.array(z.string()),
  platform: z.enum(PLATFORMS),
  maxTasks: z.number(),
  continuous: z.boolean(),
  initialized: z.union([z.boolean(), z.string()]),
  figma: z.looseObject({}).optional(),
});
export const ReadConfigFile = ConfigFile.partial().extend({
  project: z.looseObject({ name: z.string().optional(), path: z.string().optional() }).optional(),
  platform: z.string().optional(),
  figma: z.looseObject({}).nullish(),
});

export type MessageFile = z.infer<typeof ReadMessageFile>;
export type QueueFile = z.infer<typeof ReadQueueFile>;
export type QueueTask = z.infer<typeof ReadQueueTask>;
export type StatusFile = z.infer<typeof ReadStatusFile>;
export type ConfigFile = z.infer<typeof ReadConfigFile>;

const EMPTY_MESSAGE_FILE: Readonly<MessageFile> = Object.freeze({ messages: [], lastRead: null });
const EMPTY_QUEUE = { version: "1.0", tasks: [], completed: [], current: null, lastUpdated: null };
const EMPTY_STATUS = { orchestrator: { running: false, pid: null, startedAt: null }, lastCycle: null };

/** A bare list or a single message is accepted too. `readMessageFile` does not check the messages themselves. */
export function readMessageFile(value: unknown, options: ProfileOptions): ProfileReading<MessageFile> {
  if (options.profile === "lenient" && value !== null && value !== undefined) {
    const bare = Array.isArray(value) ? value : isRecord(value) && typeof value.type === "string" ? [value] : undefined;
    if (bare) {
      const sentence = `The file has no "messages"; its content was read as ${bare.length} message(s).`;
      const problems = [problem("warning", "alias", "messages", sentence)];
      return { message: { messages: bare, lastRead: null }, problems };
    }
  }
  const schemas = { strict: MessageFile, lenient: ReadMessageFile, defaults: EMPTY_MESSAGE_FILE };
  return readFile(value, schemas, options);
}

export function readQueueFile(value: unknown, options: ProfileOptions): ProfileReading<QueueFile> {
  return readFile(value, { strict: QueueFile, lenient: ReadQueueFile, defaults: EMPTY_QUEUE }, options);
}

export function readStatusFile(value: unknown, options: ProfileOptions): ProfileReading<StatusFile> {
  return readFile(value, { strict: StatusFile, lenient: ReadStatusFile, defaults: EMPTY_STATUS }, options);
}

export function readConfigFile(value: unknown, options: ProfileOptions): ProfileReading<ConfigFile> {
  return readFile(value, { strict: ConfigFile, lenient: ReadConfigFile }, options);
}

/** `undefined` and null mean that the file is empty or missing. */
function readFile<L>(value: unknown, schemas: SchemaPair<L>, options: ProfileOptions): ProfileReading<L> {
  if (options.profile === "strict" || (value !== undefined && value !== null)) {
    return readWithProfile(value, schemas, options);
  }
  const reading = readWithProfile({}, schemas, options);
  const empty: ProfileProblem = problem(
    "warning",
    "empty",
    "",
    "The file is empty or missing; nothing has happened yet.",
  );
  return { message: reading.message, problems: [empty] };
}

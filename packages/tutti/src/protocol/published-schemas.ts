// The published JSON Schemas: one for every message of the four protocols and every mailbox file, generated from the
// schemas that the readers use. `strict` describes what Tutti writes. `lenient` describes what it also accepts after
// names and values have been normalised. The delimited response has only one form.
import { z } from "zod";
import { ANSWERS } from "../schema/answer.ts";
import {
  ReadAttemptCompletion,
  ReadNewTask,
  WrittenAttemptCompletion,
  WrittenNewTask,
} from "./delegation/delegation-schema.ts";
import {
  ConfigFile,
  MessageFile,
  QueueFile,
  ReadConfigFile,
  ReadMessageFile,
  ReadQueueFile,
  ReadStatusFile,
  StatusFile,
} from "./mailbox/mailbox-file.ts";
import {
  ReadMailboxAssignment,
  ReadMailboxReport,
  WrittenMailboxAssignment,
  WrittenMailboxReport,
} from "./mailbox/mailbox-schema.ts";
import { READ_MESSAGES } from "./messages/message-reading.ts";
import { WRITTEN_MESSAGES } from "./messages/message-schema.ts";
import type { Profile } from "./response/profile.ts";

export const DRAFTS = ["draft-07", "2020-12"] as const;
export type Draft = (typeof DRAFTS)[number];
const TARGETS = { "draft-07": "draft-7", "2020-12": "draft-2020-12" } as const;

type Forms = Partial<Record<Profile, z.ZodType>>;

const kebab = (name: string) => name.toLowerCase().replaceAll("_", "-");

/** The keys of `PUBLISHED_SCHEMAS` are protocol and message, for example `mailbox/task-assignment`. */
export const PUBLISHED_SCHEMAS: Record<string, Forms> = {
  ...Object.fromEntries(
    Object.entries(ANSWERS).map(([phase, data]) => [
      `response/${kebab(phase)}`,
      { strict: z.looseObject({ phase: z.literal(phase), data }) },
    ]),
  ),
  "mailbox/task-assignment": { strict: WrittenMailboxAssignment, lenient: ReadMailboxAssignment },
  "mailbox/completion-report": { strict: WrittenMailboxReport, lenient: ReadMailboxReport },
  "mailbox/message-file": { strict: MessageFile, lenient: ReadMessageFile },
  "mailbox/queue-file": { strict: QueueFile, lenient: ReadQueueFile },
  "mailbox/status-file": { strict: StatusFile, lenient: ReadStatusFile },
  "mailbox/config-file": { strict: ConfigFile, lenient: ReadConfigFile },
  "delegation/new-task": { strict: WrittenNewTask, lenient: ReadNewTask },
  "delegation/attempt-completion": { strict: WrittenAttemptCompletion, lenient: ReadAttemptCompletion },
  ...Object.fromEntries(
    Object.entries(WRITTEN_MESSAGES).map(([type, strict]) => [
      `messages/${kebab(type)}`,
      { strict, lenient: READ_MESSAGES[type as keyof typeof READ_MESSAGES] },
    ]),
  ),
};

/** The version of document 003. The other documents have none. */
const MESSAGES_VERSION = "Protocol version 1.0.0 (2025-11-09)";

/** Returns `undefined` if there is no schema of that name and profile. */
export function jsonSchema(name: string, profile: Profile, draft: Draft): Record<string, unknown> | undefined {
  const schema = Object.hasOwn(PUBLISHED_SCHEMAS, name) ? PUBLISHED_SCHEMAS[name]?.[profile] : undefined;
  if (!schema) return undefined;
  const { $schema, ...body } = z.toJSONSchema(schema, { target: TARGETS[draft], io: "input" });
  const $id = `urn:tutti:${name.replace("/", ":")}:${profile}`;
  const version = name.startsWith("messages/") ? { $comment: MESSAGES_VERSION } : {};
  return { $schema, $id, ...version, title: `${name} (${profile})`, ...body };
}

import { problem } from "../response/profile.ts";
import type { ProfileProblem, Profile, ProfileReading, ProfileOptions } from "../response/profile.ts";
import { fold, memberNamed, readWithProfile, whyUnreadable, type SchemaPair } from "../response/read-with-profile.ts";
import {
  OtherMailboxMessage,
  ReadMailboxAssignment,
  ReadMailboxReport,
  WrittenMailboxAssignment,
  WrittenMailboxReport,
} from "./mailbox-schema.ts";
import type { MailboxMessage, MailboxReport, WrittenMailboxMessage } from "./mailbox-schema.ts";

export type { MailboxMessage } from "./mailbox-schema.ts";

const KINDS: Record<string, SchemaPair<unknown>> = {
  task_assignment: { strict: WrittenMailboxAssignment, lenient: ReadMailboxAssignment, timestamp: "timestamp" },
  completion_report: { strict: WrittenMailboxReport, lenient: ReadMailboxReport, timestamp: "timestamp" },
};
const OTHER: SchemaPair<unknown> = {
  strict: OtherMailboxMessage,
  lenient: OtherMailboxMessage,
  timestamp: "timestamp",
};

/**
 * Reads one entry of a message file. Under `lenient`, a message of an unknown type is kept with a warning, because
 * other programs use the mailbox with more types than document 001 defines.
 */
export function readMailboxMessage(value: unknown, options: ProfileOptions): ProfileReading<MailboxMessage> {
  const refusal = whyUnreadable(value);
  if (refusal) return { message: null, problems: [refusal] };
  const schemas = schemasFor(memberNamed(value, "type", options.profile), options.profile);
  if (schemas) {
    const { message, problems } = readWithProfile(value, schemas, options) as ProfileReading<MailboxMessage>;
    return { message, problems: [...problems, ...(message ? mismatches(message) : [])] };
  }
  const unknown = unknownType(value, options.profile === "strict" ? "error" : "warning");
  if (unknown.severity === "error") return { message: null, problems: [unknown] };
  const { message, problems } = readWithProfile(value, OTHER, options);
  return { message: message as MailboxMessage | null, problems: [unknown, ...problems] };
}

/** Returns the message if document 001 allows it, otherwise the problems. */
export function writeMailboxMessage(message: unknown): ProfileReading<WrittenMailboxMessage> {
  const reading = readMailboxMessage(message, { profile: "strict", receivedAt: "" });
  return reading as ProfileReading<WrittenMailboxMessage>;
}

export function isMailboxReport(message: MailboxMessage): message is MailboxReport {
  return message.type === "completion_report";
}

function schemasFor(type: unknown, profile: Profile): SchemaPair<unknown> | undefined {
  const known = Object.keys(KINDS).find((each) =>
    profile === "strict" ? each === type : typeof type === "string" && fold(each) === fold(type),
  );
  return known === undefined ? undefined : KINDS[known];
}

function unknownType(value: unknown, severity: ProfileProblem["severity"]): ProfileProblem {
  const { type } = value as { type?: unknown };
  if (typeof type !== "string" || type === "") {
    return problem(
      "error",
      "missing",
      "type",
      `"type" is missing; it must be one of ${Object.keys(KINDS).join(", ")}.`,
    );
  }
  return problem(
    severity,
    "unknown_kind",
    "type",
    `"type" is ${JSON.stringify(type)}, which document 001 does not define.`,
  );
}

function mismatches(message: MailboxMessage): ProfileProblem[] {
  if (!isMailboxReport(message)) return [];
  const { status, errors } = message.buildResult ?? {};
  const isOdd = errors !== undefined && ((status === "success" && errors > 0) || (status === "failed" && errors === 0));
  if (!isOdd) return [];
  const sentence = `"buildResult.status" is "${status}", but "buildResult.errors" is ${errors}.`;
  return [problem("warning", "mismatch", "buildResult.errors", sentence)];
}

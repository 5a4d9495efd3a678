import { agentNamed } from "./agent-role.ts";
import type { Mapping } from "./mapping.ts";
import { listIn, paths, recordsIn, same, sentences, timestamp } from "./member-kinds.ts";

/** The file that contains a message implies its sender and recipient. */
const teamLead = agentNamed("Team Lead");
const developer = agentNamed("Developer");

const assignment: Mapping = {
  kind: "assignment",
  matches: ({ type }) => type === "task_assignment",
  fixed: { type: "task_assignment" },
  implied: { from: teamLead, to: developer },
  members: [
    same("taskId", "taskId"),
    same("platform", "platform", "custom"),
    same("title", "title", ""),
    sentences("instructions", "requirements", ""),
    { ...paths("filesToCreate", "outputs"), fill: () => [] },
    same("architecture", "architecture", ""),
    same("apiEndpoints", "apiEndpoints"),
    timestamp("timestamp"),
  ],
};

/** `status` is the same in every report. The `buildResult` is a reviewer's first evidence. */
const report: Mapping = {
  kind: "report",
  matches: ({ type }) => type === "completion_report",
  fixed: { type: "completion_report", status: "awaiting_review" },
  implied: { from: developer, outcome: "awaiting_review" },
  members: [
    same("taskId", "taskId"),
    same("platform", "platform", "custom"),
    same("summary", "summary", (canonical: { error?: string }) => canonical.error ?? ""),
    {
      wire: "filesCreated",
      name: "files",
      read: (value) => listIn(value).map((path) => ({ path, change: "created" })),
      write: (value) => recordsIn(value).flatMap(({ path, change }) => (change === "created" ? [path] : [])),
      fill: () => [],
    },
    {
      // A file that is not known to be new is listed in `filesModified`, which claims less.
      wire: "filesModified",
      name: "files",
      read: (value, { files }) => [...listIn(files), ...listIn(value).map((path) => ({ path, change: "modified" }))],
      write: (value) => recordsIn(value).flatMap(({ path, change }) => (change === "created" ? [] : [path])),
      fill: () => [],
    },
    same("buildResult", "build", { status: "not_verified", command: "", errors: 0 }),
    timestamp("timestamp"),
  ],
};

/** `MAILBOX_MAPPINGS` end with messages that the document does not define. Tutti reads them, but never writes them. */
const answer: Mapping = {
  kind: "answer",
  matches: ({ type }) => typeof type === "string",
  fixed: {},
  members: [same("type", "topic"), same("taskId", "taskId"), timestamp("timestamp")],
  refuses: () => "The mailbox protocol has no message for it.",
};

export const MAILBOX_MAPPINGS: readonly Mapping[] = [assignment, report, answer];

// `mailboxAssignment` and `mailboxRejection` are the messages of document 001 to a role that works on the mailbox.
import { describeInterfaces } from "../plan/interfaces.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

export interface MailPaths {
  /** The worktree of the session. */
  workspace: string;
  /** The box for the report. */
  reportTo: string;
}

type Body = Record<string, unknown>;

const PLATFORMS = ["web", "android", "ios", "custom"];
const DEFAULT_ARCHITECTURE = "Follow the structure and the conventions of the repository.";

/**
 * Document 001 requires all members up to `timestamp`. The others are for a role outside of Tutti, which must know
 * where to work.
 */
export function mailboxAssignment(
  run: Run,
  worker: Worker,
  mail: MailPaths | undefined,
  notes: readonly string[],
  at: number,
): Body {
  const { taskId, task, attempt } = worker;
  const variables = { ...run.template.variables, ...run.customVariables };
  const { PLATFORM: platform, ARCHITECTURE: architecture } = variables;
  const criteria = task.acceptanceCriteria ?? [];
  const list = criteria.map((criterion) => `- ${criterion}`).join("\n");
  const instructions = [
    task.description,
    ...notes,
    ...(criteria.length > 0 ? [`Acceptance criteria:\n${list}`] : []),
    ...describeInterfaces(run, taskId),
  ];
  return {
    type: "task_assignment",
    taskId,
    platform: typeof platform === "string" && PLATFORMS.includes(platform) ? platform : "custom",
    title: task.title,
    instructions: instructions.join("\n\n"),
    filesToCreate: task.scope.filter((path) => !/[*?]|\/$/.test(path)),
    architecture: typeof architecture === "string" && architecture !== "" ? architecture : DEFAULT_ARCHITECTURE,
    timestamp: new Date(at).toISOString(),
    attempt,
    ...mail,
  };
}

/** Document 001 has no message for a rejection: the task is assigned again, with the `rejectionReason`. */
export function mailboxRejection(assignment: Body, reasons: readonly string[], at: number): Body {
  const { instructions, firstInstructions = instructions } = assignment;
  const list = reasons.map((reason) => `- ${reason}`).join("\n");
  return {
    ...assignment,
    instructions: `Your work on this task was rejected:\n${list}\n\nFix this, then report again. The task:\n\n${String(firstInstructions)}`,
    firstInstructions,
    rejectionReason: reasons.join(" "),
    timestamp: new Date(at).toISOString(),
  };
}

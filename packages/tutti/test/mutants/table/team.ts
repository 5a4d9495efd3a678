import type { Mutant } from "../mutant.ts";

const GATE = "tutti/src/run/team/gate.ts";
const QUEUE = "tutti/src/run/team/mailbox-state.ts";

export const TEAM_MUTANTS: readonly Mutant[] = [
  {
    rows: ["D3-073", "D3-080", "D3-102"],
    file: "tutti/src/run/team/pipeline.ts",
    find: "dependencies: after,",
    replace: "dependencies: [],",
  },
  {
    rows: ["D3-081"],
    file: "tutti/src/run/team/rework.ts",
    find: "if (!developer || round > rejectionLimit(run)) return [];",
    replace: "if (!developer || round > 0) return [];",
  },
  {
    rows: ["D3-083", "D3-092"],
    file: GATE,
    find: "return commit === null || (isDeployment",
    replace: "return commit === undefined || (isDeployment",
  },
  { rows: ["D3-090"], file: GATE, find: `=> status === "APPROVED" ||`, replace: `=> status === "REJECTED" ||` },
  { rows: ["D3-091"], file: GATE, find: ".conditional === true", replace: ".conditional !== true" },
  {
    rows: ["D3-045", "D3-054"],
    file: "tutti/src/engine/sessions/read-messages.ts",
    find: "if (validation?.all_passed === true &&",
    replace: "if (validation?.all_passed !== undefined &&",
  },
  {
    rows: ["D3-114"],
    file: "tutti/src/run/team/apply-team.ts",
    find: "teamMessages: [...(run.teamMessages ?? []), message]",
    replace: "teamMessages: [message]",
  },
  {
    rows: ["D3-074", "D3-101"],
    file: "tutti/src/run/team/lead-duty.ts",
    find: "awaits && awaits.itemId === undefined",
    replace: "awaits && awaits.itemId !== undefined",
  },
  {
    rows: ["D3-111", "D3-115"],
    file: "tutti/src/run/team/lead-duty.ts",
    find: "if (rejections < rejectionLimit(run)) {",
    replace: "if (rejections > rejectionLimit(run)) {",
  },
  {
    rows: ["D3-065"],
    file: "tutti/src/run/team/blocker.ts",
    find: `type === "scope_change" || severity === "critical"`,
    replace: `type !== "scope_change" || severity === "critical"`,
  },
  {
    rows: ["D1-036", "D1-037"],
    file: QUEUE,
    find: `awaits?.kind === "verdict" ? "awaiting_review" : "in_progress"`,
    replace: `awaits?.kind === "verdict" ? "in_progress" : "pending"`,
  },
  { rows: ["D1-038"], file: QUEUE, find: `      return "completed";`, replace: `      return "awaiting_review";` },
  {
    rows: ["D1-035", "D1-039", "D1-048"],
    file: QUEUE,
    find: `[...reviewed, "rejected", ...`,
    replace: `[...reviewed, ...`,
  },
  { rows: ["D1-040", "D1-050"], file: QUEUE, find: `rejected: ["pending"],`, replace: `rejected: ["in_progress"],` },
  {
    rows: ["D1-041"],
    file: QUEUE,
    find: `in_progress: ["awaiting_review", "rejected"],`,
    replace: `in_progress: ["awaiting_review"],`,
  },
  {
    rows: ["D1-049"],
    file: "tutti/src/engine/mailboxes/run-mailbox.ts",
    find: "{ rejectionReason: task.rejectionReason }",
    replace: "{}",
  },
  {
    rows: ["D1-043"],
    file: "tutti/src/engine/sessions/team-prompt.ts",
    find: `if (status === "not_verified")`,
    replace: `if (status === "not_applicable")`,
  },
  {
    rows: ["D1-047"],
    file: "tutti/src/engine/sessions/read-mail.ts",
    find: `\${count}. \${output}\``,
    replace: `\${count}.\``,
  },
  {
    rows: ["D1-042", "D1-044", "D1-045", "D1-046"],
    file: "tutti/src/engine/sessions/team-prompt.ts",
    find: "If the build fails, fix it. If you cannot, report honestly, with the output of the build.\n- Then",
    replace: "If the build fails, go on.\n- Then",
  },
  {
    rows: ["D1-058"],
    file: "tutti/src/engine/mailboxes/run-mailbox.ts",
    find: "if (messages.some(({ value }) => isOver(value)))",
    replace: "if (messages.length > 99)",
  },
  {
    rows: ["D2-001"],
    file: "tutti/src/run/team/decide-delegation.ts",
    find: "const tasks = bodies.map((body) => toTask(run, null, body, undefined));",
    replace: "const tasks = bodies.slice(1).map((body) => toTask(run, null, body, undefined));",
  },
  {
    rows: ["D2-020", "D2-035"],
    file: "tutti/src/run/team/delegation.ts",
    find: '.filter(({ actedAt, to }) => actedAt === null && to !== "")',
    replace: '.filter(({ actedAt, to }) => actedAt !== null && to !== "")',
  },
];

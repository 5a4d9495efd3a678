import type { Mutant } from "../mutant.ts";

const GATE = "tutti/src/run/team/gate.ts";

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
];

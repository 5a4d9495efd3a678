import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { RUN_MOVES, WORKER_MOVES } from "../../src/run/transitions.ts";

const PAGE = join(import.meta.dirname, "../../../../docs/lifecycle.md");

function drawing(moves: Record<string, readonly string[]>, start: string): string {
  const lines = Object.entries(moves).flatMap(([from, to]) => to.map((next) => `    ${from} --> ${next}`));
  return ["```mermaid", "stateDiagram-v2", `    [*] --> ${start}`, ...lines, "```"].join("\n");
}

function table(moves: Record<string, readonly string[]>): string {
  const rows = Object.entries(moves).map(
    ([from, to]) => `| ${from} | ${to.join(", ") || "nothing: this status is final"} |`,
  );
  return ["| from | may become |", "|---|---|", ...rows].join("\n");
}

const page = `# The states of runs and workers

Generated from \`packages/tutti/src/run/transitions.ts\` by \`TUTTI_UPDATE_DOCS=1 npx vitest run packages/tutti/test/run\`.
The rules check every step against these tables, so the log contains no other transition.

## Runs
A paused run resumes to its previous status. The retry of a task reopens a run in \`completed\` or \`error\`; supplied data
and the retry of a phase of the main session reopen a run in \`error\`. \`cancelled\` is final.

${table(RUN_MOVES)}

${drawing(RUN_MOVES, "created")}

## Workers
A worker is the newest attempt at one task. It returns to \`pending\` when its session is lost and when the task is retried.

${table(WORKER_MOVES)}

${drawing(WORKER_MOVES, "pending")}
`;

it("docs/lifecycle.md matches `RUN_MOVES` and `WORKER_MOVES`", () => {
  if (process.env["TUTTI_UPDATE_DOCS"]) writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, "utf8")).toBe(page);
});

// docs/lifecycle.md is drawn from the tables that the rules are held to.
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
  const rows = Object.entries(moves).map(([from, to]) => `| ${from} | ${to.join(", ") || "nothing: this is an end"} |`);
  return ["| from | may become |", "|---|---|", ...rows].join("\n");
}

const page = `# The states of runs and workers

Drawn from \`packages/tutti/src/run/transitions.ts\` by \`TUTTI_UPDATE_DOCS=1 npx vitest run packages/tutti/test/run\`. The
rules are held to these tables at every step: what is not in them cannot get into the log.

## Runs
A run that is paused goes back to what it was doing. A run that ended in \`completed\` or \`error\` is opened again by the
retry of a task, one in \`error\` also by data that a person supplies. \`cancelled\` is for good.

${table(RUN_MOVES)}

${drawing(RUN_MOVES, "created")}

## Workers
A worker is the newest attempt at one task. It goes back to \`pending\` when its session vanishes for no fault of its own,
and by a retry.

${table(WORKER_MOVES)}

${drawing(WORKER_MOVES, "pending")}
`;

it("the page of the states is what the tables say", () => {
  if (process.env["TUTTI_UPDATE_DOCS"]) writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, "utf8")).toBe(page);
});

import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "./make-run.ts";
import { describeResult } from "../../src/run/describe-result.ts";

const NOW = 1_000_000;

function ended(): Story {
  const story = new Story(makeTemplate({ phases: { verification: { enabled: true } } })).execute([{ id: "a" }]);
  story.spawn("a");
  story.succeed("a");
  story.merge("a");
  return story;
}

describe("the text of a pull request", () => {
  it("has no sections about checks, conflicts and open points that do not exist", () => {
    const { body } = describeResult(ended().run, [], NOW);
    expect(body).not.toMatch(/^## (?:Checks|Conflicts|Open points|Files)$/m);
    expect(body).toContain("## Tasks");
  });

  it("lists the commands with their exit codes and the verdict of the verification as checks", () => {
    const { run } = ended();
    const command = { name: "tests", run: "npm test", exitCode: 1, durationMs: 5, output: "red" };
    const checks = {
      commit: "c",
      commands: [command, { ...command, run: "npm run lint", exitCode: 0 }],
      isRunning: false,
    };
    const withChecks = { ...run, checks };
    expect(describeResult(withChecks, [], NOW).body).toContain(
      "## Checks\n\n- `npm test`: exit code 1\n- `npm run lint`: exit code 0\n",
    );
    const verification = { status: "passed_with_warnings" as const, summary: "Good enough." };
    const { body } = describeResult({ ...withChecks, verification }, [], NOW);
    expect(body).toContain("exit code 0\n- Verification: passed_with_warnings. Good enough.\n");
    expect(describeResult({ ...run, verification: { status: "passed" } }, [], NOW).body).toContain(
      "## Checks\n\n- Verification: passed\n",
    );
  });

  it("lists each conflict with its files, its tasks and how it was settled", () => {
    const conflict = { type: "content", files: ["x.ts", "y.ts"], tasks: ["a", "b"], refs: [] };
    const conflicts = [
      { ...conflict, resolution: "last-wins" },
      { ...conflict, type: "delete", files: ["z.ts"], resolution: null },
    ];
    expect(describeResult({ ...ended().run, conflicts }, [], NOW).body).toContain(
      "## Conflicts\n\n- content in `x.ts`, `y.ts` between a and b: last-wins\n- delete in `z.ts` between a and b: open\n",
    );
  });

  it("lists causes and other warnings as open points", () => {
    const use = {
      name: "load",
      change: "removed" as const,
      task: "a",
      file: "x.ts",
      usedBy: "b",
      usedIn: "y.ts",
      line: 3,
    };
    const run = { ...ended().run, usedNames: { head: "h", names: [use] } };
    const worker = { ...run.workers["a"]!, warnings: ['it reported files that do not exist: "b.md"'] };
    expect(describeResult({ ...run, workers: { a: worker } }, [], NOW).body).toContain(
      [
        "## Open points",
        "",
        '- a: it reported files that do not exist: "b.md"',
        "- b uses load in y.ts:3, which a removed from x.ts.",
        "",
        "Run",
      ].join("\n"),
    );
  });
});

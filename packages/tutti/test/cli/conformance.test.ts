import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { InProcessLab } from "./in-process.ts";
import { SUITE_NAMES, SUITES, TOOLS_TEMPLATE, type SuiteName } from "../../src/main/conformance-suites.ts";
import { rehearsalScenario } from "../../src/session/drivers/script/rehearsal.ts";
import { TemplateLibrary } from "../../src/template/files/library.ts";
import type { SuiteReport } from "../../src/main/conformance.ts";

let lab: InProcessLab;
/** Parent of the folders of the tried runs. */
let temporary: string;
beforeEach(() => {
  lab = new InProcessLab();
  temporary = mkdtempSync(join(tmpdir(), "tutti-conformance-test-"));
  vi.stubEnv("TMPDIR", temporary);
});
afterEach(() => {
  vi.unstubAllEnvs();
  expect(readdirSync(temporary)).toEqual([]);
  rmSync(temporary, { recursive: true });
  lab.tearDown();
});

const tryAgent = async (agent: string, ...flags: string[]) => {
  const { code, last } = await lab.json(["conformance", "--agent", agent, ...flags]);
  return { code, ...(last as unknown as { passed: boolean; suites: SuiteReport[] }) };
};

/** An agent that speaks the protocol of `suite` well. */
function fluentIn(suite: SuiteName): string {
  mkdirSync(join(lab.folder, "suites"));
  writeFileSync(join(lab.folder, "suites", `${TOOLS_TEMPLATE.id}.json`), JSON.stringify(TOOLS_TEMPLATE));
  const { template } = new TemplateLibrary({ userFolder: join(lab.folder, "suites") }).resolve(
    SUITES[suite].templateId,
  );
  return lab.scenario(rehearsalScenario(template, 1).sessions);
}

it.each(SUITE_NAMES)("an agent that speaks %s well passes its suite, with exit 0", async (suite) => {
  const { code, passed, suites } = await tryAgent(fluentIn(suite), "--suite", suite);
  expect(suites).toMatchObject([{ suite, result: "passed", causes: [] }]);
  expect(suites[0]!.turns.length).toBeGreaterThan(1);
  expect(suites[0]!.turns.flatMap(({ problems }) => problems)).toEqual([]);
  expect([passed, code]).toEqual([true, 0]);
});

it("a report names every rejected answer, and an agent that speaks no protocol does not conform", async () => {
  const { code, passed, suites } = await tryAgent(
    lab.scenario([{ match: {}, turns: Array.from({ length: 3 }, () => ({ say: "All good." })) }]),
  );
  expect(suites.map(({ suite, result }) => [suite, result])).toEqual([
    ["response", "failed"],
    ["messages", "unsupported"],
    ["mailbox", "unsupported"],
    ["delegation", "unsupported"],
    ["tools", "unsupported"],
  ]);
  const [{ turns, causes }] = suites as [SuiteReport];
  expect(turns.map(({ phase, try: attempt }) => [phase, attempt])).toEqual([1, 2, 3].map((n) => ["analysis", n]));
  expect(turns[0]!.problems[0]).toContain("no block");
  expect(causes[0]).toContain("no usable answer after 3 tries");
  expect([passed, code]).toEqual([false, 1]);
});

it("an agent that cannot call tools does not support them, and is not tried", async () => {
  const { suites } = await tryAgent("local", "--suite", "tools");
  expect(suites).toMatchObject([{ suite: "tools", result: "unsupported", turns: [] }]);
  expect(suites[0]!.causes[0]).toContain('which the agent "local" cannot call');
});

it("an agent of the user's configuration is tried by its name", async () => {
  const agent = fluentIn("response");
  mkdirSync(lab.data);
  writeFileSync(join(lab.data, "tutti.config.json"), JSON.stringify({ agents: { mine: { agent } } }));
  expect(await tryAgent("mine", "--suite", "response")).toMatchObject({ code: 0, passed: true });
});

it("an agent that does not answer in time fails", async () => {
  const agent = lab.scenario([{ match: {}, turns: [{ say: "…", waitForFile: join(lab.folder, "never") }] }]);
  const { code, suites } = await tryAgent(agent, "--suite", "response", "--timeout", "1");
  expect(suites).toMatchObject([{ result: "failed", causes: ["it did not end within 1 s"] }]);
  expect(code).toBe(1);
});

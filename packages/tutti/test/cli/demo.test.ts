import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Lab, processesOf } from "../lab/lab.ts";

describe("tutti demo", () => {
  let lab: Lab;
  beforeEach(() => {
    lab = new Lab();
  });
  afterEach(() => lab.tearDown());

  it("without a terminal documents the sample project, prints the dashboard and the result, and exits 0 by itself (D4-596)", async () => {
    const { code, stdout, stderr } = await lab.tutti(["demo"]);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/dashboard: http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/);
    for (const phase of ["analysing", "planning", "working", "merging the results", "verifying"])
      expect(stdout).toContain(phase);
    expect(stdout).toMatch(/task_001 \d+ %: /);
    const [, result] = /result: (.+)/.exec(stdout)!;
    const page = readFileSync(result!, "utf8");
    expect(page).toContain("Corner Bookshop");
    expect(page).toContain("orders.md");
    expect(existsSync(`${dirname(result!)}/orders.md`)).toBe(true);
    const [, project] = /sample project: (.+)/.exec(stdout)!;
    expect(processesOf(dirname(project!))).toEqual([]);
    rmSync(dirname(project!), { recursive: true });
  });
});

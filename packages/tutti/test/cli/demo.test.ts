import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Lab, processesOf } from "../lab/lab.ts";
import { onTerminal } from "../lab/terminal.ts";

describe("tutti demo", () => {
  let lab: Lab;
  beforeEach(() => {
    lab = new Lab();
  });
  afterEach(() => lab.tearDown());

  it("without a terminal documents the sample project, prints the dashboard and the result, and exits with 0", async () => {
    const { code, stdout, stderr } = await lab.tutti(["demo"]);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/dashboard: http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/);
    for (const phase of ["analysing", "planning", "working", "merging the results", "verifying"])
      expect(stdout).toContain(phase);
    expect(stdout).toMatch(/task_001 \d+ %: /);
    expect(stdout).toMatch(/success: 5 planned, 5 completed/);
    const [, result] = /result: (.+)/.exec(stdout)!;
    expect(stdout).toContain("Now try a project of yours: tutti run ");
    const page = readFileSync(result!, "utf8");
    expect(page).toContain("Corner Bookshop");
    expect(page).toContain("orders.md");
    expect(existsSync(`${dirname(result!)}/orders.md`)).toBe(true);
    const [, project] = /sample project: (.+)/.exec(stdout)!;
    expect(processesOf(dirname(project!))).toEqual([]);
    rmSync(dirname(project!), { recursive: true });
  });

  it("on a terminal keeps the dashboard up until Ctrl-C, then exits with 0 and leaves no process", async () => {
    const child = onTerminal(["demo"]);
    let shown = "";
    let health: Promise<Response> | undefined;
    child.stdout.on("data", (text: string) => {
      shown += text;
      if (health || !shown.includes("until you press Ctrl-C")) return;
      const [, url] = /dashboard: (\S+)\/\?token/.exec(shown)!;
      health = fetch(`${url}/api/health`).finally(() => child.stdin.write("\u0003"));
    });
    const [code] = (await once(child, "close")) as [number];
    expect(await (await health)!.json()).toMatchObject({ status: "ok" });
    expect(code).toBe(0);
    const folder = dirname(/sample project: (.+?)\r?\n/.exec(shown)![1]!);
    expect(processesOf(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  });
});

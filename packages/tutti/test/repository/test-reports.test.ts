// Tests the reports of `npm test` and `npm run test:stress` on generated test files.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../../..");

/** Vitest finds test files only below the tests. */
const FIXTURES = join(import.meta.dirname, "fixtures");
let folder: string;
beforeEach(() => {
  mkdirSync(FIXTURES, { recursive: true });
  folder = mkdtempSync(join(FIXTURES, "made-"));
});
afterEach(() => rmSync(FIXTURES, { recursive: true, force: true }));

function write(name: string, body: string): string {
  const file = join(folder, name);
  writeFileSync(file, `import { describe, expect, test } from "vitest";\n${body}`);
  return file;
}

function run(args: string[]): { status: number | null; lines: string[] } {
  const env = { ...process.env, TUTTI_TEST_REPORT: join(folder, "report.json") };
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: "utf8" });
  return { status, lines: stripVTControlCharacters(stdout).trimEnd().split("\n") };
}

const vitest = (...args: string[]) =>
  run(["node_modules/vitest/vitest.mjs", "run", "--reporter=./scripts/test-reporter.mjs", ...args]);

test("a failed test is printed with its whole title and a command that reruns only that test", () => {
  const file = write(
    "failing.test.ts",
    `describe("a group (of two)", () => {
       test("whose second test can't pass [1]", () => expect(1).toBe(2));
       test("whose first test passes", () => {});
     });`,
  );
  const { status, lines } = vitest(file);
  expect(status).toBe(1);
  expect(lines).toContain("FAIL a group (of two) whose second test can't pass [1]");
  const repeat = lines.find((line) => line.includes("rerun it with:"))!;
  const again = spawnSync("bash", ["-c", repeat.slice(repeat.indexOf("npx"))], { cwd: ROOT, encoding: "utf8" });
  expect(stripVTControlCharacters(again.stdout)).toMatch(/Tests +1 failed \| 1 skipped/);
});

test("the last lines show the slowest ten tests, a retry and a failed hook", () => {
  const many = Array.from(
    { length: 12 },
    (_, i) => `test("number ${i}", () => new Promise((r) => setTimeout(r, ${i * 9})));`,
  );
  const flaky = `let tries = 0; test("fails once", { retry: 1 }, () => expect(++tries).toBe(2));`;
  const hook = write(
    "hook.test.ts",
    `import { beforeAll } from "vitest"; beforeAll(() => { throw new Error("no"); }); test("a", () => {});`,
  );
  const { lines } = vitest(write("slow.test.ts", many.join("\n") + flaky), hook);
  const slowest = lines.indexOf("The slowest 10 of 13 tests:");
  const reports = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as {
    tests: { title: string; status: string; seconds: number }[];
  }[];
  const bySeconds = reports
    .flatMap(({ tests }) => tests.filter(({ status }) => status !== "skipped"))
    .toSorted((a, b) => b.seconds - a.seconds);
  expect(lines.slice(slowest + 1, slowest + 11)).toEqual(
    bySeconds
      .slice(0, 10)
      .map(({ title, seconds }) => expect.stringMatching(`^ +${seconds.toFixed(1)} s .*: ${title}$`)),
  );
  expect(lines.slice(slowest)).toContain("  fails once");
  expect(lines.some((line) => line.startsWith("FAIL") && line.includes("hook.test.ts"))).toBe(true);
});

test("a stress run fails and lists each unsteady test with its counts", () => {
  const file = write(
    "unsteady.test.ts",
    `import { appendFileSync, readFileSync } from "node:fs";
     const file = ${JSON.stringify(join(folder, "count"))};
     test("is steady", () => {});
     let tries = 0;
     test("passes only after a retry", { retry: 1 }, () => expect(++tries).toBe(2));
     test("fails every other time", () => { appendFileSync(file, "x"); expect(readFileSync(file, "utf8").length % 2).toBe(1); });`,
  );
  const { status, lines } = run(["scripts/stress.mjs", "--times", "2", "--load", "none", file]);
  expect(status).toBe(1);
  expect(lines.filter((line) => line.startsWith("FAIL"))).toEqual([
    expect.stringContaining("passes only after a retry"),
    expect.stringContaining("fails every other time"),
  ]);
  expect(lines.join("\n")).toContain("failed 1 of 2 times");
  expect(lines.at(-1)).toBe("1 passed, 2 failed");
});

test("a stress run has its load beside the tests, and ends it", () => {
  // The tests of the repetition wait for the processes of the load, which have the same parent as their Vitest.
  const file = write(
    "beside.test.ts",
    `import { readFileSync, readdirSync } from "node:fs";
     const read = (pid, name) => { try { return readFileSync("/proc/" + pid + "/" + name, "latin1"); } catch { return ""; } };
     const parentOf = (pid) => Number(read(pid, "stat").split(") ")[1]?.split(" ")[1]);
     const stress = parentOf(process.ppid);
     const kinds = () => readdirSync("/proc")
       .filter((pid) => parentOf(pid) === stress && read(pid, "cmdline").includes("load.mjs"))
       .map((pid) => read(pid, "cmdline").split("\\0").at(-2)).toSorted();
     test("runs beside its load", () => expect.poll(kinds).toEqual(["disk", "memory"]));`,
  );
  const { status, lines } = run(["scripts/stress.mjs", "--times", "1", "--load", "memory,disk", file]);
  expect([status, lines.at(-1)]).toEqual([0, "1 passed, 0 failed"]);
});

test.each(["cpu", "disk", "memory"])(
  "a process of the load %s works until its parent closes its input",
  async (kind) => {
    const load = spawn(process.execPath, ["scripts/load.mjs", kind], {
      cwd: ROOT,
      stdio: ["pipe", "ignore", "inherit"],
    });
    const ended = once(load, "exit");
    const workedMs = () => Number(readFileSync(`/proc/${load.pid}/stat`, "latin1").split(") ")[1]!.split(" ")[11]);
    await expect.poll(workedMs).toBeGreaterThan(0);
    expect(load.exitCode).toBeNull();
    load.stdin.end();
    expect(await ended).toEqual([0, null]);
  },
);

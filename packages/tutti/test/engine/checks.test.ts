// Verification commands run for real in the merged tree, and their exit codes count more than claims.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { checkRunner } from "../../src/main/sessions.ts";
import { detectChecks } from "../../src/session/detect-checks.ts";
import { MemoryStore } from "../../src/store/memory.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

const config = { autoSpawn: true };
const open = (store = new MemoryStore()): Engine => lab.open(store, { checks: checkRunner(lab.data) });
const passes = { phase: "verification", data: { status: "passed", summary: "all is well" } };
/** Verification turns of the main session; the last one repeats. */
const verifies = (...turns: object[]) => [
  { match: { role: "main", phase: "verification" }, turns },
  ...mainSession([{ id: "one" }, { id: "two" }]),
  goodWorker,
];

async function carriedOut(engine: Engine, sessions: object[], verification: object) {
  const phases = { verification: { enabled: true, ...verification } };
  const id = await lab.begin(engine, lab.scenario(sessions), { config, phases });
  await untilOver(engine, id);
  await engine.settled(id);
  return engine.result(id);
}

describe("verification commands", () => {
  it("run in the merged tree and are evidence of the result with exit code, duration and output", async () => {
    const engine = open();
    const commands = [
      { name: "files", run: "ls docs && pwd >&2" },
      { name: "leftover", run: "echo trash > trash.txt && test ! -e docs/three.md" },
    ];
    const { outcome, verification, outputFiles } = await carriedOut(engine, verifies({ block: passes }), { commands });
    expect(outcome).toBe("success");
    expect(verification).toEqual({
      status: "passed",
      summary: "all is well",
      commands: [
        {
          ...commands[0],
          exitCode: 0,
          durationMs: expect.any(Number),
          // The pipes of stdout and stderr may be read in either order.
          output: expect.stringMatching(/^(?=[\s\S]*worktrees)[\s\S]*one\.md\ntwo\.md\n/),
        },
        { ...commands[1], exitCode: 0, durationMs: expect.any(Number), output: "" },
      ],
    });
    // Files that a command leaves behind are no work.
    expect(outputFiles).toEqual(["docs/one.md", "docs/two.md"]);
  });

  it("are found in the merged tree if the template says auto", async () => {
    writeFileSync(join(lab.repo, "package.json"), JSON.stringify({ scripts: { test: "test -e docs/one.md" } }));
    lab.git("add", "package.json");
    lab.git("commit", "--quiet", "-m", "a test");
    const { outcome, verification } = await carriedOut(open(), verifies({ block: passes }), { commands: "auto" });
    expect([outcome, verification?.commands]).toMatchObject(["success", [{ run: "npm run test", exitCode: 0 }]]);
  });

  it("that fail make a run with a passed verification degraded, and the causes say so", async () => {
    const commands = [
      { name: "tests", run: "echo two are red; exit 3" },
      { name: "slow", run: "sleep 60", timeout: 50 },
    ];
    const result = await carriedOut(open(), verifies({ block: passes }), { commands });
    expect(result).toMatchObject({
      status: "completed",
      outcome: "degraded",
      verification: { commands: [{ exitCode: 3, output: "two are red" }, { exitCode: 124 }] },
    });
    expect(result.causes).toEqual([
      {
        taskId: "main",
        status: "contradicted",
        reason:
          'the verification reported "passed", but the command "tests" failed with exit code 3 and the command "slow" failed with exit code 124',
      },
    ]);
  });

  it("appear in the prompt of the verification with the output of those that failed", async () => {
    const store = new MemoryStore();
    const engine = open(store);
    const says = { say: "{PROMPT}", block: passes };
    const commands = [{ name: "tests", run: "echo red here; exit 1" }];
    const { id } = await carriedOut(engine, verifies(says), { commands });
    const { renderPrompt } = await import("../../src/engine/sessions/prompt.ts");
    const prompt = renderPrompt(engine.get(id)!, "verification", null, null, "/x").text;
    expect(prompt).toContain("- tests: `echo red here; exit 1` ended with exit code 1 after");
    expect(prompt).toContain("red here");
  });

  it("run again after the main session has changed the result, and a fix makes them pass", async () => {
    const store = new MemoryStore();
    const commands = [{ name: "fixed", run: "test -e fixed.txt" }];
    const fixes = { tools: ["Write"], write: { "fixed.txt": "now\n" }, block: passes };
    const { outcome, verification } = await carriedOut(open(store), verifies(fixes), { commands });
    expect(outcome).toBe("success");
    expect(verification).toMatchObject({ commands: [{ exitCode: 0 }] });
    const codes = store
      .read({})
      .flatMap((event) => (event.type === "verification:checked" ? [event.data.commands[0]!.exitCode] : []));
    expect(codes).toEqual([1, 0]);
  });

  it("give the main session one more turn if the template enables autoFix (E02)", async () => {
    const store = new MemoryStore();
    const commands = [{ name: "fixed", run: "test -e fixed.txt" }];
    const fixes = { tools: ["Write"], write: { "fixed.txt": "now\n" }, block: passes };
    const result = await carriedOut(open(store), verifies({ block: passes }, fixes), { commands, autoFix: true });
    expect(result.outcome).toBe("success");
    const fixing = store
      .read({})
      .flatMap((event) => (event.type === "verification:fixing" ? [event.data.reasons] : []));
    expect(fixing).toEqual([['the command "fixed" failed with exit code 1']]);
    // The second failure is final.
    const failed = { phase: "verification", data: { status: "failed", summary: "it is broken" } };
    const again = await carriedOut(open(), verifies({ block: failed }), { commands, autoFix: true });
    expect(again).toMatchObject({ status: "error", outcome: "failed", verification: { commands: [{ exitCode: 1 }] } });
  });

  it("end with the run when it is cancelled", async () => {
    const store = new MemoryStore();
    const engine = open(store);
    const mark = join(lab.folder, "began");
    const commands = [{ name: "endless", run: `touch ${mark}; sleep 600` }];
    const phases = { verification: { enabled: true, commands } };
    const id = await lab.begin(engine, lab.scenario(verifies({ block: passes })), { config, phases });
    await engine.until(id, ({ checks }) => checks?.isRunning === true);
    await engine.order(id, "cancel");
    await engine.settled(id);
    expect((await engine.result(id)).outcome).toBe("cancelled");
    expect(store.read({}).some(({ type }) => type === "verification:checked")).toBe(false);
  });
});

describe("a worker that reports output files", () => {
  it("that it did not write makes the run degraded, and the causes name them", async () => {
    const claims = worker("one", {
      tools: ["Write"],
      write: { "real.md": "real\n" },
      block: done({ output_files: ["real.md", "invented.md"] }),
    });
    const agent = lab.scenario([...mainSession([{ id: "one" }]), claims]);
    const engine = open();
    const id = await lab.begin(engine, agent, { config });
    await untilOver(engine, id);
    expect(await engine.result(id)).toMatchObject({
      outcome: "degraded",
      causes: [{ taskId: "one", status: "contradicted", reason: 'it reported files that do not exist: "invented.md"' }],
    });
  });
});

describe("an aggregation that reports output files", () => {
  const carriedOutWith = async (files: string[], write: object = {}) => {
    const aggregation = { status: "success", summary: "all in one", output_files: files };
    const sessions = mainSession([{ id: "one" }, { id: "two" }], aggregation).map((session) =>
      session.match.phase === "aggregation" ? { ...session, turns: [{ ...session.turns[0], write }] } : session,
    );
    return carriedOut(open(), [...sessions, goodWorker], { enabled: false });
  };

  it("of the tasks or of its own is a success", async () => {
    const result = await carriedOutWith(["docs/one.md", "./docs/two.md", "index.md"], { "index.md": "# All\n" });
    expect(result).toMatchObject({ outcome: "success", causes: [], warnings: [] });
  });

  it("that do not exist or did not change makes the run degraded, and the causes and warnings name them", async () => {
    const result = await carriedOutWith(["docs/one.md", "invented.md", "README.md"]);
    const reason =
      'it reported files that do not exist: "invented.md"; it reported files that the run did not change: "README.md"';
    expect(result).toMatchObject({
      outcome: "degraded",
      causes: [{ taskId: "main", status: "contradicted", reason }],
      warnings: reason.split("; ").map((claim) => `main: ${claim}.`),
    });
  });
});

describe("detectChecks", () => {
  it.each<[Record<string, string>, string[]]>([
    [{ "package.json": '{"scripts": {"test": "x", "build": "y", "start": "z"}}' }, ["npm run build", "npm run test"]],
    [{ "package.json": '{"scripts": {"lint": "x"}}', "pnpm-lock.yaml": "" }, ["pnpm run lint"]],
    [{ "package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}' }, []],
    [{ Makefile: "all: x\n\ntest: all\n\tx\n" }, ["make test"]],
    [{ "go.mod": "module x" }, ["go build ./...", "go test ./..."]],
    [{ "Cargo.toml": "[package]" }, ["cargo test"]],
    [{ "pyproject.toml": "[project]" }, ["python -m pytest"]],
    [{ "pom.xml": "<project/>" }, ["mvn --batch-mode test"]],
    [{ "build.gradle": "" }, ["gradle test"]],
    // Scripts and make targets of the project say more than its kind.
    [{ "Cargo.toml": "[package]", Makefile: "test:\n\tcargo test --all\n" }, ["make test"]],
    [{ "pyproject.toml": "[project]", "package.json": '{"scripts": {"lint": "x"}}' }, ["npm run lint"]],
    [{ "README.md": "" }, []],
  ])("finds the commands of %j", async (files, expected) => {
    const folder = join(lab.folder, "project");
    mkdirSync(folder, { recursive: true });
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    expect((await detectChecks(folder)).map(({ run }) => run)).toEqual(expected);
  });

  it("does not wait for a pipe that an agent put in the place of a file", async () => {
    const folder = join(lab.folder, "project");
    mkdirSync(folder);
    for (const name of ["package.json", "yarn.lock", "Cargo.toml"])
      execFileSync("sh", ["-c", 'mkfifo "$0"', join(folder, name)]);
    writeFileSync(join(folder, "Makefile"), "test:\n\tx\n");
    expect(await detectChecks(folder)).toEqual([{ name: "test", run: "make test" }]);
    rmSync(join(folder, "Makefile"));
    expect(await detectChecks(folder)).toEqual([]);
  });
});

describe("a command of an engine that was killed", () => {
  it("is ended by the next engine, with a daemon that emptied its environment", async () => {
    const file = join(lab.folder, "pids");
    const command = `env -i setsid sleep 100000 </dev/null >/dev/null 2>&1 & echo $! $$ > ${file}.new; mv ${file}.new ${file}; sleep 100000`;
    const script = `
      import { checkRunner } from ${JSON.stringify(join(import.meta.dirname, "../../src/main/sessions.ts"))};
      const [dataDir, command, cwd] = process.argv.slice(1);
      const { signal } = new AbortController();
      await checkRunner(dataDir).run(command, { cwd, timeoutMs: 3_600_000, runId: "orch_killed", signal });`;
    const args = ["--input-type=module", "--eval", script, lab.data, command, lab.repo];
    const killed = spawn(process.execPath, args, { stdio: "inherit" });
    await expect.poll(() => existsSync(file)).toBe(true);
    const ended = once(killed, "exit");
    killed.kill("SIGKILL");
    await ended;
    const pids = readFileSync(file, "utf8").trim().split(" ");
    const alive = () => pids.filter((pid) => existsSync(`/proc/${pid}/exe`));
    expect(alive()).toEqual(pids);
    const options = { cwd: lab.repo, timeoutMs: 60_000, runId: "orch_next", signal: new AbortController().signal };
    expect(await checkRunner(lab.data).run("true", options)).toMatchObject({ exitCode: 0 });
    expect(alive()).toEqual([]);
    expect(readdirSync(join(lab.data, "checks"))).toEqual([]);
  });
});

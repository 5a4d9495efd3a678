// Measures the costs of the local agent per file, for generated repositories of 2,000 and of 20,000 files of TypeScript and
// for a mix of 17,400 C headers and files of TypeScript and Python: the CPU time and the peak memory of the main session,
// which reads the tree, and of a worker, which takes over the facts and writes one page (targets: 5 ms per file; 300 MB).
// Run: npm run bench -- session/local-agent
// With TUTTI_BENCH_REPOSITORY=FOLDER: measures a copy of that repository instead.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localDriver } from "../../src/session/drivers/local.ts";

const TICKS_PER_SECOND = 100;

function writeScript(root: string, index: number, files: number): void {
  const folder = join(root, `src/area${index % 50}/part${index % 7}`);
  const next = (index + 50) % files;
  mkdirSync(folder, { recursive: true });
  const functions = Array.from(
    { length: 6 },
    (_, step) =>
      `/** Does step ${step}. */\nexport function f${index}x${step}(a: number): number {\n  return [a].map((b) => b * ${step})[0]!;\n}\n`,
  );
  const used = `f${next}x1`;
  const text = `import { ${used} } from "../part${next % 7}/f${next}.ts";\n${functions.join("\n")}\nexport const v${index} = ${used}(1);\n`;
  writeFileSync(join(folder, `f${index}.ts`), text);
}

/** Most headers are small; every 50th describes the registers of a device, with thousands of names. */
function writeHeader(root: string, index: number): void {
  const folder = join(root, `drivers/device${index % 40}`);
  mkdirSync(folder, { recursive: true });
  const names = Array.from({ length: index % 50 === 0 ? 6_000 : 50 }, (_, name) =>
    name % 5 === 0
      ? `/* Reads register ${name}. */\nint dev${index}_read_${name}(struct device *dev, unsigned int flags);\n`
      : `#define DEV${index}_REGISTER_${name}__SHIFT 0x${name.toString(16)}\n`,
  );
  writeFileSync(join(folder, `h${index}.h`), `#include "h${(index + 40) % 10_000}.h"\n${names.join("")}`);
}

function writePython(root: string, index: number): void {
  const folder = join(root, `tools/kit${index % 20}`);
  mkdirSync(folder, { recursive: true });
  const functions = Array.from(
    { length: 20 },
    (_, step) => `def step_${index}_${step}(value: int) -> int:\n    """Does step ${step}."""\n    return value\n`,
  );
  writeFileSync(join(folder, `m${index}.py`), `import os\n\n\n${functions.join("\n\n")}`);
}

interface BenchRepository {
  name: string;
  /** Fills the empty folder `root`. */
  fill: (root: string) => void;
}

const REPOSITORIES: BenchRepository[] = [
  ...[2_000, 20_000].map((files) => ({
    name: `${files} files`,
    fill: (root: string) => {
      for (let index = 0; index < files; index += 1) writeScript(root, index, files);
    },
  })),
  {
    name: "mix with C headers",
    fill: (root) => {
      for (let index = 0; index < 10_000; index += 1) writeHeader(root, index);
      for (let index = 0; index < 5_400; index += 1) writeScript(root, index, 5_400);
      for (let index = 0; index < 2_000; index += 1) writePython(root, index);
    },
  },
];

const given = process.env["TUTTI_BENCH_REPOSITORY"];
const repositories: BenchRepository[] = given
  ? [{ name: given, fill: (root) => execFileSync("git", ["clone", "-q", given, root]) }]
  : REPOSITORIES;

interface Cost {
  cpuSeconds: number;
  peakMegabytes: number;
}

/** Asks one process for the `phases`. Returns the answers, and the costs of the process before it ends. */
async function measure(cwd: string, phases: Record<string, object>): Promise<Cost & { answers: string[] }> {
  const [program, ...args] = localDriver.launch().command;
  const child = spawn(program!, args, { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const answers: string[] = [];
  for (const [phase, variables] of Object.entries(phases)) {
    let output = "";
    const answered = new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('"turn_end"')) resolve();
      });
    });
    child.stdin.write(`${JSON.stringify({ type: "user", phase, text: "Document it.", variables })}\n`);
    await answered;
    child.stdout.removeAllListeners("data");
    answers.push(output);
  }
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  const peak = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))![1];
  child.stdin.end();
  await new Promise((resolve) => child.on("close", resolve));
  const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  return { answers, cpuSeconds, peakMegabytes: Number(peak) / 1024 };
}

/** The data of the last response block in the output of a turn. */
function dataOf(output: string): Record<string, unknown> {
  const texts = output.split("\n").flatMap((line) => (line.includes('"assistant"') ? [JSON.parse(line).text] : []));
  const block = /<<<ORCHESTRATOR_RESPONSE>>>([^]*)<<<END/.exec(texts.at(-1) as string)![1]!;
  return (JSON.parse(block) as { data: Record<string, unknown> }).data;
}

function git(cwd: string, ...args: string[]): void {
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd });
}

for (const { name, fill } of repositories) {
  const root = mkdtempSync(join(tmpdir(), "tutti-bench-local-"));
  try {
    fill(root);
    if (!given) {
      writeFileSync(join(root, "package.json"), '{"name":"large"}');
      git(root, "init", "-q");
      git(root, "add", ".");
      git(root, "commit", "-q", "-m", "Start");
    }
    const files = execFileSync("git", ["ls-files"], { cwd: root, maxBuffer: 1e9 }).toString().split("\n").length - 1;
    const report = (session: string, { cpuSeconds, peakMegabytes }: Cost): void => {
      const perFile = ((cpuSeconds * 1_000) / files).toFixed(2);
      const time = `${cpuSeconds.toFixed(1)} s of CPU time, ${perFile} ms per file`;
      console.log(`${name} (${files}), ${session}: ${time}; peak memory ${peakMegabytes.toFixed(0)} MB`);
    };
    const workspace = join(root, ".git/workspace");
    git(root, "worktree", "add", "-q", "--detach", workspace);
    const main = await measure(root, { analysis: {}, taskPlanning: {} });
    report("main session", main);
    const [analysis, plan] = main.answers.map(dataOf);
    const tasks = plan!["tasks"] as { title: string; scope: string[] }[];
    const [first] = tasks;
    const variables = { TASK_TITLE: first!.title, TASK_SCOPE: first!.scope };
    const facts = { ANALYSIS_JSON: JSON.stringify(analysis) };
    report("worker", await measure(workspace, { workerExecution: { ...variables, ...facts } }));
    report("worker without the facts of the main session", await measure(workspace, { workerExecution: variables }));
    const last = tasks.at(-1)!;
    const overview = { TASK_TITLE: last.title, TASK_SCOPE: last.scope, ...facts };
    report("overview", await measure(workspace, { workerExecution: overview }));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

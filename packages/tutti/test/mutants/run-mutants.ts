// `npm run mutants`: breaks rows of the requirements in a copy of the repository and expects the tests that cite them
// to fail. A mutant survives if they all pass; then the citation is wrong or the test is too weak.
//
//   npm run mutants                      60 rows, chosen by a seed that is printed; each commit has its own
//   npm run mutants -- --seed 7 --rows 200
//   npm run mutants -- --row D4-503      one row with all its mutants; repeat the option for more
//   npm run mutants -- --all             every row
//
// 1. The repository itself is never changed: each worker has a copy, whose `node_modules` links to the installed one.
// 2. All chosen tests must pass unchanged first, so that a failure is the mutant's doing.
// 3. Only a failed test that cites the row kills the mutant. A file that cannot be loaded is a mistake in the table.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { randomFrom } from "../lab/random.ts";
import { readCitations, type Citation } from "./citations.ts";
import { mutate, type Mutant } from "./mutant.ts";
import { MUTANTS } from "./table.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const TESTS = "packages/tutti/test";
/** A mutant may make a test wait forever. */
const TEST_TIMEOUT_MS = 45_000;
const HANG_MS = 600_000;

interface Trial {
  readonly mutant: Mutant;
  readonly rows: string[];
}

interface Report {
  testResults: { message?: string; assertionResults: { fullName: string; status: string }[] }[];
}

const { values: options } = parseArgs({
  options: {
    seed: { type: "string" },
    rows: { type: "string", default: "60" },
    row: { type: "string", multiple: true },
    all: { type: "boolean", default: false },
    workers: { type: "string", default: "2" },
  },
});

const seed = options.seed === undefined ? seedOfCommit() : Number(options.seed);
const citations = readCitations(join(ROOT, TESTS)).filter(({ file }) => !file.startsWith("agents/"));
const random = randomFrom(seed);
const trials = chooseTrials();
const scratch = mkdtempSync(join(tmpdir(), "tutti-mutants-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
process.exitCode = await main();

/** Repeats for the same commit, so that a failure of the gate can be repeated. Random outside a clone. */
function seedOfCommit(): number {
  const { stdout, status } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" });
  return status === 0 ? Number.parseInt(stdout.slice(0, 6), 16) : Math.floor(Math.random() * 1_000_000);
}

async function main(): Promise<number> {
  const rows = trials.flatMap((trial) => trial.rows);
  const how = options.row || options.all ? "" : `, seed ${seed}`;
  console.log(`${rows.length} rows, ${trials.length} mutants${how}`);
  const workers = Array.from({ length: Math.min(Number(options.workers), trials.length) }, (_, i) => copyTree(`${i}`));
  if (workers.length === 0) throw new Error("No row was chosen. List rows with --row, or all with --all.");
  const unfit = unfitRows(await runCiting(workers[0]!, rows, [`--testTimeout=${3 * TEST_TIMEOUT_MS}`]), rows);
  if (unfit.length > 0) {
    for (const problem of unfit) console.log(`FAIL ${problem}`);
    console.log(`0 passed, ${unfit.length} failed`);
    return 1;
  }
  const queue = [...trials];
  const survivors: string[] = [];
  let killed = 0;
  await Promise.all(
    workers.map(async (tree) => {
      for (let trial = queue.shift(); trial; trial = queue.shift()) {
        const { mutant } = trial;
        const problems = await survivingRows(tree, trial);
        killed += trial.rows.length - problems.length;
        const verdict = problems.length === 0 ? "killed  " : "SURVIVED";
        console.log(
          `${verdict} ${trial.rows.join(", ")}  ${mutant.file}  ${oneLine(mutant.find)} → ${oneLine(mutant.replace)}`,
        );
        survivors.push(...problems);
      }
    }),
  );
  for (const problem of survivors) console.log(`FAIL ${problem}`);
  console.log(`${killed} passed, ${survivors.length} failed`);
  return survivors.length === 0 && killed > 0 ? 0 : 1;
}

/**
 * Selects the rows to break: with --row or --all each with all its mutants, otherwise a sample with one mutant each.
 */
function chooseTrials(): Trial[] {
  const byRow = new Map<string, Mutant[]>();
  for (const mutant of MUTANTS) for (const row of mutant.rows) byRow.set(row, [...(byRow.get(row) ?? []), mutant]);
  const known = [...byRow.keys()].toSorted();
  const unknown = options.row?.filter((row) => !byRow.has(row)) ?? [];
  if (unknown.length > 0) throw new Error(`There is no mutant for ${unknown.join(", ")}. Add one to the table.`);
  const chosen = options.row ?? (options.all ? known : shuffle(known).slice(0, Number(options.rows)));
  const rowsOf = new Map<Mutant, string[]>();
  for (const row of chosen) {
    const all = byRow.get(row)!;
    for (const mutant of options.row || options.all ? all : [all[Math.floor(random() * all.length)]!])
      rowsOf.set(mutant, [...(rowsOf.get(mutant) ?? []), row]);
  }
  return [...rowsOf].map(([mutant, rows]) => ({ mutant, rows }));
}

/** Applies the mutant in `tree` and returns a sentence for each of its rows that no test detected. */
async function survivingRows(tree: string, { mutant, rows }: Trial): Promise<string[]> {
  const file = join(tree, "packages", mutant.file);
  const original = readFileSync(file, "utf8");
  writeFileSync(file, mutate(original, mutant));
  try {
    const report = await runCiting(tree, rows, [`--testTimeout=${TEST_TIMEOUT_MS}`]);
    const failed = testsOf(report, "failed");
    const broken = report.testResults.find(({ assertionResults, message }) => message && assertionResults.length === 0);
    return rows
      .filter((row) => !spellings(row).some((spelling) => failed.some((name) => name.includes(spelling))))
      .map((row) =>
        broken
          ? `${row}: the tests do not run with the mutant of ${mutant.file}: ${oneLine(broken.message ?? "")}`
          : `${row}: no test that cites it fails when ${mutant.file} has ${oneLine(mutant.replace)} for ${oneLine(mutant.find)}`,
      );
  } finally {
    writeFileSync(file, original);
  }
}

/** Returns a sentence for each row whose tests fail or do not run without a mutant. */
function unfitRows(report: Report, rows: string[]): string[] {
  const broken = report.testResults.flatMap(({ message, assertionResults }) =>
    message && assertionResults.length === 0 ? [oneLine(message)] : [],
  );
  const failed = testsOf(report, "failed").map((name) => `${name} fails without any mutant`);
  const passed = testsOf(report, "passed");
  const unseen = rows
    .filter((row) => !spellings(row).some((spelling) => passed.some((name) => name.includes(spelling))))
    .map((row) => `${row}: no test that cites it passes`);
  return [...broken, ...failed, ...unseen];
}

/** Runs the tests that cite one of the rows. */
async function runCiting(tree: string, rows: string[], limits: string[] = []): Promise<Report> {
  const cited = citations.filter(({ row }) => rows.includes(row));
  const files = [...new Set(cited.map(({ file }) => join(TESTS, file)))];
  const pattern = [...new Set(cited.map(({ spelling }) => spelling.replaceAll(".", String.raw`\.`)))].join("|");
  const output = join(tree, "report.json");
  rmSync(output, { force: true });
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const args = [vitest, "run", ...files, "-t", pattern, ...limits, "--reporter=json", `--outputFile=${output}`];
  const text = await new Promise<string>((resolve) => {
    const child = spawn(process.execPath, args, { cwd: tree, stdio: ["ignore", "pipe", "pipe"], detached: true });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (printed += chunk));
    // A mutant may make a Vitest process loop forever, which no test timeout ends.
    const hang = setTimeout(() => killGroup(child.pid!), HANG_MS);
    child.once("close", () => {
      clearTimeout(hang);
      killGroup(child.pid!);
      resolve(printed);
    });
  });
  try {
    return JSON.parse(readFileSync(output, "utf8")) as Report;
  } catch {
    return { testResults: [{ message: `Vitest wrote no report:\n${text}`, assertionResults: [] }] };
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process group has already ended.
  }
}

function spellings(row: string): string[] {
  return citations.filter((citation: Citation) => citation.row === row).map(({ spelling }) => spelling);
}

function testsOf(report: Report, wanted: "passed" | "failed"): string[] {
  return report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === wanted)
    .map(({ fullName }) => fullName);
}

/** Copies the files that git would commit. The workspace packages in the copy's `node_modules` link to the copies. */
function copyTree(name: string): string {
  const tree = join(scratch, name);
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  for (const file of new Set(listed.toString().split("\0").filter(Boolean))) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    cpSync(join(ROOT, file), join(tree, file), { force: true });
  }
  mkdirSync(join(tree, "node_modules"));
  for (const entry of readdirSync(join(ROOT, "node_modules"))) {
    if (entry === ".cache" || entry.startsWith(".vite")) continue;
    const target = entry === "tutti" ? join("..", "packages", "tutti") : join(ROOT, "node_modules", entry);
    symlinkSync(target, join(tree, "node_modules", entry));
  }
  return tree;
}

function shuffle<T>(items: T[]): T[] {
  const shuffled = [...items];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1));
    [shuffled[i], shuffled[other]] = [shuffled[other]!, shuffled[i]!];
  }
  return shuffled;
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return JSON.stringify(line.length > 90 ? `${line.slice(0, 90)}…` : line);
}

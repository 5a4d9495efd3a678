// `npm run test:stress`: repeats the tests under load, and reports each test whose result varies.
//
//   npm run test:stress                                       the whole suite, five times
//   npm run test:stress -- --times 20 packages/tutti/test/engine
//   npm run test:stress -- --load cpu,cpu,disk,memory -t "a title"
//
// Other arguments go to Vitest. The default load is one CPU burner per core, one disk writer and one memory toucher.
// `--load` selects others; `--load none` disables it.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { provide } from "./provide.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");

/** @typedef {import("./test-reporter.mjs").FileResult} FileResult */
/** @typedef {{ file: string, title: string, statuses: string[], seconds: number[], message: string }} History */

const { times, kinds, rest } = readArguments(process.argv.slice(2));
process.exitCode = await stress();

/** @param {string[]} argv */
function readArguments(argv) {
  const rest = [...argv];
  const take = (/** @type {string} */ name, /** @type {string} */ otherwise) => {
    const at = rest.indexOf(name);
    return at === -1 ? otherwise : (rest.splice(at, 2)[1] ?? otherwise);
  };
  const cores = Array.from({ length: availableParallelism() }, () => "cpu");
  const kinds = take("--load", [...cores, "disk", "memory"].join(","));
  return { times: Number(take("--times", "5")), kinds: kinds === "none" ? [] : kinds.split(","), rest };
}

async function stress() {
  const env = await provide();
  const folder = mkdtempSync(join(tmpdir(), "tutti-stress-"));
  const load = kinds.map((kind) =>
    spawn(process.execPath, [join(root, "scripts", "load.mjs"), kind], { stdio: ["pipe", "ignore", "inherit"] }),
  );
  console.log(`${times} repetitions, load: ${kinds.join(", ") || "none"}`);
  /** @type {Map<string, History>} */
  const histories = new Map();
  try {
    for (let repetition = 1; repetition <= times; repetition++) await repeat(repetition, folder, env, histories);
  } finally {
    for (const process of load) process.kill("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
  return report([...histories.values()]);
}

/**
 * @param {number} repetition
 * @param {string} folder
 * @param {NodeJS.ProcessEnv} env
 * @param {Map<string, History>} histories
 */
async function repeat(repetition, folder, env, histories) {
  const file = join(folder, `${repetition}.json`);
  const started = performance.now();
  const output = await runVitest(file, env);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  if (!existsSync(file)) {
    console.log(`repetition ${repetition}: Vitest wrote no report\n${output}`);
    record(histories, { file: "Vitest", title: "writes a report", status: "failed", seconds: 0, message: output });
    return;
  }
  /** @type {FileResult[]} */
  const files = JSON.parse(readFileSync(file, "utf8"));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { file, status, message, tests } of files) {
    for (const test of tests) record(histories, { file, ...test, status: test.retries > 0 ? "retried" : test.status });
    const failed = tests.filter((test) => test.status === "failed").length;
    counts.passed += tests.filter((test) => test.status === "passed").length;
    counts.failed += failed;
    counts.skipped += tests.filter((test) => test.status === "skipped").length;
    if (status !== "failed" || failed > 0) continue;
    counts.failed += 1;
    record(histories, { file, title: "(outside its tests)", status: "failed", seconds: 0, message });
  }
  const { passed, failed, skipped } = counts;
  console.log(`repetition ${repetition}: ${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds} s`);
}

/**
 * @param {Map<string, History>} histories
 * @param {{ file: string, title: string, status: string, seconds: number, message: string }} result
 */
function record(histories, { file, title, status, seconds, message }) {
  const key = `${file}\0${title}`;
  const history = histories.get(key) ?? { file, title, statuses: [], seconds: [], message: "" };
  history.statuses.push(status);
  history.seconds.push(seconds);
  history.message ||= message;
  histories.set(key, history);
}

/** @param {History[]} histories */
function report(histories) {
  const isBad = (/** @type {string} */ status) => status === "failed" || status === "retried";
  const unsteady = histories.filter(({ statuses }) => statuses.some(isBad) || new Set(statuses).size > 1);
  for (const { file, title, statuses, seconds, message } of unsteady) {
    const failed = statuses.filter(isBad).length;
    const span = `${Math.min(...seconds).toFixed(1)} to ${Math.max(...seconds).toFixed(1)} s`;
    console.log(`\nFAIL ${file}: ${title}\n     failed ${failed} of ${statuses.length} times, ${span}\n${message}`);
  }
  console.log(`${histories.length - unsteady.length} passed, ${unsteady.length} failed`);
  return unsteady.length === 0 && histories.length > 0 ? 0 : 1;
}

/**
 * @param {string} report
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string>}
 */
function runVitest(report, env) {
  const args = ["run", `--reporter=${join(root, "scripts", "test-reporter.mjs")}`, ...rest];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [vitest, ...args], {
      cwd: root,
      env: { ...process.env, ...env, TUTTI_TEST_REPORT: report },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    child.once("close", () => resolve(output));
  });
}

// The checks of this repository. The first argument selects them:
//
//   npm test             (none)     static steps, then all tests except those of the real agent programs
//   npm run verify       --static   static steps: format, lint, types, unused code, lock file
//   npm run test:quick   --quick    static steps, the rules, the protocols and one real run; for every edit
//   npm run test:long    --long     the tests that depend on chance or size, repeated more often; about three minutes
//   npm run test:agents  --agents   the tests of the real agent programs, which `npm run agents:install` installs
//
// 1. Every step runs, even after a failure, so that one run lists every problem.
// 2. A static step prints its output only if it fails. `test-reporter.mjs` prints the progress of the tests.
// 3. The last line is `N passed, N failed`, with `, N skipped` if there are any. It counts static steps and tests.
// 4. The exit code is 0 only if nothing failed and, without `--static`, at least one test passed.
//
// All other arguments go to Vitest: `npm test -- packages/tutti/test/run`.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isInstalled } from "./agents.mjs";
import { countTests } from "./count-tests.mjs";
import { provide } from "./provide.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const reporter = join(root, "scripts", "test-reporter.mjs");
const bin = join(root, "node_modules", ".bin");
const pinnedNode = join(bin, "node");
/** @type {NodeJS.ProcessEnv} */
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` };

/**
 * The compiler and the type-aware linter are programs in Go. They run at the same time, so threads of one only delay the
 * other, and a garbage collector with more room costs half as much.
 */
const staticEnv = { ...env, GOGC: "400", GOMAXPROCS: "1" };

// The names of scripts in package.json, which defines the commands.
const staticSteps = ["format:check", "lint", "typecheck", "unused", "lock:check"];

/** Arguments of Vitest: first the rules and the protocols, then one real run. */
const quickTests = [
  ["run", "protocol", "schema", "repository/architecture.test.ts"].map((name) => `packages/tutti/test/${name}`),
  ["packages/tutti/test/cli/run.test.ts", "-t", "goes through all five phases"],
];

/** Arguments of Vitest: the tests that use `repetitions`. */
const longTests = [
  "local-agent/test/large.test.ts",
  "tutti/test/crash",
  "tutti/test/mailbox/many-writers.test.ts",
  "tutti/test/session/memory.test.ts",
  "tutti/test/sim/sim.test.ts",
  "tutti/test/team/gate-model.test.ts",
].map((name) => `packages/${name}`);

if (existsSync(pinnedNode) && realpathSync(pinnedNode) !== realpathSync(process.execPath)) {
  // npm puts the pinned Node first on PATH. A direct start may use another Node.
  const { code } = await run(pinnedNode, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], "inherit");
  process.exitCode = code;
} else {
  await check(process.argv.slice(2));
}

/** @param {string[]} argv */
async function check(argv) {
  const kinds = ["--static", "--quick", "--long", "--agents"];
  const [kind, rest] = kinds.includes(argv[0] ?? "") ? [argv[0], argv.slice(1)] : ["all", argv];
  const total = { passed: 0, failed: 0, skipped: 0 };
  const count = (/** @type {typeof total} */ counts) => {
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  };
  if (kind === "--agents") {
    count(await agentTests(rest));
  } else if (kind === "--long") {
    env["TUTTI_TEST_LONG"] = "1";
    Object.assign(env, await provide());
    count(await vitest([...longTests, ...rest]));
  } else {
    // The installation of programs mostly waits for the network.
    const provided = kind === "all" ? provide() : undefined;
    for (const ok of await Promise.all(staticSteps.map(staticStep))) count({ passed: +ok, failed: +!ok, skipped: 0 });
    // Tests that `-t` excludes are not part of the quick check, so they do not count as skipped.
    if (kind === "--quick") for (const args of quickTests) count({ ...(await vitest([...args, ...rest])), skipped: 0 });
    if (provided) {
      Object.assign(env, await provided);
      count(await vitest(rest));
    }
  }
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
  console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
  process.exitCode = total.failed > 0 ? 1 : 0;
}

/** @param {string[]} argv */
async function agentTests(argv) {
  if (isInstalled()) return vitest(["--mode", "agents", ...argv]);
  console.log("FAIL The agent programs are not installed. Install them with: npm run agents:install");
  return { passed: 0, failed: 1, skipped: 0 };
}

/** @param {string} name */
async function staticStep(name) {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const started = performance.now();
  const { code, output } = await run(scripts[name], [], "pipe", staticEnv);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok  " : "FAIL"} ${name} (${seconds} s)`);
  if (code !== 0) console.log(output.trimEnd());
  return code === 0;
}

/** @param {string[]} argv */
async function vitest(argv) {
  const folder = mkdtempSync(join(tmpdir(), "tutti-test-"));
  try {
    const file = join(folder, "report.json");
    const entry = join(root, "node_modules", "vitest", "vitest.mjs");
    env["TUTTI_TEST_REPORT"] = file;
    const { code } = await run(process.execPath, [entry, "run", `--reporter=${reporter}`, ...argv], "inherit");
    const report = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
    const { problems, ...counts } = countTests(report, code);
    for (const problem of problems) console.log(`FAIL ${problem}`);
    return counts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a program, or a line of package.json's scripts when there are no arguments, in the root of the repository.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {"inherit" | "pipe"} output
 * @param {NodeJS.ProcessEnv} programEnv
 * @returns {Promise<{ code: number, output: string }>}
 */
function run(command, args, output, programEnv = env) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: programEnv,
      shell: args.length === 0,
      stdio: ["inherit", output, output],
    });
    let text = "";
    child.stdout?.on("data", (chunk) => (text += chunk));
    child.stderr?.on("data", (chunk) => (text += chunk));
    // A terminal sends Ctrl-C to the child as well; a supervisor's SIGTERM reaches only this process.
    const forward = () => child.kill("SIGTERM");
    process.once("SIGTERM", forward);
    const end = (/** @type {number} */ code) => {
      process.off("SIGTERM", forward);
      resolve({ code, output: text });
    };
    child.once("error", (error) => {
      text += `${error.message}\n`;
      end(1);
    });
    child.once("close", (code, signal) => end(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

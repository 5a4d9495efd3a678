// The Vitest reporter of `npm test`. It prints a line per file, every failure with the command that reruns it, and at
// the end the slowest tests and those that passed only after a retry. It writes all results to the file named by
// `TUTTI_TEST_REPORT`, which `test.mjs` and `stress.mjs` read.

import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const SLOWEST = 10;

/** @typedef {import("vitest/node").TestCase} TestCase */
/** @typedef {import("vitest/node").TestModule} TestModule */

/**
 * @typedef {{ title: string, status: "passed" | "failed" | "skipped" | "pending", seconds: number, retries: number, message: string }} TestResult
 * @typedef {{ file: string, status: string, message: string, tests: TestResult[] }} FileResult
 */

// oxlint-disable-next-line import/no-default-export -- Vitest loads a reporter by its default export.
export default class TestReporter {
  /** @type {import("vitest/node").Vitest | undefined} */
  #vitest;

  /** @param {import("vitest/node").Vitest} vitest */
  onInit(vitest) {
    this.#vitest = vitest;
  }

  /** @param {TestModule} module */
  onTestModuleEnd(module) {
    const tests = [...module.children.allTests()];
    const failed = tests.filter((test) => test.result().state === "failed");
    const isSound = module.state() !== "failed";
    const seconds = (module.diagnostic().duration / 1000).toFixed(1);
    console.log(`${isSound ? "ok  " : "FAIL"} ${fileOf(module)} (${tests.length} tests, ${seconds} s)`);
    for (const test of failed) this.#printFailure(test);
    if (!isSound && failed.length === 0) this.#printErrors(module.errors(), module);
  }

  /**
   * @param {readonly TestModule[]} modules
   * @param {readonly import("vitest").SerializedError[]} unhandled
   */
  onTestRunEnd(modules, unhandled) {
    const report = process.env["TUTTI_TEST_REPORT"];
    if (report) writeFileSync(report, JSON.stringify(modules.map(resultOf)));
    const tests = modules
      .flatMap((module) => [...module.children.allTests()])
      .filter((test) => test.result().state !== "skipped");
    if (unhandled.length > 0) {
      console.log("\nErrors outside the tests:");
      this.#printErrors(unhandled, modules[0]);
    }
    this.#printSlowest(tests);
    const retried = tests.filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0);
    if (retried.length > 0) console.log("\nPassed only after a retry, so not reliable:");
    for (const test of retried) console.log(`  ${titleOf(test)}\n    ${repeatCommand(test)}`);
    const failed = tests.filter((test) => test.result().state === "failed");
    if (failed.length > 0) console.log("\nFailed:");
    for (const test of failed) console.log(`  ${titleOf(test)}\n    ${repeatCommand(test)}`);
    console.log();
  }

  /** @param {TestCase[]} tests */
  #printSlowest(tests) {
    const timed = tests.map((test) => ({ test, ms: test.diagnostic()?.duration ?? 0 }));
    if (timed.length <= SLOWEST) return;
    console.log(`\nThe slowest ${SLOWEST} of ${timed.length} tests:`);
    for (const { test, ms } of timed.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST))
      console.log(`  ${(ms / 1000).toFixed(1).padStart(5)} s  ${fileOf(test.module)}: ${titleOf(test)}`);
  }

  /** @param {TestCase} test */
  #printFailure(test) {
    console.log(`\nFAIL ${titleOf(test)}`);
    console.log(`     rerun it with: ${repeatCommand(test)}`);
    this.#printErrors(test.result().errors ?? [], test.module);
  }

  /**
   * @param {readonly import("vitest").SerializedError[]} errors
   * @param {TestModule | undefined} module
   */
  #printErrors(errors, module) {
    for (const error of errors) this.#vitest?.logger.printError(error, { project: module?.project });
  }
}

/**
 * @param {TestModule} module
 * @returns {FileResult}
 */
function resultOf(module) {
  const messageOf = (/** @type {readonly import("vitest").SerializedError[]} */ errors) =>
    errors.map(({ message, stack }) => stack ?? message).join("\n");
  return {
    file: fileOf(module),
    status: module.state(),
    message: messageOf(module.errors()),
    tests: [...module.children.allTests()].map((test) => ({
      title: titleOf(test),
      status: test.result().state,
      seconds: (test.diagnostic()?.duration ?? 0) / 1000,
      retries: test.diagnostic()?.retryCount ?? 0,
      message: messageOf(test.result().errors ?? []),
    })),
  };
}

/** @param {TestModule} module */
function fileOf(module) {
  return relative(root, module.moduleId);
}

/**
 * Joins the titles of the groups and the test into one sentence.
 *
 * @param {TestCase} test
 */
function titleOf(test) {
  const titles = [test.name];
  for (let group = test.parent; group.type === "suite"; group = group.parent) titles.unshift(group.name);
  return titles.join(" ");
}

/** @param {TestCase} test */
function repeatCommand(test) {
  const file = fileOf(test.module);
  const mode = file.includes("/test/agents/") ? "--mode agents " : "";
  const pattern = test.fullName.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return `npx vitest run ${mode}${file} -t '${pattern.replaceAll("'", String.raw`'\''`)}'`;
}

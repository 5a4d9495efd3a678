// Counts the tests of a Vitest run from the report of `test-reporter.mjs` and the exit code. Neither suffices alone:
// the report does not contain errors outside tests, and the exit code is 0 if every test was skipped.

/** @typedef {{ file: string, status: string, tests: { status: string }[] }} CountedFile */

/**
 * @param {CountedFile[] | undefined} report
 * @param {number} exitCode
 */
export function countTests(report, exitCode) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  /** @type {string[]} */
  const problems = [];
  for (const { file, status: fileStatus, tests } of report ?? []) {
    const failedBefore = counts.failed;
    for (const { status } of tests) {
      if (status === "passed") counts.passed += 1;
      else if (status === "failed") counts.failed += 1;
      else counts.skipped += 1;
    }
    // A file that cannot be loaded, or whose hooks throw, fails without a failed test.
    if (fileStatus === "failed" && counts.failed === failedBefore) problems.push(`${file} failed outside its tests`);
  }
  if (problems.length === 0 && counts.failed === 0) {
    if (report === undefined) problems.push("Vitest wrote no report");
    else if (counts.passed === 0) problems.push("no test ran");
    else if (exitCode !== 0) problems.push(`Vitest reported errors outside the tests (exit code ${exitCode})`);
  }
  return { ...counts, failed: counts.failed + problems.length, problems };
}

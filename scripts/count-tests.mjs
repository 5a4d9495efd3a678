// What a Vitest run came to, from its JSON report and its exit code.
// The two are compared because neither is enough: the report does not know of errors outside tests,
// and the exit code is 0 when every test was skipped.

/**
 * @typedef {{ status: string }} Assertion
 * @typedef {{ name: string, status: string, message?: string, assertionResults: Assertion[] }} TestFile
 */

/**
 * @param {{ testResults: TestFile[] } | undefined} report
 * @param {number} exitCode
 */
export function countTests(report, exitCode) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  /** @type {string[]} */
  const problems = [];
  for (const file of report?.testResults ?? []) {
    const failedBefore = counts.failed;
    for (const { status } of file.assertionResults) {
      if (status === "passed") counts.passed += 1;
      else if (status === "failed") counts.failed += 1;
      else counts.skipped += 1;
    }
    // A file that cannot be loaded, or whose hooks throw, fails without a failed test.
    if (file.status === "failed" && counts.failed === failedBefore)
      problems.push(`${file.name} failed outside its tests`);
  }
  if (problems.length === 0 && counts.failed === 0) {
    if (report === undefined) problems.push("vitest wrote no report");
    else if (counts.passed === 0) problems.push("no test ran");
    else if (exitCode !== 0) problems.push(`vitest reported errors outside the tests (exit code ${exitCode})`);
  }
  return { ...counts, failed: counts.failed + problems.length, problems };
}

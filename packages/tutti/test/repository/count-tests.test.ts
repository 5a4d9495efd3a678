import { expect, test } from "vitest";
import { countTests } from "../../../../scripts/count-tests.mjs";

function file(status: string, ...tests: string[]) {
  return { file: "a.test.ts", status, tests: tests.map((test) => ({ status: test })) };
}

test("passed, failed and skipped tests are counted over all files", () => {
  const report = [file("failed", "passed", "failed"), file("passed", "passed", "skipped", "todo", "pending")];
  expect(countTests(report, 1)).toEqual({ passed: 2, failed: 1, skipped: 3, problems: [] });
});

test.each([
  ["a file that cannot be loaded", [file("failed"), file("passed", "passed")], 1, /outside its tests/],
  ["a hook that throws after passed tests", [file("failed", "passed")], 1, /outside its tests/],
  ["an unhandled error, though every test passed", [file("passed", "passed")], 1, /errors outside/],
  ["a run without tests", [], 0, /no test ran/],
  ["a run that skipped every test", [file("passed", "skipped")], 0, /no test ran/],
  ["a run that wrote no report", undefined, 0, /no report/],
])("%s counts as one failure", (_title, report, exitCode, problem) => {
  const { failed, problems } = countTests(report, exitCode);
  expect(failed).toBe(1);
  expect(problems).toEqual([expect.stringMatching(problem)]);
});

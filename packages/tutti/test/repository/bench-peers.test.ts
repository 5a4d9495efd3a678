// The packages of the benchmark's peers have a lock file of their own. It must meet the same rules as the main one,
// except for install scripts: the benchmark installs without running any.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkLock } from "../../../../scripts/check-lock.mjs";

const peers = join(import.meta.dirname, "../../bench/beside/peers");
const read = (name: string): object => JSON.parse(readFileSync(join(peers, name), "utf8")) as object;

test("the lock file of the benchmark's peers names no machine and has every platform's binaries", () => {
  const lock = read("package-lock.json") as Parameters<typeof checkLock>[0];
  const problems = checkLock(lock, { "": read("package.json") });
  expect(problems.filter((problem) => !problem.endsWith("has an install script"))).toEqual([]);
});

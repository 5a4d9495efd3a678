// The benchmark beside other engines has packages of its own, outside the workspaces. Their lock is held to the same
// rules as ours, but for install scripts: some of them have one, and the benchmark installs without running any.
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

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../../..");

interface Packed {
  files: { path: string; size: number }[];
}

test("the package contains only the launcher, the build and the schemas", () => {
  // --ignore-scripts lists the packed files without building them.
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const cwd = join(root, "packages/tutti");
  const output = execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [packed] = JSON.parse(output) as Packed[];
  const paths = packed?.files.map((file) => file.path) ?? [];
  expect(paths).toContain("bin/tutti.js");
  expect(paths).toContain("package.json");
  const allowed = /^((bin|dist|schemas)\/.+|package\.json|README\.md|LICENSE)$/;
  expect(paths.filter((path) => !allowed.test(path))).toEqual([]);
  // No image or archive is packed by accident. The largest part of the build is pg-boss with 1.1 MB.
  expect(packed?.files.filter((file) => file.size > 2_000_000)).toEqual([]);
});

test("the package has one entry point, runs on Node 22.18, and has no install script", () => {
  const manifest = JSON.parse(readFileSync(join(root, "packages/tutti/package.json"), "utf8"));
  expect(Object.keys(manifest.exports)).toEqual([".", "./package.json"]);
  expect(manifest.engines.node).toBe(">=22.18");
  for (const name of ["preinstall", "install", "postinstall", "prepare"]) {
    expect(manifest.scripts).not.toHaveProperty(name);
  }
});

test.skipIf(!existsSync(join(root, "AGENTS.md")))("AGENTS.md is under 100 lines", () => {
  const lines = readFileSync(join(root, "AGENTS.md"), "utf8").trimEnd().split("\n");
  expect(lines.length).toBeLessThan(100);
});

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
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
  // No image or bundle is packed by accident.
  expect(packed?.files.filter((file) => file.size > 1_000_000)).toEqual([]);
});

test("the build contains the built-in agent, where its driver finds it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-build-"));
  try {
    const build = (name: string, to: string) => {
      const project = join(root, "packages", name, "tsconfig.build.json");
      // The types are checked by `npm run verify`.
      const args = ["-p", project, "--outDir", join(folder, to), "--noCheck", "--declaration", "false"];
      execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...args]);
    };
    build("tutti", "dist");
    build("local-agent", "dist/local-agent");
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const { localDriver } = await import(join(folder, "dist/session/drivers/local.js"));
    const [node, ...args] = localDriver.launch("").command;
    const prompt = JSON.stringify({ type: "user", phase: "analysis", text: "Document this project." });
    const output = execFileSync(node, args, { cwd: folder, input: `${prompt}\n`, encoding: "utf8" });
    expect(output).toContain("<<<ORCHESTRATOR_RESPONSE>>>");
    expect(output.trimEnd().split("\n").at(-1)).toBe('{"type":"turn_end"}');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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

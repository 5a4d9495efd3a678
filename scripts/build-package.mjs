// Builds everything that the package `tutti` contains: the compiled program and the built-in agent, the dashboard, the
// README and the licence. `npm pack` and `npm publish` in packages/tutti run it first.
import { spawnSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const target = join(root, "packages/tutti");
const tsc = join(root, "node_modules/typescript/bin/tsc");

/** @type {string[][]} */
const steps = [
  ["scripts/build-program.mjs", "--into", "packages/tutti/dist"],
  [tsc, "-p", "packages/tutti/tsconfig.build.json"],
  [tsc, "-p", "packages/local-agent/tsconfig.build.json"],
  ["scripts/build-web.mjs", "--into", "packages/tutti/dist/web"],
];

// A file of an earlier build whose source is gone would be published too.
rmSync(join(target, "dist"), { recursive: true, force: true });
for (const step of steps) {
  // The output of `npm pack --json` is on stdout.
  const { status } = spawnSync(process.execPath, step, { cwd: root, stdio: ["inherit", 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
for (const name of ["README.md", "LICENSE"]) copyFileSync(join(root, name), join(target, name));

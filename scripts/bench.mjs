// Runs the benchmarks in packages/tutti/bench one by one, each in its own process so that none warms up another.
// Figures are ratios within one run, because the absolute speed depends on the machine. Arguments select by name.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

// The figures are about Tutti, not about bubblewrap.
process.env["TUTTI_SANDBOX"] ??= "off";

const root = fileURLToPath(new URL("..", import.meta.url));
// Processes start from the build, as those of the published package do.
const build = [join(root, "scripts/build-program.mjs")];
process.env["TUTTI_BUILD"] ??= spawnSync(process.execPath, build, { cwd: root, encoding: "utf8" }).stdout.trim();
const folder = join(root, "packages/tutti/bench");
const wanted = process.argv.slice(2);

const benchmarks = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".bench.ts"))
  .filter((name) => wanted.length === 0 || wanted.some((word) => name.includes(word)))
  .toSorted();

let failed = 0;
for (const name of benchmarks) {
  const file = join(folder, name);
  console.log(`\n== ${relative(root, file)}`);
  if (spawnSync(process.execPath, ["--expose-gc", file], { stdio: "inherit" }).status !== 0) failed++;
}
console.log(`\n${benchmarks.length - failed} of ${benchmarks.length} benchmarks ran`);
process.exitCode = benchmarks.length === 0 || failed > 0 ? 1 : 0;

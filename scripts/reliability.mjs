// `npm run reliability`: kills and simulations in numbers that `npm test` has no time for, and a fleet in chaos. With `--long`
// also a soak of 2,000 sessions, or of `--sessions N`.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

// The figures are about Tutti, not about bubblewrap.
process.env["TUTTI_SANDBOX"] ??= "off";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({
  options: { long: { type: "boolean", default: false }, sessions: { type: "string", default: "2000" } },
});

// The gate repeats the same kills each time; this command tries others.
const seed = (process.env["TUTTI_TEST_SEED"] ??= String(Date.now() % 1_000_000));
console.log(`TUTTI_TEST_SEED=${seed}`);

/** @type {[env: Record<string, string>, ...args: string[]][]} */
const parts = [
  // 150 kills of engines and servers, 150 of each agent in every phase, and 200 interrupted commands.
  [
    { TUTTI_TEST_KILLS: "150", TUTTI_TEST_INTERRUPTS: "200" },
    "node_modules/vitest/vitest.mjs",
    "run",
    "packages/tutti/test/crash",
  ],
  [{}, "packages/tutti/test/sim/main.ts", "--seeds", "20000", "--kill-points", "10000", "--double"],
  // Servers and hosts are killed, frozen and cut off, and PostgreSQL crashes.
  [{}, "packages/tutti/test/chaos/main.ts", "--tasks", "1000"],
];
if (values.long) parts.push([{}, "packages/tutti/test/soak/main.ts", "--sessions", values.sessions]);

for (const [env, ...args] of parts) {
  console.log(`\n== ${args.join(" ")}`);
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.exitCode = 1;
}

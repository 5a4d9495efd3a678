import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

// Tests of the real agent programs, which `npm run agents:install` has to install first: `npm run test:agents`.
const agents = "packages/tutti/test/agents/**/*.test.ts";

const HANG_MS = 600_000;

export default defineConfig(({ mode }) => ({
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: mode === "agents" ? [agents] : ["packages/*/test/**/*.test.ts"],
    exclude: mode === "agents" ? [] : [agents],
    // These limits end a test that hangs. A test that only waits longer on a busy machine must not reach them.
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    expect: { poll: { timeout: HANG_MS } },
    pool: "forks",
    // Most tests wait for processes of their own most of the time.
    maxWorkers: mode === "agents" ? 2 : 2 * availableParallelism(),
    // The tests start thousands of processes of ours; each would read and strip the same sources again.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compiled") },
  },
}));

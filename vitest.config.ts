import { join } from "node:path";
import { defineConfig } from "vitest/config";

// Tests of the real agent programs, which `npm run agents:install` has to install first: `npm run test:agents`.
const agents = "packages/tutti/test/agents/**/*.test.ts";

export default defineConfig(({ mode }) => ({
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: mode === "agents" ? [agents] : ["packages/*/test/**/*.test.ts"],
    exclude: mode === "agents" ? [] : [agents],
    // The agent programs take seconds to start, many on a busy machine, and a run starts a dozen of them.
    testTimeout: mode === "agents" ? 480_000 : 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
    // The tests start thousands of processes of ours; each would read and strip the same sources again.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compiled") },
  },
}));

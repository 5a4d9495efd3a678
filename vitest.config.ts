import { globSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BatchesInOrder } from "./scripts/test-sequencer.mjs";

// Tests of the real agent programs, which `npm run agents:install` has to install first: `npm run test:agents`.
const agents = "packages/tutti/test/agents/**/*.test.ts";

// Tests that start few processes. They all share processes, which load the sources once.
const light = [
  "{config,mutants,protocol,run,schema,store}/**/*",
  "template/!(gallery)",
  "cli/{board,init,machine-output,program,reference,socket-client,team-lines,templates,tokens}",
  "client/reset-connection",
  "engine/{attempt-key,clock-watch,group-commit,prompt,slots,tool-stats,turn-record}",
  "mailbox/{box,published-files,state-files}",
  "module/{analysis-flow,sub-session-manager,template-manager}",
  "notify/{address-rules,notification-of,notifier,webhook}",
  "repository/{bench-peers,count-tests,deferred-zod,deploy,lock,map}",
  "schedule/{cron,schedules,settings,triggers}",
  "server/{events-page,feed,large-answers,limits,socket-outlet,static-files,templates,token,unread-answers}",
  "session/{classify-failure,line-tail,mask,permission,tested-versions,transcript,usage-limit}",
  "session/{claude,codex}-*",
  "session/acp-recordings",
  "team/team-templates",
].map((name) => `packages/tutti/test/${name}.test.ts`);
light.push("packages/local-agent/test/{compare-names,corpus,javascript,manifests}.test.ts");

// Tests that measure the memory or the time of their own process, and the longest of all.
const alone = [
  "local-agent/test/large",
  "tutti/test/power/power-loss",
  "tutti/test/server/stalled",
  "tutti/test/session/{large-output,memory}",
  "tutti/test/sim/sim",
].map((name) => `packages/${name}.test.ts`);

/** A process loads the sources once for a batch. It starts many processes itself, and a larger one takes longer to fork. */
const FILES_PER_BATCH = 16;
/** A fork copies the page tables of the heap, and helper threads of the garbage collector compete with other processes. */
const SMALL_HEAP = ["--max-semi-space-size=2", "--single-threaded-gc"];
/** The folders with the longest tests come first, so that no long test runs alone at the end. */
const LONG_FOLDERS = ["web", "cli", "engine", "fleet", "session"].map((name) => `packages/tutti/test/${name}/`);

const HANG_MS = 600_000;
/** A poll that hangs ends first, because its message names the condition. */
const POLL_HANG_MS = 480_000;

// The processes of the tests, and the thousands that they start, would each read and strip the same sources again.
process.env["NODE_COMPILE_CACHE"] = join(import.meta.dirname, "node_modules/.cache/compiled");

export default defineConfig(({ mode }) => {
  // Codex hides everything below `/dev` from its commands, so its tests are on disk.
  if (mode === "agents") process.env["TMPDIR"] ??= tmpdir();
  return configOf(mode);
});

const configOf = (mode: string) => ({
  ssr: { resolve: { conditions: ["tutti-source"] } },
  test: {
    projects:
      mode === "agents"
        ? [{ extends: true, test: { name: "agents", include: [agents] } }]
        : [
            { extends: true, test: { name: "alone", include: alone } },
            ...batches().map((include, i) => ({
              extends: true as const,
              test: { name: `batch ${i + 1}`, include, isolate: false, execArgv: SMALL_HEAP },
            })),
            { extends: true, test: { name: "light", include: light, isolate: false, execArgv: SMALL_HEAP } },
          ],
    // These limits end a test that hangs. A test that only waits longer on a busy machine must not reach them.
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    expect: { poll: { timeout: POLL_HANG_MS } },
    pool: "forks",
    // Node loads the sources itself, with its compile cache. Vite would transform and evaluate them for each test file.
    server: { deps: { external: [/\/packages\/(?:tutti|local-agent)\/src\/.*\.ts$/] } },
    globalSetup: "packages/tutti/test/lab/shared-folder.ts",
    sequence: { sequencer: BatchesInOrder },
    // Most tests wait for processes of their own most of the time.
    maxWorkers: mode === "agents" ? 2 : 2 * availableParallelism(),
    // Agents of tests write files and wait for files anywhere. Tests about the sandbox switch it on themselves.
    env: { TUTTI_SANDBOX: "off" },
  },
});

function batches(): string[][] {
  const files = globSync("packages/*/test/**/*.test.ts", { exclude: [agents, ...alone, ...light] });
  const rank = (file: string) => LONG_FOLDERS.findIndex((folder) => file.startsWith(folder)) >>> 0;
  const sorted = files.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return Array.from({ length: Math.ceil(sorted.length / FILES_PER_BATCH) }, (_, i) =>
    sorted.slice(i * FILES_PER_BATCH, (i + 1) * FILES_PER_BATCH),
  );
}

import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongFilesFirst } from "./scripts/test-sequencer.mjs";

// Tests of the real agent programs, which `npm run agents:install` has to install first: `npm run test:agents`.
const agents = "packages/tutti/test/agents/**/*.test.ts";

// Tests that start few processes and keep no state in modules. They share a process, which compiles the sources once.
// The others are better off alone: a large process takes long to fork.
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

const HANG_MS = 600_000;

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
            { extends: true, test: { name: "light", include: light, isolate: false } },
            {
              extends: true,
              test: { name: "heavy", include: ["packages/*/test/**/*.test.ts"], exclude: [agents, ...light] },
            },
          ],
    // These limits end a test that hangs. A test that only waits longer on a busy machine must not reach them.
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    expect: { poll: { timeout: HANG_MS } },
    pool: "forks",
    // Node loads the sources itself, with its compile cache. Vite would transform and evaluate them for each test file.
    server: { deps: { external: [/\/packages\/(?:tutti|local-agent)\/src\/.*\.ts$/] } },
    globalSetup: "packages/tutti/test/lab/shared-folder.ts",
    sequence: { sequencer: LongFilesFirst },
    // Most tests wait for processes of their own most of the time.
    maxWorkers: mode === "agents" ? 2 : 2 * availableParallelism(),
    // Agents of tests write files and wait for files anywhere. Tests about the sandbox switch it on themselves.
    env: { TUTTI_SANDBOX: "off" },
  },
});

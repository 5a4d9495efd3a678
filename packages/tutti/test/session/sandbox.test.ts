// Sessions in the sandbox under real keepers.
import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SessionLab } from "./session-lab.ts";
import { commitAll, key, laboratory, write } from "../workspace/laboratory.ts";
import { withBubblewrap } from "../lab/bubblewrap.ts";
import { sandboxOf } from "../../src/engine/choose-sandbox.ts";
import { WIDEN } from "../../src/run/plan/sparse-scope.ts";
import type { Run } from "../../src/schema/run.ts";
import { isAlive, type ProcessIdentity } from "../../src/session/process.ts";
import { planSandbox } from "../../src/session/sandbox/plan-sandbox.ts";
import type { Session } from "../../src/session/session.ts";

let lab: SessionLab;
beforeEach(() => {
  lab = new SessionLab();
});
afterEach(() => lab.tearDown());

/** Starts a detached process, then writes the file `begun`. On SIGTERM it writes `asked` and exits a little later. */
const WORKER = `
  import { spawn } from "node:child_process";
  import { writeFileSync } from "node:fs";
  process.stdin.resume();
  process.on("SIGTERM", () => {
    writeFileSync("asked", "");
    setTimeout(() => process.exit(), 50);
  });
  const sleeper = spawn("sleep", ["86398"], { detached: true, stdio: "ignore", env: {} });
  sleeper.once("spawn", () => writeFileSync("begun", ""));
`;

function open(agent: string, network = true): Session {
  const session = lab.host.open(lab.spec(agent, { sandbox: { network, access: { writable: [lab.cwd] } } }));
  void (async () => {
    for await (const _ of session.signals());
  })();
  return session;
}

const isThere = (name: string) => existsSync(join(lab.cwd, name));

it(
  "an agent in the sandbox can end its work after SIGTERM, and takes its processes with it",
  withBubblewrap(async () => {
    const session = open(lab.program("command", WORKER));
    await expect.poll(() => isThere("begun")).toBe(true);
    expect(lab.processes().some((line) => line.includes("bwrap"))).toBe(true);
    await session.stop();
    expect(isThere("asked")).toBe(true);
    expect(lab.processes()).toEqual([]);
  }),
);

it(
  "the agent ends with its keeper, without an engine that sweeps",
  withBubblewrap(async () => {
    // Long after the death of its keeper is visible, the agent would write `survived` and end its sandbox.
    const agent = lab.program(
      "command",
      `${WORKER}
       import { existsSync } from "node:fs";
       const timer = setInterval(() => {
         if (!existsSync("orphan")) return;
         clearInterval(timer);
         setTimeout(() => {
           writeFileSync("survived", "");
           sleeper.kill("SIGKILL");
           process.exit();
         }, 5000);
       }, 20);`,
    );
    const spec = lab.spec(agent, { sandbox: { network: true, access: { writable: [lab.cwd] } } });
    const session = lab.host.open(spec);
    const signals = session.signals();
    await signals.next();
    await expect.poll(() => isThere("begun")).toBe(true);
    session.leave();
    const folder = join(lab.folder, "sessions", spec.runId, spec.sessionId);
    const keeper = JSON.parse(readFileSync(join(folder, "keeper.json"), "utf8")) as ProcessIdentity;
    process.kill(keeper.pid, "SIGKILL");
    await expect.poll(() => isAlive(keeper)).toBe(false);
    writeFileSync(join(lab.cwd, "orphan"), "");
    await expect.poll(() => lab.processes()).toEqual([]);
    expect(isThere("survived")).toBe(false);
    await session.stop();
  }),
);

it(
  "an agent is in a user namespace of its own, where its capabilities count for nothing outside",
  withBubblewrap(async () => {
    const agent = lab.program(
      "command",
      `import { readlinkSync, renameSync, writeFileSync } from "node:fs";
       writeFileSync("new", readlinkSync("/proc/self/ns/user"));
       renameSync("new", "namespace");
       process.stdin.resume();`,
    );
    const session = open(agent);
    await expect.poll(() => isThere("namespace")).toBe(true);
    expect(readFileSync(join(lab.cwd, "namespace"), "utf8")).not.toBe(readlinkSync("/proc/self/ns/user"));
    await session.stop();
  }),
);

/** Whether a session may use the network with this `config.sandbox` of its template. */
async function networkOf(sandbox: object | undefined): Promise<boolean> {
  const { repo, workspaces, head } = laboratory();
  await workspaces.prepare(repo, key(), head);
  const run = { sandbox: "on", cwd: repo, template: { config: { sandbox } } } as unknown as Run;
  const { network } = (await sandboxOf(run, key(), workspaces))!;
  await workspaces.close();
  return network;
}

it("allows the network unless the template forbids it", async () => {
  const settings = [undefined, {}, { network: true }, { network: false }];
  expect(await Promise.all(settings.map(networkOf))).toEqual([true, true, true, false]);
});

it(
  "an agent reaches the network only if its template allows it",
  withBubblewrap(async () => {
    const server = createServer((connection) => connection.end());
    server.listen({ host: "127.0.0.1", port: 0 });
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const caller = (name: string) =>
      lab.program(
        "command",
        `
      import { connect } from "node:net";
      import { renameSync, writeFileSync } from "node:fs";
      const end = (result) => {
        writeFileSync("new", result);
        renameSync("new", "${name}");
      };
      process.stdin.resume();
      connect(${port}, "127.0.0.1").once("connect", () => end("connected")).once("error", ({ code }) => end(code));
    `,
      );
    const [allowed, refused] = await Promise.all([networkOf({ network: true }), networkOf({ network: false })]);
    const sessions = [open(caller("with"), allowed), open(caller("without"), refused)];
    await expect.poll(() => isThere("with") && isThere("without")).toBe(true);
    const [connected, failed] = ["with", "without"].map((name) => readFileSync(join(lab.cwd, name), "utf8"));
    expect([connected, failed]).toEqual(["connected", "ECONNREFUSED"]);
    await Promise.all(sessions.map((session) => session.stop()));
    server.close();
  }),
);

it(
  "an agent uses the files that its template links and its mailbox, and nothing else of the user's folder",
  withBubblewrap(async () => {
    const { repo, workspaces, head, top } = laboratory();
    // The laboratory's .gitignore names `build/` and log files.
    write(repo, { "build/tool.js": "tool", "secret.log": "secret" });
    const files = { link: ["build"] };
    const { path } = await workspaces.prepare(repo, key(), head, files);
    const run = { sandbox: "on", cwd: repo, template: { config: {}, workspace: files } } as unknown as Run;
    const mailbox = join(top, "mailbox");
    mkdirSync(mailbox);
    const agent = lab.program(
      "command",
      `
      import { readFileSync, renameSync, writeFileSync } from "node:fs";
      import { join } from "node:path";
      const attempt = (act) => {
        try {
          return String(act() ?? "done");
        } catch ({ code }) {
          return code;
        }
      };
      process.stdin.resume();
      const results = [
        attempt(() => readFileSync("build/tool.js")),
        attempt(() => writeFileSync("build/tool.js", "changed")),
        attempt(() => readFileSync(${JSON.stringify(join(repo, "secret.log"))})),
        attempt(() => writeFileSync(join(process.env.TUTTI_MAILBOX, "note.json"), "{}")),
      ];
      writeFileSync("new.log", JSON.stringify(results));
      renameSync("new.log", "results.log");
    `,
    );
    const sandbox = await sandboxOf(run, key(), workspaces);
    const session = lab.host.open(lab.spec(agent, { cwd: path, mailbox, sandbox }));
    void (async () => {
      for await (const _ of session.signals());
    })();
    await expect.poll(() => existsSync(join(path, "results.log"))).toBe(true);
    const results: unknown = JSON.parse(readFileSync(join(path, "results.log"), "utf8"));
    expect(results).toEqual(["tool", "EROFS", "ENOENT", "done"]);
    expect(readFileSync(join(repo, "build/tool.js"), "utf8")).toBe("tool");
    expect(existsSync(join(mailbox, "note.json"))).toBe(true);
    await session.stop();
    await workspaces.close();
  }),
);

it(
  "an agent checks out more folders in a sparse workspace",
  withBubblewrap(async () => {
    const { repo, workspaces } = laboratory();
    write(repo, { "src/one.ts": "one\n", "other/two.ts": "two\n" });
    const head = commitAll(repo, "sources");
    const { path, isSparse } = await workspaces.prepare(repo, key(), head, { only: ["src"] });
    expect([isSparse, existsSync(join(path, "src/one.ts")), existsSync(join(path, "other"))]).toEqual([
      true,
      true,
      false,
    ]);
    const agent = lab.program(
      "command",
      `
      import { execSync } from "node:child_process";
      import { readFileSync, renameSync, writeFileSync } from "node:fs";
      process.stdin.resume();
      let result;
      try {
        execSync(${JSON.stringify(`${WIDEN} other`)}, { stdio: "pipe" });
        result = readFileSync("other/two.ts", "utf8");
      } catch (error) {
        result = String(error.stderr ?? error);
      }
      writeFileSync("new.log", result);
      renameSync("new.log", "result.log");
    `,
    );
    const run = { sandbox: "on", cwd: repo, template: { config: {} } } as unknown as Run;
    const session = lab.host.open(lab.spec(agent, { cwd: path, sandbox: await sandboxOf(run, key(), workspaces) }));
    void (async () => {
      for await (const _ of session.signals());
    })();
    await expect.poll(() => existsSync(join(path, "result.log"))).toBe(true);
    expect(readFileSync(join(path, "result.log"), "utf8")).toBe("two\n");
    await session.stop();
    // A change in the folder that was added is work, and the folders that are still missing are not deleted.
    write(path, { "other/two.ts": "changed\n" });
    expect((await workspaces.snapshot(repo, key(), head, "work")).files).toEqual(["other/two.ts"]);
    await workspaces.close();
  }),
);

it("plans empty folders for the home, /tmp and the data, and shares a temporary folder that hides nothing", () => {
  const home = join(lab.folder, "home");
  const plan = (env: Record<string, string>) =>
    planSandbox({
      program: "bwrap",
      network: true,
      sessionFolder: join(lab.folder, "data/sessions/run/key"),
      dataFolder: lab.cwd,
      command: [process.execPath, "/nowhere/agent.mjs"],
      env: { HOME: home, PATH: dirname(process.execPath), ...env },
      paths: [{ hidden: ["/nowhere"], readable: [join(home, "named")], writable: [join(home, "login")] }],
    }).mounts.filter(({ path }) => !path.includes("node_modules"));
  expect(plan({}).map(({ path }) => path)).not.toContain(home);
  mkdirSync(home);
  for (const name of ["named", "login"]) writeFileSync(join(home, name), "");
  const kinds = new Map(plan({ TMPDIR: home }).map(({ path, kind }) => [path, kind]));
  expect(Object.fromEntries(kinds)).toMatchObject({
    [home]: "from",
    "/tmp": "from",
    "/run": "emptyFolder",
    [lab.cwd]: "emptyFolder",
    [join(home, "named")]: "readable",
    [join(home, "login")]: "writable",
  });
  const shared = join(lab.folder, "shared");
  mkdirSync(shared);
  expect(plan({ TMPDIR: shared })).toContainEqual({ path: shared, kind: "writable" });
  expect(plan({ TMPDIR: lab.folder })).toContainEqual(expect.objectContaining({ path: lab.folder, kind: "from" }));
});

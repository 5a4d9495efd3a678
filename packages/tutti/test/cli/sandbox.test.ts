// Runs whose agents work in the sandbox, from the command line to the agent.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { withBubblewrap } from "../lab/bubblewrap.ts";
import { CANARY, escapeAttempts, SURVIVOR } from "../lab/agents/escape-attempts.ts";
import { agentOf, finished, Lab } from "../lab/lab.ts";
import type { StoredEvent } from "../../src/schema/event.ts";

let lab: Lab;
let outsider: ChildProcess | null = null;
beforeEach(() => {
  lab = new Lab();
});
afterEach(() => {
  outsider?.kill("SIGKILL");
  outsider = null;
  lab.tearDown();
});

const flags = (agent: string, ...more: string[]) => {
  return ["run", "x", "--cwd", lab.repo, "--agent", agent, "--yes", "--template", "_default", ...more];
};

/** Files outside of the sandbox, each with a secret. */
const SECRETS = [
  ...[".ssh/id_ed25519", ".bash_history", ".bashrc", ".aws/credentials"].map((name) => `home/${name}`),
  ...[".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json"].map((name) => `home/${name}`),
  "repo/.env",
  "repo/.git/objects/pack/keep",
  "data/worktrees/orch_other/a-1/secret",
];

/** Null for a missing file, and for a process that has ended. */
function contentOf(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return null;
  }
}

it(
  "an agent in the sandbox makes none of seventy escapes, works as usual, and leaves no process",
  withBubblewrap(async () => {
    for (const name of SECRETS) {
      mkdirSync(dirname(join(lab.folder, name)), { recursive: true });
      writeFileSync(join(lab.folder, name), `${CANARY}\n`);
    }
    lab.git("tag", "first");
    const [home, data, repo] = ["home", "data", "repo"].map((name) => join(lab.folder, name)) as [
      string,
      string,
      string,
    ];
    const env = { HOME: home, TUTTI_TOKEN: CANARY, LAB_SECRET: CANARY, TMPDIR: join(lab.folder, "temporary") };
    mkdirSync(env.TMPDIR);
    outsider = spawn("sleep", ["600"], { env: { LAB_SECRET: CANARY } });
    const around = { home, data, repo, lab: lab.folder, pid: outsider.pid! };
    const attempts = escapeAttempts(around);
    const before = attempts.map(({ path }) => path && contentOf(path));
    // The agents have made what the commands of the template run, so these are in the sandbox, too.
    // One pipe keeps the order of the output.
    const commands = [{ name: "leak", run: `{ cat ${home}/.ssh/id_ed25519 ${data}/token; id -u; } 2>&1` }];
    const template = {
      id: "checked",
      name: "Checked",
      extends: "_default",
      phases: { verification: { enabled: true, commands } },
    };
    mkdirSync(join(data, "templates"), { recursive: true });
    writeFileSync(join(data, "templates/checked.json"), JSON.stringify(template));
    const agent = agentOf("command", "escaping.ts");
    const given = [
      "--sandbox",
      "required",
      "--template",
      "checked",
      "--agent-env",
      `SURROUNDINGS=${JSON.stringify(around)}`,
    ];
    const { code, last, stderr } = await lab.json(flags(agent, ...given), env);
    expect([code, stderr]).toEqual([0, ""]);

    const report = JSON.parse(lab.git("show", `tutti/${last.id}:report.json`)) as {
      results: Record<string, string | null>;
      ordinary: object;
      pid: number;
      tmpdir: string;
    };
    const [leak] = (last.verification as { commands: { output: string }[] }).commands;
    expect(leak!.output).toMatch(/id_ed25519: No such file.*token: No such file.*\n\d+$/s);
    const obtained = attempts.filter(({ name, kind, isOwn }) => {
      const result = report.results[name] ?? null;
      return result !== null && (result.includes(CANARY) || kind === "open" || (kind === "write" && !isOwn));
    });
    expect(obtained.map(({ name }) => name)).toEqual([]);
    const isVolatile = (path: string | null) =>
      path?.startsWith(`${data}/`) || path?.startsWith(`${repo}/.git/worktrees/a-1`);
    const changed = attempts.filter(
      ({ kind, path }, i) =>
        ["write", "command"].includes(kind) && !isVolatile(path) && path && contentOf(path) !== before[i],
    );
    expect(changed.map(({ name }) => name)).toEqual([]);
    expect(contentOf(join(data, "sessions/evil.json")) ?? contentOf(join(data, "templates/evil.json"))).toBeNull();
    expect([outsider.exitCode, outsider.signalCode]).toEqual([null, null]);
    expect(commandLines().filter((line) => line.includes(SURVIVOR))).toEqual([]);

    expect(report).toMatchObject({
      ordinary: { subject: "The work of the agent", status: "", tool: expect.stringContaining("Noted.") },
      tmpdir: env.TMPDIR,
    });
    expect(contentOf(join(env.TMPDIR, "scratch"))).toBe("x");
    // Its process ids are its own.
    expect(report.pid).toBeLessThan(10);
    expect(lab.git("show", `tutti/${last.id}:own.txt`)).toBe("mine");
    expect((await lab.json(["status", last.id!], env)).last).toMatchObject({ sandbox: "on" });
    expect(
      readdirSync(join(data, "sessions", last.id!), { recursive: true })
        .map(String)
        .filter((name) => name.includes("scratch")),
    ).toEqual([]);
  }),
);

/** An environment whose bubblewrap may not make namespaces. */
function withoutNamespaces(): { PATH: string } {
  const bin = join(lab.folder, "bin");
  mkdirSync(bin);
  const script = '[ "$1" = --version ] && echo bubblewrap 0.8.0 && exit; echo "bwrap: no permissions" >&2; exit 1';
  writeFileSync(join(bin, "bwrap"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { PATH: `${bin}:${process.env["PATH"]}` };
}

it("a server that requires the sandbox rejects every run that would have none", async () => {
  const child = lab.start(["serve", "--port", "0", "--sandbox", "required"], withoutNamespaces());
  const end = finished(child);
  const { promise, resolve, reject } = Promise.withResolvers<URL>();
  let shown = "";
  child.stdout!.on("data", (text: string) => {
    shown += text;
    const [, address] = /listening on (\S+token=\S+)\n/.exec(shown) ?? [];
    if (address !== undefined) resolve(new URL(address));
  });
  child.on("close", () => reject(new Error(shown)));
  const { origin, searchParams } = await promise;
  const headers = { authorization: `Bearer ${searchParams.get("token")}`, "content-type": "application/json" };
  const create = async (more: object) => {
    const body = JSON.stringify({ templateId: "_default", cwd: lab.repo, message: "x", agent: "local", ...more });
    const response = await fetch(`${origin}/api/orchestrator`, { method: "POST", headers, body });
    const { error } = (await response.json()) as { error: { code: string } };
    return [response.status, error.code];
  };
  expect(await create({})).toEqual([409, "sandbox_unavailable"]);
  expect(await create({ sandbox: "required" })).toEqual([409, "sandbox_unavailable"]);
  expect(await create({ sandbox: "off" })).toEqual([403, "forbidden"]);
  expect(await create({ sandbox: "auto" })).toEqual([403, "forbidden"]);
  child.kill("SIGTERM");
  await end;
});

it("a run without a working sandbox is refused if it requires one, and otherwise says so", async () => {
  const env = withoutNamespaces();
  const refused = await lab.json(flags("local", "--sandbox", "required"), env);
  expect(refused).toMatchObject({ code: 4, last: { error: { code: "sandbox_unavailable" } } });
  expect(refused.last.error!.message).toMatch(/does not work: .*bwrap: no permissions.*\. Install bubblewrap/s);
  writeFileSync(join(lab.data, "tutti.config.json"), JSON.stringify({ sandbox: "required" }));
  const configured = await lab.json(flags("local"), { ...env, TUTTI_SANDBOX: "" });
  expect(configured).toMatchObject({ code: 4, last: { error: { code: "sandbox_unavailable" } } });
  expect((await lab.json(flags("local", "--sandbox", "perhaps"), env)).code).toBe(2);

  // The default mode is `auto`.
  rmSync(join(lab.data, "tutti.config.json"));
  const byDefault = { ...env, TUTTI_SANDBOX: "" };
  const { code, last, stderr } = await lab.json(flags("local", "--template", "documentation"), byDefault);
  expect([code, stderr]).toEqual([0, ""]);
  const events = lab.events();
  expect(events.find(({ type }) => type === "orchestrator:created")!.data).toMatchObject({ sandbox: "unavailable" });
  const started = events.find(({ type }) => type === "orchestrator:started") as Extract<
    StoredEvent,
    { type: "orchestrator:started" }
  >;
  expect(started.data.warnings).toEqual([
    expect.stringMatching(/^The agents have no sandbox and can do whatever you can: /),
  ]);
  expect((await lab.json(["status", last.id!])).last).toMatchObject({ sandbox: "unavailable" });
});

/** The command lines of all processes. */
function commandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => contentOf(`/proc/${pid}/cmdline`) ?? "");
}

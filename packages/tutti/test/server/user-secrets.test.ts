// Secrets that a user writes reach the agent, and nothing else.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentOf } from "../lab/lab.ts";
import { leaksIn, CANARIES } from "../session/canaries.ts";
import { mailboxScenario, report, reports } from "../team/mailbox-scenario.ts";
import { ServerLab, type SocketFollower, type StreamFollower } from "./server-lab.ts";

const secret = (name: string): string => CANARIES.find((canary) => canary.name === name)!.printed;
const [REQUEST, VARIABLE, MESSAGE, ANSWER, HOOK, TEMPLATE] = [
  secret("Anthropic"),
  secret("OpenAI"),
  secret("GitLab"),
  secret("npm"),
  secret("Stripe"),
  secret("PyPI"),
];
/** Secrets in the commands of a template, by the program that needs each. */
const NEEDED = {
  hook: secret("Hugging Face"),
  setup: secret("SendGrid"),
  check: secret("Google API"),
  agent: secret("DigitalOcean"),
};

let lab: ServerLab;
let recorded: string;
beforeEach(async () => {
  lab = await ServerLab.open({ withKeepers: true });
  recorded = join(lab.lab.folder, "recorded.txt");
});
afterEach(() => lab.tearDown());

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => statSync(join(folder, name)).isFile());

describe("secrets in a request, variables, a message, an answer, hook output, a template and its commands", () => {
  it("reach the agent and the commands, and are in no event, state, answer or stored file but the vault", async () => {
    const hook = join(lab.lab.folder, "hook.sh");
    const got = join(lab.lab.folder, "got.txt");
    writeFileSync(hook, `#!/bin/sh\necho "hook $1" >> ${got}\necho failed with ${HOOK} >&2\nexit 1\n`, { mode: 0o755 });
    const command = (name: "setup" | "check") => ({ name, run: `echo "${name} ${NEEDED[name]}" >> ${got}` });
    lab.local.templates.create({
      id: "mine",
      name: "Mine",
      extends: "documentation",
      config: { autoSpawn: true },
      hooks: { onTasksGenerated: `command:${hook} ${NEEDED.hook}` },
      workspace: { setup: [command("setup")] },
      phases: { verification: { enabled: true, commands: [command("check")] } },
      variables: { KEY: TEMPLATE },
    });
    const view = { authorization: `Bearer ${lab.tokens.create({ name: "viewer", role: "view" }).token}` };
    const id = await lab.create(`${agentOf("command", "recorder.ts", recorded)} ${NEEDED.agent}`, {
      templateId: "mine",
      message: `use ${REQUEST} for it`,
      customVariables: { OTHER: { nested: VARIABLE } },
    });
    await lab.post(`/api/orchestrator/${id}/start`);
    const asked = await lab.until(id, ({ inbox }) => Object.values(inbox).some(({ kind }) => kind === "question"));
    const [item] = Object.values(asked.inbox);
    expect(leaksIn((await lab.ask("/api/inbox", { headers: view })).text)).toEqual([]);
    // The prompt of a session at work is not masked on disk yet.
    const live = `/api/orchestrator/${id}/workers/${asked.mainSessionId}/transcript`;
    expect(leaksIn((await lab.api(`${live}/export`)).text)).not.toEqual([]);
    for (const path of [live, `${live}/export`, `${live}?tail=9`])
      expect([path, leaksIn((await lab.ask(path, { headers: view })).text)]).toEqual([path, []]);
    const search = `${live}?find=${encodeURIComponent(REQUEST)}`;
    expect((await lab.api(search)).json).not.toEqual([]);
    expect((await lab.ask(search, { headers: view })).json).toEqual([]);
    await lab.post(`/api/orchestrator/${id}/message`, { text: `and ${MESSAGE}` });
    await lab.post(`/api/inbox/${item!.id}`, { text: `take ${ANSWER}` });
    const ended = await lab.until(id, ({ released }) => released);
    expect(ended.outcome, JSON.stringify(ended.errors)).toBe("success");

    const received = readFileSync(recorded, "utf8");
    for (const each of [REQUEST, ANSWER, MESSAGE, NEEDED.agent]) expect(received).toContain(each);
    const lines = readFileSync(got, "utf8").trimEnd().split("\n");
    for (const name of ["hook", "setup", "check"] as const) expect(lines).toContain(`${name} ${NEEDED[name]}`);
    expect(ended.userRequest).toMatch(/^use \[secret [0-9a-f]{10}\] for it$/);
    const paths = ["", "/events", "/result", "/timeline", "/workers", "/export", "/snapshot"].map(
      (path) => `/api/orchestrator/${id}${path}`,
    );
    const transcripts = [ended.mainSessionId!, ended.workers["a"]!.sessionId].map(
      (key) => `/api/orchestrator/${id}/workers/${key}/transcript`,
    );
    const templates = [
      "/api/orchestrator/templates/mine",
      "/api/orchestrator/templates/mine/export",
      "/api/orchestrator/templates?full=1",
    ];
    for (const path of [...paths, ...transcripts, ...templates, "/api/orchestrator", "/api/inbox"]) {
      const { status, text } = await lab.ask(path, { headers: view });
      expect([path, status, leaksIn(text)]).toEqual([path, 200, []]);
    }
    expect(lab.engine.events({ run: id }).some(({ type }) => type === "hook:ended")).toBe(true);
    const leaks = filesBelow(lab.lab.data).filter(
      (name) => leaksIn(readFileSync(join(lab.lab.data, name), "latin1")).length > 0,
    );
    expect(leaks.toSorted()).toEqual(["templates/mine.json", `vault/${id}.json`]);
    expect((await lab.delete(`/api/orchestrator/${id}`)).status).toBe(200);
    expect(filesBelow(lab.lab.data)).not.toContain(`vault/${id}.json`);
  });
});

describe("a log of a version that stored secrets", () => {
  it("hides them from a token that may only view, in lists, exports and live events", async () => {
    const mark = "mark-of-the-secret";
    const id = await lab.create("local", { message: `use ${mark} for it` });
    await lab.stop();
    const db = new DatabaseSync(join(lab.lab.data, "tutti.db"));
    expect(db.prepare("UPDATE events SET data = replace(data, ?, ?)").run(mark, REQUEST).changes).toBeGreaterThan(0);
    db.close();
    await lab.start();

    const view = { authorization: `Bearer ${lab.tokens.create({ name: "viewer", role: "view" }).token}` };
    const run = `/api/orchestrator/${id}`;
    const paths = [run, `${run}/events`, `${run}/events?tail=5`, `${run}/export`, "/api/orchestrator?full=1"];
    for (const path of [...paths, "/api/orchestrator"]) {
      expect([path, leaksIn((await lab.api(path)).text)]).toEqual([path, ["Anthropic"]]);
      const { status, text } = await lab.ask(path, { headers: view });
      expect([path, status, leaksIn(text)]).toEqual([path, 200, []]);
      expect(text).toMatch(/use \[secret [0-9a-f]{10}\] for it/);
    }
    const last = lab.engine.lastSeq();
    const leaksOf = async (follower: Promise<StreamFollower | SocketFollower>) =>
      leaksIn(JSON.stringify(await (await follower).reached(last)));
    expect(await leaksOf(lab.stream("?after=0"))).toEqual(["Anthropic"]);
    expect(await leaksOf(lab.stream("?after=0", view))).toEqual([]);
    expect(await leaksOf(lab.stream("?tail=9", view))).toEqual([]);
    expect(await leaksOf(lab.socket("?after=0"))).toEqual(["Anthropic"]);
    expect(await leaksOf(lab.socket("?after=0", view))).toEqual([]);
  });
});

describe("a secret in an event of the server", () => {
  it("gets a placeholder", async () => {
    await lab.engine.append({ type: "trigger:refused", data: { name: "deploy", reason: `refused with ${HOOK}` } });
    const follower = await lab.socket("?after=0");
    const frames = await follower.reached(lab.engine.lastSeq());
    expect(JSON.stringify(frames)).toContain("refused with [secret ");
    expect(leaksIn(JSON.stringify([frames, lab.engine.events({})]))).toEqual([]);
  });
});

describe("a secret in an imported log", () => {
  it("gets a placeholder, too", async () => {
    const id = await lab.create("local", { message: "use the key" });
    const { text } = await lab.api(`/api/orchestrator/${id}/export`);
    const imported = "orch_aaaaaaaaaaaa";
    const log = text.replaceAll(id, imported).replaceAll("use the key", `use ${REQUEST}`);
    expect((await lab.post("/api/orchestrator/import", log)).status).toBe(201);
    for (const path of ["", "/events", "/export", "/snapshot"]) {
      const answer = await lab.api(`/api/orchestrator/${imported}${path}`);
      expect([path, leaksIn(answer.text)]).toEqual([path, []]);
      expect(answer.text).toContain("use [secret ");
    }
  });
});

describe("a secret in a report of the mailbox", () => {
  it("is in no event, state or answer", async () => {
    const agent = lab.lab.scenario(mailboxScenario({ developer: [reports(report({ summary: `used ${HOOK}` }))] }));
    const id = await lab.create(agent, { templateId: "team-lead", config: { autoSpawn: true } });
    await lab.post(`/api/orchestrator/${id}/start`);
    const { outcome, errors } = await lab.until(id, ({ released }) => released);
    expect(outcome, JSON.stringify(errors)).toBe("success");
    for (const path of ["", "/events", "/result", "/snapshot", "/export"]) {
      const { text } = await lab.api(`/api/orchestrator/${id}${path}`);
      expect([path, leaksIn(text)]).toEqual([path, []]);
      if (path === "/events") expect(text).toContain("used [secret ");
    }
  });
});

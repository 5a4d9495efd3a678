// Secrets that a user writes reach the agent, and nothing else.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentOf } from "../lab/lab.ts";
import { leaksIn, CANARIES } from "../session/canaries.ts";
import { ServerLab } from "./server-lab.ts";

const [REQUEST, VARIABLE, MESSAGE, ANSWER, HOOK, TEMPLATE] = [
  "Anthropic",
  "OpenAI",
  "GitLab",
  "npm",
  "Stripe",
  "PyPI",
].map((name) => CANARIES.find((canary) => canary.name === name)!.printed) as [
  string,
  string,
  string,
  string,
  string,
  string,
];

let lab: ServerLab;
let heard: string;
beforeEach(async () => {
  lab = await ServerLab.open({ withKeepers: true });
  heard = join(lab.lab.folder, "heard.txt");
});
afterEach(() => lab.tearDown());

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => statSync(join(folder, name)).isFile());

describe("secrets in a request, variables, a message, an answer, hook output and a template", () => {
  it("reach the agent, and are in no event, state, answer or stored file but the vault", async () => {
    const hook = join(lab.lab.folder, "hook.sh");
    writeFileSync(hook, `#!/bin/sh\necho failed with ${HOOK} >&2\nexit 1\n`, { mode: 0o755 });
    lab.local.templates.create({
      id: "mine",
      name: "Mine",
      extends: "documentation",
      config: { autoSpawn: true },
      hooks: { onTasksGenerated: `command:${hook}` },
      variables: { KEY: TEMPLATE },
    });
    const view = { authorization: `Bearer ${lab.tokens.create({ name: "viewer", role: "view" }).token}` };
    const id = await lab.create(agentOf("command", "recorder.ts", heard), {
      templateId: "mine",
      message: `use ${REQUEST} for it`,
      customVariables: { OTHER: { nested: VARIABLE } },
    });
    await lab.post(`/api/orchestrator/${id}/start`);
    const asked = await lab.until(id, ({ inbox }) => Object.values(inbox).some(({ kind }) => kind === "question"));
    const [item] = Object.values(asked.inbox);
    await lab.post(`/api/orchestrator/${id}/message`, { text: `and ${MESSAGE}` });
    await lab.post(`/api/inbox/${item!.id}`, { text: `take ${ANSWER}` });
    const ended = await lab.until(id, ({ released }) => released);
    expect(ended.outcome, JSON.stringify(ended.errors)).toBe("success");

    const received = readFileSync(heard, "utf8");
    for (const secret of [REQUEST, ANSWER, MESSAGE]) expect(received).toContain(secret);
    expect(ended.userRequest).toMatch(/^use \[secret [0-9a-f]{10}\] for it$/);
    const paths = ["", "/events", "/result", "/timeline", `/workers`, "/export"].map(
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
    for (const path of [...paths, ...transcripts, ...templates, "/api/orchestrator"]) {
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

// Secrets in an agent's output are neither stored nor published.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { agentOf, Lab } from "../lab/lab.ts";
import { CANARIES, leaksIn, SECRET_ENV } from "../session/canaries.ts";
import { ServerLab } from "./server-lab.ts";

const cleaners: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleaners.splice(0)) await clean();
});

function leaky(lab: Lab, more: string[] = [], ...flags: string[]): string {
  const file = join(lab.folder, "secrets.json");
  writeFileSync(file, JSON.stringify([...CANARIES.map(({ printed }) => printed), ...more]));
  return agentOf("command", "leaky.ts", file, ...flags);
}

/** Every file below a folder with its content; compressed files are decompressed. */
function contents(folder: string): [name: string, text: string][] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name): [string, string][] => {
    const file = join(folder, name);
    if (!statSync(file).isFile()) return [];
    const bytes = readFileSync(file);
    return [[name, bytes.toString("utf8")], ...(name.endsWith(".gz") ? contentsOfPacked(name, bytes) : [])];
  });
}
const contentsOfPacked = (name: string, bytes: Buffer): [string, string][] => [[name, gunzipSync(bytes).toString()]];

const leaksBelow = (folder: string): string[] =>
  contents(folder).flatMap(([name, text]) => leaksIn(text).map((leak) => `${name}: ${leak}`));

describe("secrets of more than 40 kinds that an agent prints in every way", () => {
  it("are in no file, row, frame, question, error or response of a server", async () => {
    const lab = await ServerLab.open({ agentEnv: SECRET_ENV });
    cleaners.push(() => lab.tearDown());
    expect(CANARIES.length).toBeGreaterThan(40);
    const id = await lab.create(leaky(lab.lab, [lab.token], "asks"), { autoStart: true });
    const confirming = await lab.until(id, (run) => run.status === "confirming" || run.status === "error");
    expect(confirming.status).toBe("confirming");
    const plan = await lab.api("/api/inbox");
    await lab.engine.order(id, "confirm");
    const isAsked = (run: typeof confirming) => Object.values(run.inbox).some(({ kind }) => kind === "question");
    await lab.until(id, isAsked);
    const inbox = await lab.api("/api/inbox");
    const question = inbox.json.find(({ kind }: { kind: string }) => kind === "question");
    expect(question.question).toMatch(/^May I use \*+/);
    await lab.post(`/api/inbox/${question.id}`, { text: "no" });
    await lab.until(id, ({ released }) => released);

    const outputs: string[] = [plan.text, inbox.text];
    const state = await lab.api(`/api/orchestrator/${id}`);
    expect(state.text).toContain("broke with ***");
    const workers = await lab.api(`/api/orchestrator/${id}/workers`);
    const keys = workers.json.map(({ sessionId }: { sessionId: string }) => sessionId);
    const transcript = async (key: string) => lab.api(`/api/orchestrator/${id}/workers/${key}/transcript`);
    for (const key of [...keys, state.json.mainSessionId]) outputs.push((await transcript(key)).text);
    // Guards against a vacuous pass: the agent really printed the secrets.
    expect(outputs.at(-1)!.match(/"text":"found /g)!.length).toBeGreaterThanOrEqual(CANARIES.length);
    expect(outputs.at(-1)).toContain("hidden ***");
    const socket = await lab.socket("?after=0");
    outputs.push(JSON.stringify(await socket.reached(lab.engine.lastSeq())), state.text, workers.text);
    for (const path of ["result", "events", "graph"])
      outputs.push((await lab.api(`/api/orchestrator/${id}/${path}`)).text);
    expect(outputs.flatMap(leaksIn)).toEqual([]);
    expect(outputs.filter((text) => text.includes(lab.token))).toEqual([]);

    const stderr = contents(lab.lab.data).filter(([name]) => name.endsWith("stderr.log"));
    expect(stderr.map(([, text]) => text.includes("*****"))).toEqual([true, true, true]);
    expect(leaksBelow(lab.lab.data)).toEqual([]);
    await lab.engine.archiveWorkers(id);
    expect(contents(lab.lab.data).filter(([name]) => name.endsWith("output.log.gz"))).not.toEqual([]);
    expect(leaksBelow(lab.lab.data)).toEqual([]);
    const holders = contents(lab.lab.data).filter(([, text]) => text.includes(lab.token));
    expect(holders.map(([name]) => name)).toEqual(["token"]);
  });

  it("are not in the output and exports of the command line", async () => {
    const lab = new Lab();
    cleaners.push(() => lab.tearDown());
    const flags = Object.entries(SECRET_ENV).flatMap(([name, value]) => ["--agent-env", `${name}=${value}`]);
    const order = [
      "run",
      "look around",
      "--template",
      "documentation",
      "--cwd",
      lab.repo,
      "--agent",
      leaky(lab),
      "--yes",
    ];
    const { stdout, stderr, last } = await lab.json([...order, ...flags]);
    expect(last.outcome).toBe("degraded");
    expect(JSON.stringify(last.causes)).toContain("broke with ***");
    const exported = await lab.tutti(["export", last.id!]);
    expect(exported.stdout).toContain("it has ***");
    expect([stdout, stderr, exported.stdout].flatMap(leaksIn)).toEqual([]);
    expect(leaksBelow(lab.data)).toEqual([]);
  });
});

// The advice that commands print when a run cannot continue by itself: it works as printed, with and without a server,
// and every command ends.
import { mkdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { announceServer } from "../../src/cli/access/server-file.ts";
import { startLocalServer, type LocalServer } from "../../src/main/local-server.ts";
import { openLocalEngine } from "../../src/main/local-engine.ts";
import { InProcessLab } from "./in-process.ts";
import type { JsonLine } from "../lab/lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { onTerminal } from "../lab/terminal.ts";

let lab: InProcessLab;
beforeEach(() => {
  lab = new InProcessLab();
});
afterEach(() => lab.tearDown());

const failing = (cause: string) => ({
  match: { role: "worker", task: "a", attempt: 1 },
  turns: [{ then: `fail:${cause}` }, ...goodWorker.turns],
});
const refusingMain = (phase: string) => {
  const answer = mainSession([{ id: "a" }]).find(({ match }) => match.phase === phase)!;
  return { match: { ...answer.match, attempt: 1 }, turns: [{ then: "fail:auth" }, ...answer.turns] };
};
const planOf = (...sessions: object[]): string =>
  lab.scenario([...sessions, ...mainSession([{ id: "a" }, { id: "b", dependencies: ["a"] }]), goodWorker]);

/** Runs until the command can do nothing more. Returns the id of the run and its only inbox item. */
async function runInto(agent: string, ...flags: string[]) {
  const args = ["run", "x", "--yes", "--cwd", lab.repo, "--agent", agent, ...flags];
  const { code, last } = await lab.json(args);
  expect([code, last.error?.code]).toEqual([4, "wrong_state"]);
  const [, id] = /tutti resume (orch_\w+)/.exec(last.error!.message)!;
  const items = (await lab.json(["inbox"])).last as unknown as { id: string; run: string }[];
  return { id: id!, item: items.find(({ run }) => run === id)!.id };
}

type Place = Awaited<ReturnType<typeof runInto>>;
const WAYS: [string, (place: Place) => string[]][] = [
  ["resume", ({ id }) => ["resume", id]],
  ["retry", ({ id }) => ["retry", id, "a"]],
  ["answer with an option", ({ item }) => ["answer", item, "--option", "0"]],
];
const FAILURE_WORDS: (typeof WAYS)[number] = ["answer with its words", ({ item }) => ["answer", item, "try it again"]];

async function expectSuccess(args: string[]): Promise<void> {
  const { code, last } = await lab.json(args);
  expect([code, last], args.join(" ")).toMatchObject([0, { outcome: "success", census: { completed: 2 } }]);
  expect((await lab.json(["inbox"])).last, args.join(" ")).toEqual([]);
}

describe("after a refused login", () => {
  it.each([...WAYS, FAILURE_WORDS])("tutti %s continues the run to its success", async (_, args) => {
    await expectSuccess(args(await runInto(planOf(failing("auth")))));
    expect(lab.leftovers()).toEqual([]);
  });

  it("of the main session, resume and answer continue the run to its success", async () => {
    await expectSuccess(WAYS[0]![1](await runInto(planOf(refusingMain("aggregation")))));
    await expectSuccess(WAYS[2]![1](await runInto(planOf(refusingMain("aggregation")))));
    const { id } = await runInto(planOf(refusingMain("analysis")));
    await expectSuccess(["resume", id, "--yes"]);
  });
});

describe("after an exhausted quota", () => {
  it.each(WAYS)("tutti %s continues the run to its success", async (_, args) => {
    await expectSuccess(args(await runInto(planOf(failing("usage_limit")))));
  });
});

describe("with a server", () => {
  let server: LocalServer;
  let removeServerFile: () => void;
  beforeEach(async () => {
    const options = { dataDir: lab.data, port: 0, host: "127.0.0.1", version: "0.0.0", ...lab.options };
    server = await startLocalServer(options);
    removeServerFile = announceServer(lab.data, { url: server.url, ownToken: false });
  });
  afterEach(async () => {
    removeServerFile();
    await server.close({ leaveRunning: false });
  });

  it.each(WAYS)("tutti %s continues a run after a refused login and an exhausted quota", async (_, args) => {
    await expectSuccess(args(await runInto(planOf(failing("auth")))));
    await expectSuccess(args(await runInto(planOf(failing("usage_limit")))));
  });

  it("tutti resume continues a run after a refused login of its main session", async () => {
    await expectSuccess(WAYS[0]![1](await runInto(planOf(refusingMain("aggregation")))));
  });

  it("a terminal follows a run on that is paused elsewhere, and its command ends with the run", async () => {
    const gate = lab.gate();
    const agent = lab.scenario([
      ...mainSession([{ id: "a" }]),
      worker("a", { waitForFile: gate.file, write: { "a.md": "a" }, block: done({}) }),
    ]);
    const child = onTerminal(["--data-dir", lab.data, "run", "x", "--yes", "--cwd", lab.repo, "--agent", agent]);
    const closed = once(child, "close") as Promise<[number]>;
    let shown = "";
    child.stdout.on("data", (text: string) => (shown += text));
    const { id } = await untilSeen(() =>
      server.engine.list().find(({ workers }) => workers["a"]?.status === "running"),
    );
    await server.engine.order(id, "pause");
    await untilSeen(() => shown.includes("the run is paused by the user") || undefined);
    gate.open();
    expect((await lab.json(["resume", id])).code).toBe(0);
    expect((await closed)[0]).toBe(0);
  });
});

async function untilSeen<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    await sleep(20);
  }
}

describe("a retry in a run that the user paused", () => {
  it("is accepted, and its process ends with exit 4 and the command that resumes the run", async () => {
    const failed = { block: { phase: "completion", data: { task_id: "a", status: "failed", error: "no luck" } } };
    const agent = lab.scenario([
      ...mainSession([{ id: "a" }, { id: "b" }]),
      { match: { role: "worker", task: "a", attempt: 1 }, turns: [failed] },
      { match: { role: "worker", task: "b", attempt: 1 }, turns: [{ then: "hang" }] },
      goodWorker,
    ]);
    const { engine, close } = openLocalEngine({ dataDir: lab.data, ...lab.options });
    const { id } = await engine.create({ templateId: "_default", cwd: lab.repo, message: "x", agent });
    await engine.order(id, "start");
    await engine.until(id, ({ status }) => status === "confirming");
    await engine.order(id, "confirm", {});
    // Without a turn, a resume would start the first attempt of `b` again, which hangs.
    await engine.until(id, ({ workers: { a, b } }) => a?.status === "failed" && (b?.session.turn ?? null) !== null);
    await engine.order(id, "pause");
    await close();
    const { code, stderr } = await lab.tutti(["retry", id, "a"], {});
    expect([code, stderr]).toEqual([4, expect.stringContaining(`tutti resume ${id}`)]);
    expect((await lab.json(["resume", id])).last).toMatchObject({ outcome: "success" });
  });
});

describe("a run without a terminal waits", () => {
  function template(config: object): void {
    mkdirSync(join(lab.data, "templates"), { recursive: true });
    const content = { id: "patient", name: "Patient", extends: "_default", config };
    writeFileSync(join(lab.data, "templates", "patient.json"), JSON.stringify(content));
  }
  const patientRun = (agent: string): Promise<{ code: number | null; last: JsonLine; lines: JsonLine[] }> =>
    lab.json(["run", "x", "--yes", "--cwd", lab.repo, "--agent", agent, "--template", "patient"]);

  it("for the end of a usage limit with autoResume", async () => {
    template({ autoResume: true });
    const { code, last, lines } = await patientRun(planOf(failing("usage_limit:200")));
    expect([code, last.outcome]).toEqual([0, "success"]);
    expect(lines.find(({ type }) => type === "orchestrator:resumed")!.data).toMatchObject({ automatic: true });
  });

  it("for the default answer of answerTimeout, which the agent gets", async () => {
    template({ answerTimeout: 1000 });
    const asking = worker("a", { then: "ask:Which?" }, { write: { "a.md": "a" }, block: done({}) });
    const { code, last, lines } = await patientRun(planOf(asking));
    expect([code, last.outcome]).toEqual([0, "success"]);
    expect(lines.findLast(({ type }) => type === "inbox:answered")!.data).toMatchObject({
      text: expect.stringContaining("did not answer in time"),
    });
  });
});

// The commands on the log of a run, through a running server.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { ServerLab } from "../server/server-lab.ts";
import { tutti, tuttiJson } from "./in-process.ts";

let lab: ServerLab;
let id: string;
beforeAll(async () => {
  lab = await ServerLab.open();
  const agent = lab.lab.scenario([...mainSession([{ id: "a" }, { id: "b", dependencies: ["a"] }]), goodWorker]);
  id = await lab.create(agent, { autoStart: true, config: { autoSpawn: true } });
  await lab.until(id, ({ released }) => released);
});
afterAll(() => lab.tearDown());

const there = (...args: string[]) => ["--url", lab.server.url, "--token", lab.token, ...args];
type Line = Record<string, unknown> & { error?: { code: string; message: string; details: { hash: string } } };
const json = (...args: string[]) => tuttiJson<Line>(there(...args));

describe("through a server", () => {
  it("export and import copy a run, with the user's consent to its programs", async () => {
    const file = join(lab.lab.folder, "run.jsonl");
    expect(await json("export", id, file)).toMatchObject({ code: 0, lines: [{ id, file }] });
    const text = readFileSync(file, "utf8");
    expect(await tutti(there("export", id))).toMatchObject({ code: 0, stdout: text });
    expect(await json("import", file)).toMatchObject({ code: 4, last: { error: { code: "wrong_state" } } });
    const copied = "orch_broughtalong";
    writeFileSync(file, text.replaceAll(id, copied));
    const refused = await json("import", file);
    expect(refused).toMatchObject({ code: 4, lines: [{ error: { code: "needs_trust" } }] });
    const { message, details } = refused.last.error!;
    expect(message).toContain(`repeat with --trust ${details.hash}`);
    const imported = await json("import", file, "--trust", details.hash);
    expect(imported).toMatchObject({ code: 0, lines: [[{ id: copied, status: "completed" }]] });
    expect(lab.engine.get(copied)).toMatchObject({ status: "completed", outcome: "success" });
    writeFileSync(file, "{");
    expect(await json("import", file)).toMatchObject({ code: 2, last: { error: { code: "invalid_input" } } });
  });

  it("replay folds the log again, and fork continues from one of its events", async () => {
    const events = lab.engine.events({ run: id });
    const whole = await json("replay", id.slice(5, 12));
    expect([whole.code, whole.lines.length]).toEqual([0, events.length + 1]);
    expect(whole.last).toEqual({ id, events: events.length, status: "completed", problems: [] });
    const part = await json("replay", id, "--until", "2");
    expect(part.lines.slice(0, -1)).toEqual(whole.lines.slice(0, 2));
    expect(part.last).toMatchObject({ events: 2, problems: [] });
    for (const beyond of [
      ["replay", id, "--until", "9999"],
      ["fork", id, "--at", "9999"],
    ]) {
      expect(await json(...beyond)).toMatchObject({ code: 3, lines: [{ error: { code: "event_not_found" } }] });
    }
    const at = events.find(({ type }) => type === "workspace:merged")!.runSeq;
    const forked = await json("fork", id, "--at", String(at), "--fresh");
    expect(forked).toMatchObject({ code: 0, lines: [{ from: id, status: "paused" }] });
    expect(lab.engine.get(forked.last["id"] as string)?.status).toBe("paused");
    expect((await tutti(there("fork", id))).stdout).toMatch(/^forked orch_\w+ to orch_\w+, completed\n$/);
  });

  it("logs --tail prints the last entries of the run or of a task", async () => {
    const all = (await json("logs", id)).lines;
    expect((await json("logs", id, "--tail", "3")).lines).toEqual(all.slice(-3));
    expect((await json("logs", id, "--tail", "0")).lines).toEqual([]);
    expect((await json("logs", id, "--tail", "9999", "--follow")).lines).toEqual(all);
    const ofTask = (await json("logs", id, "--task", "a")).lines;
    expect((await json("logs", id, "--task", "a", "--tail", "4")).lines).toEqual(ofTask.slice(-4));
    const words = (await tutti(there("logs", id))).stdout.trim().split("\n");
    expect((await tutti(there("logs", id, "--tail", "2"))).stdout.trim().split("\n")).toEqual(words.slice(-2));
    expect(await json("logs", id, "--tail", "some")).toMatchObject({ code: 2, last: { error: { code: "usage" } } });
  });
});

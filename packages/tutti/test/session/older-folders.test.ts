// Session folders of earlier versions, whose files have fewer members.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SessionLab } from "./session-lab.ts";
import { pathName } from "../../src/schema/ids.ts";
import type { SessionSignal, SessionSpec } from "../../src/session/session.ts";

let lab: SessionLab;
beforeEach(() => {
  lab = new SessionLab();
});
afterEach(() => lab.tearDown());

/** A session with one ended turn, in the format of the first version with transcripts. */
function leave({ sessionId, runId, agent, cwd }: SessionSpec): void {
  const folder = join(lab.folder, "sessions", runId, pathName(sessionId));
  mkdirSync(join(folder, "requests"), { recursive: true });
  const write = (name: string, ...values: object[]) =>
    writeFileSync(join(folder, name), values.map((value) => `${JSON.stringify(value)}\n`).join(""));
  const about = { sessionId, runId, agent, cwd, mode: "stream", command: ["agent"], env: {}, passEnv: [] };
  write("spec.json", { ...about, engineFile: lab.engineFile, orphanAfterMs: 1000, graceMs: 1000 });
  write("requests/turn-000001.json", { type: "turn", number: 1, text: "write it down", input: "{}" });
  const messages = [
    { type: "tool", name: "Write", input: {} },
    { type: "assistant", text: "It is done." },
    { type: "turn_end" },
  ];
  write("output.log", ...messages);
  writeFileSync(join(folder, "stderr.log"), "");
  const length = messages.map((line) => JSON.stringify(line).length + 1).reduce((a, b) => a + b);
  write(
    "journal.jsonl",
    { type: "started", offset: 0 },
    { type: "sent", turn: 1, offset: 0 },
    { type: "exited", code: 0, signal: null, deliberate: true, offset: length },
  );
  write("end.json", { reason: "closed" });
}

describe("A session folder of an earlier version", () => {
  it("stays readable: its transcript, its signals for an adopting engine, and its archive", async () => {
    const spec = lab.spec("command:agent");
    leave(spec);
    const expected = [
      { n: 1, type: "prompt", turn: 1, text: "write it down" },
      { n: 2, type: "tool", name: "Write" },
      { n: 3, type: "text", text: "It is done." },
      { n: 4, type: "turnOver", turn: 1, ending: { kind: "ended" } },
    ];
    expect(await lab.host.transcript(spec.runId, spec.sessionId)).toMatchObject(expected);
    const signals: SessionSignal[] = [];
    for await (const signal of lab.host.open(spec).signals()) signals.push(signal);
    expect(signals.map(({ type }) => type)).toEqual(["ready", "sent", "tool", "text", "turnOver", "caughtUp", "gone"]);
    expect(lab.processes()).toEqual([]);
    await lab.host.archive(spec.runId, spec.sessionId);
    expect(await lab.newHost().transcript(spec.runId, spec.sessionId)).toMatchObject(expected);
  });

  it("with an unknown agent is rejected with the agent's name", async () => {
    const spec = lab.spec("telegraph:agent");
    leave(spec);
    await expect(lab.host.transcript(spec.runId, spec.sessionId)).rejects.toThrow(
      expect.objectContaining({ code: "agent_unknown", message: expect.stringContaining("telegraph:agent") }),
    );
  });
});

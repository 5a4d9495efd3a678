// The delivery of messages to roles: acknowledged in time, sent again, expired, and the stop of a running turn.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab } from "../engine/engine-lab.ts";
import { acknowledgment, completion, role, say, teamScenario } from "./team-scenario.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { realWorld } from "../../src/world.ts";

const STEP_MS = 50;

let lab: EngineLab;
let engine: Engine;
beforeEach(() => {
  lab = new EngineLab();
  engine = lab.open();
});
afterEach(async () => {
  for (const each of lab.engines) await each.close();
  lab.tearDown();
});

const eventsOf = (id: string, type: StoredEvent["type"]) =>
  engine.events({ run: id }).filter((event) => event.type === type);

async function begin(team: object, first: Parameters<typeof teamScenario>[0]): Promise<string> {
  lab.userTemplate("strict", { extends: "design-only", team });
  const id = await lab.begin(engine, lab.scenario(teamScenario(first)), { templateId: "strict" });
  await engine.until(id, ({ status }) => status === "confirming");
  await engine.order(id, "confirm");
  return id;
}

const toDesigner = (id: string) => engine.get(id)!.teamMessages!.find(({ to }) => to === "DESIGNER")!;

describe("a message to a role", () => {
  it("that is not acknowledged in time is sent again once with the next turn, then it expires (W09)", async () => {
    const [first, second] = [lab.gate("first"), lab.gate("second")];
    const silent = { say: "Hm.", waitForFile: first.file };
    const words = say(acknowledgment("DESIGNER"), completion("DESIGNER"));
    const done = { say: words, write: { "a.md": "a\n" }, waitForFile: second.file };
    const id = await begin({ ackTimeout: 30, resendLimit: 1 }, [role("DESIGNER", silent, done)]);
    await engine.until(id, () => eventsOf(id, "message:resent").length > 0);
    expect(toDesigner(id)).toMatchObject({ state: "queued", deliveries: 1 });
    first.open();
    await engine.until(id, () => eventsOf(id, "message:expired").length > 0);
    expect(toDesigner(id)).toMatchObject({ state: "expired", deliveries: 2, acknowledgedAt: null });
    second.open();
    const run = await engine.until(id, ({ workers }) => workers["designer"]?.status === "completed");
    const [assignment] = run.teamMessages!.filter(({ to }) => to === "DESIGNER");
    expect(assignment).toMatchObject({ state: "acted", deliveries: 2 });
    const again = eventsOf(id, "message:resent").map(({ data }) => (data as { messageId: string }).messageId);
    expect(again.filter((messageId) => messageId === assignment!.id)).toHaveLength(1);
  });

  it("is acknowledged as soon as the role says so; a stop interrupts the turn and says how long it took", async () => {
    // Every look at the clock takes `STEP_MS`, so that a stop takes some time on any machine.
    let looks = 0;
    engine = lab.open(undefined, { world: { ...realWorld, mono: () => realWorld.mono() + STEP_MS * ++looks } });
    const hangs = { say: say(acknowledgment("DESIGNER")), then: "hang" };
    const id = await begin({}, [role("DESIGNER", hangs)]);
    const run = await engine.until(id, () => eventsOf(id, "message:acknowledged").length > 0);
    expect(run.workers["designer"]!.session.turn).not.toBeNull();
    expect(toDesigner(id)).toMatchObject({ state: "acknowledged" });
    await engine.cancelWorker(id, run.workers["designer"]!.sessionId);
    await engine.until(id, () => eventsOf(id, "worker:stopped").length > 0);
    const [stopped] = eventsOf(id, "worker:stopped").map(({ data }) => data as { taskId: string; tookMs: number });
    expect(stopped!.taskId).toBe("designer");
    expect(stopped!.tookMs).toBeGreaterThanOrEqual(STEP_MS);
    const entries = await engine.transcript(id, run.workers["designer"]!.sessionId);
    expect(entries.map(({ type }) => type)).toContain("interrupted");
  });

  it("expires if the session of the role dies", async () => {
    const id = await begin({}, [role("DESIGNER", { say: "Oh.", then: "fail:invalid_request" })]);
    await engine.until(id, () => eventsOf(id, "message:expired").length > 0);
    expect(toDesigner(id)).toMatchObject({ state: "expired", reasons: ["The session that it was sent to has ended."] });
  });
});

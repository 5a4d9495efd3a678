import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideSubSession, type SubSessionCommand } from "../../src/run/rules/decide-sub-session.ts";
import { applySubSession, depthOf, noSubSessions, rootOf, type SubSessions } from "../../src/run/fold/sub-sessions.ts";
import { EVENTS, type RunEvent } from "../../src/schema/event.ts";
import { SUBSESSION_STATUS, type SubSessionStatus } from "../../src/schema/status.ts";

const AT = Date.parse("2026-01-31T12:00:00.000Z");

class Relations {
  state: SubSessions = noSubSessions();
  readonly log: RunEvent[] = [];
  now = AT;

  order(command: SubSessionCommand): RunEvent[] {
    const events = decideSubSession(this.state, command, this.now);
    for (const event of events) applySubSession(this.state, event);
    this.log.push(...events);
    return events;
  }

  register(childSessionId: string, parentSessionId: string, more: object = {}): RunEvent[] {
    return this.order({ type: "register", childSessionId, parentSessionId, ...more });
  }

  set(status: SubSessionStatus, childSessionId = "child"): string[] {
    return this.order({ type: "setStatus", childSessionId, status }).map(({ type }) => type);
  }

  get child() {
    return this.state.relations.get("child")!;
  }
}

const withChild = (): Relations => {
  const relations = new Relations();
  relations.register("child", "parent", { taskToolId: "tool_1" });
  return relations;
};

describe("A sub-session", () => {
  it("starts active, without a message and without an error (D4-206, D4-278, D4-510)", () => {
    const relations = new Relations();
    const events = relations.register("child", "parent", { taskToolId: "tool_1" });
    const both = { childSessionId: "child", parentSessionId: "parent" };
    const timestamp = "2026-01-31T12:00:00.000Z";
    expect(events).toEqual([{ type: "subsession:registered", data: { ...both, taskToolId: "tool_1", timestamp } }]);
    expect(relations.child).toEqual({
      ...both,
      taskToolId: "tool_1",
      status: "active",
      lastAssistantMessage: null,
      messageCount: 0,
      error: null,
      createdAt: AT,
      lastActivityAt: AT,
      since: AT,
    });
  });

  it("goes from active through completing and completed to returned, and back to active only from completing (D4-211, D4-278, D4-577)", () => {
    const relations = withChild();
    expect(relations.set("completing")).toEqual(["subsession:statusChanged"]);
    relations.now += 1000;
    const events = relations.order({ type: "active", childSessionId: "child", messageCount: 4 });
    expect(events.map(({ type }) => type)).toEqual(["subsession:activity", "subsession:statusChanged"]);
    expect(relations.child).toMatchObject({ status: "active", messageCount: 4, lastActivityAt: AT + 1000 });
    relations.set("completing");
    relations.set("completed");
    expect(() => relations.set("active")).toThrow(/cannot become active/);
    relations.now += 1000;
    expect(relations.set("returned")).toEqual(["subsession:statusChanged", "subsession:resultReturned"]);
    expect(relations.child).toMatchObject({ status: "returned", returnedAt: AT + 2000 });
  });

  it("can become orphaned or error from every status, with an additional event (D4-229, D4-515, D4-516, D4-575, D4-576)", () => {
    const steps: SubSessionStatus[] = ["completing", "completed", "returned"];
    for (let length = 0; length <= steps.length; length++) {
      for (const end of ["orphaned", "error"] as const) {
        const relations = withChild();
        for (const step of steps.slice(0, length)) relations.set(step);
        expect(relations.set(end)).toEqual(["subsession:statusChanged", `subsession:${end}`]);
        expect(relations.child.status).toBe(end);
      }
    }
    const failed = withChild();
    failed.order({ type: "setStatus", childSessionId: "child", status: "error", updates: { error: "no luck" } });
    expect(failed.child.error).toBe("no luck");
    const both = { childSessionId: "child", parentSessionId: "parent" };
    expect(failed.log.at(-1)).toMatchObject({ type: "subsession:error", data: { ...both, error: "no luck" } });
    // Another attempt to return the result sets `completed`, which clears the error.
    failed.set("completed");
    expect(failed.child).toMatchObject({ status: "completed", error: null });
  });

  it("rejects every other change of status with wrong_state and stays unchanged", () => {
    const allowed = new Set(["active completing", "active completed", "completing active", "completing completed"]);
    for (const more of ["completed returned", "error completed"]) allowed.add(more);
    const statuses = Object.values(SUBSESSION_STATUS);
    const paths: Record<SubSessionStatus, SubSessionStatus[]> = {
      active: [],
      completing: ["completing"],
      completed: ["completed"],
      returned: ["completed", "returned"],
      orphaned: ["orphaned"],
      error: ["error"],
    };
    for (const from of statuses) {
      for (const to of statuses.filter((each) => each !== from && each !== "orphaned" && each !== "error")) {
        const relations = withChild();
        for (const step of paths[from]) relations.set(step);
        const before = structuredClone(relations.child);
        if (allowed.has(`${from} ${to}`)) relations.set(to);
        else expect(() => relations.set(to)).toThrow(expect.objectContaining({ code: "wrong_state" }));
        if (!allowed.has(`${from} ${to}`)) expect(relations.child).toEqual(before);
      }
    }
  });

  it("that was never registered is not found, and an ended one accepts no activity", () => {
    const relations = new Relations();
    expect(() => relations.set("completed", "nobody")).toThrow(expect.objectContaining({ code: "session_not_found" }));
    const ended = withChild();
    ended.set("orphaned");
    expect(() => ended.order({ type: "active", childSessionId: "child", messageCount: 1 })).toThrow(
      expect.objectContaining({ code: "wrong_state" }),
    );
  });

  it("has one parent: a second registration is idempotent, another parent is rejected, and an ended one starts again", () => {
    const relations = withChild();
    expect(relations.register("child", "parent")).toEqual([]);
    expect(() => relations.register("child", "other")).toThrow(expect.objectContaining({ code: "wrong_state" }));
    relations.set("completed");
    relations.set("returned");
    relations.register("child", "other");
    expect(relations.child).toMatchObject({ parentSessionId: "other", status: "active" });
    expect(relations.child.returnedAt).toBeUndefined();
  });

  it("can have sub-sessions up to the depth of the run and is never its own ancestor", () => {
    const relations = withChild();
    relations.register("grandchild", "child", { orchestratorId: "orch_1", depth: 2 });
    expect(depthOf(relations.state, "grandchild")).toBe(2);
    expect(rootOf(relations.state, "grandchild")).toBe("parent");
    expect(() => relations.register("deeper", "grandchild", { depth: 2 })).toThrow(
      expect.objectContaining({ code: "budget_exhausted" }),
    );
    for (const parent of ["parent", "child", "grandchild"])
      expect(() => relations.register("parent", parent)).toThrow(expect.objectContaining({ code: "wrong_state" }));
  });

  it("keeps its status when it is archived, and is removed when it is unregistered (E47, D4-511, D4-517, D4-574)", () => {
    const relations = withChild();
    relations.set("completed");
    relations.set("returned");
    relations.now += 5;
    expect(relations.order({ type: "archived", childSessionId: "child" })).toEqual([
      { type: "subsession:archived", data: { childSessionId: "child", timestamp: "2026-01-31T12:00:00.005Z" } },
    ]);
    expect(relations.child).toMatchObject({ status: "returned", archivedAt: AT + 5 });
    const [gone] = relations.order({ type: "unregister", childSessionId: "child" });
    expect(gone).toMatchObject({
      type: "subsession:unregistered",
      data: { childSessionId: "child", parentSessionId: "parent" },
    });
    expect(relations.state.relations.size).toBe(0);
  });
});

describe("A report of an agent about its subagents", () => {
  const started = {
    type: "started",
    childSessionId: "key/1",
    parentSessionId: "key",
    orchestratorId: "orch_1",
  } as const;
  const done = { type: "done", childSessionId: "key/1", text: "found it" } as const;

  it("registers and returns them once, even if it is repeated", () => {
    const relations = new Relations();
    relations.order(started);
    expect(relations.order(started)).toEqual([]);
    expect(relations.order(done).map(({ type }) => type)).toEqual([
      "subsession:statusChanged",
      "subsession:statusChanged",
      "subsession:resultReturned",
    ]);
    expect(relations.state.relations.get("key/1")).toMatchObject({
      status: "returned",
      lastAssistantMessage: "found it",
      orchestratorId: "orch_1",
    });
    expect([...relations.order(started), ...relations.order(done)]).toEqual([]);
  });

  it("has no effect for a sub-session that the user unregistered or that never started", () => {
    const relations = new Relations();
    expect(relations.order(done)).toEqual([]);
    relations.order(started);
    relations.order({ type: "unregister", childSessionId: "key/1" });
    expect([...relations.order(started), ...relations.order(done)]).toEqual([]);
  });
});

describe("Any sequence of commands", () => {
  const ids = fc.constantFrom("a", "b", "c", "d");
  const order: fc.Arbitrary<SubSessionCommand> = fc.oneof(
    fc.record({ type: fc.constant("register" as const), childSessionId: ids, parentSessionId: ids }),
    fc.record({
      type: fc.constant("started" as const),
      childSessionId: ids,
      parentSessionId: ids,
      orchestratorId: fc.constant("orch_1"),
    }),
    fc.record({ type: fc.constant("done" as const), childSessionId: ids, text: fc.constantFrom(null, "words") }),
    fc.record({
      type: fc.constant("setStatus" as const),
      childSessionId: ids,
      status: fc.constantFrom(...Object.values(SUBSESSION_STATUS)),
    }),
    fc.record({ type: fc.constant("active" as const), childSessionId: ids, messageCount: fc.nat(9) }),
    fc.record({ type: fc.constant("archived" as const), childSessionId: ids }),
    fc.record({ type: fc.constant("unregister" as const), childSessionId: ids }),
  );

  it("produces events of the schema that fold to the same state, and none if it is rejected", () => {
    fc.assert(
      fc.property(fc.array(order, { maxLength: 40 }), (orders) => {
        const relations = new Relations();
        for (const each of orders) {
          const before = structuredClone(relations.state);
          try {
            relations.order(each);
          } catch {
            expect(relations.state).toEqual(before);
          }
          relations.now += 1;
        }
        for (const { type, data } of relations.log) expect(EVENTS[type].safeParse(data).error).toBeUndefined();
        const again = noSubSessions();
        for (const event of relations.log) applySubSession(again, event as never);
        expect(again).toEqual(relations.state);
      }),
      { numRuns: 200 },
    );
  });
});

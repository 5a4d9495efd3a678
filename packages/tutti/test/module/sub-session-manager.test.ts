// The `SubSessionManager` of document 004 on a scripted controller in virtual time.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeController, type FakeSession } from "../session/fake-controller.ts";
import { ModuleLab } from "./module-lab.ts";
import { VirtualWorld } from "./virtual-world.ts";
import { SharedEngine, SUBSESSION_STATUS, SubSessionManager, TuttiError, type ModuleEvents } from "../../src/index.ts";

/** A controller that fails or delays calls as the test demands. */
class MoodyController extends FakeController {
  refuses: string[] = [];
  subSessions: { id: string; parentSessionId: string; taskToolId: string }[] = [];

  async getSubSessions(): Promise<unknown> {
    return this.subSessions;
  }

  takes: () => Promise<void> = () => Promise.resolve();
  most = 0;
  #reading = 0;

  override async getSession(id: string): Promise<unknown> {
    this.#mayRefuse("getSession");
    return super.getSession(id);
  }

  override async getAllSessions(): Promise<unknown> {
    this.#mayRefuse("getAllSessions");
    return super.getAllSessions();
  }

  override async sendMessage(id: string, message: string): Promise<void> {
    this.#mayRefuse("sendMessage");
    return super.sendMessage(id, message);
  }

  override async getTranscript(id: string): Promise<unknown> {
    this.most = Math.max(this.most, ++this.#reading);
    await this.takes();
    this.#reading--;
    return super.getTranscript(id);
  }

  #mayRefuse(name: string): void {
    if (this.refuses.includes(name)) throw new Error(`no ${name} now`);
  }
}

type Config = ConstructorParameters<typeof SubSessionManager>[1];

let lab: ModuleLab;
let controller: MoodyController;
let world: VirtualWorld;
let manager: SubSessionManager;
let received: { type: string; data: Record<string, unknown> }[];
const opened: SubSessionManager[] = [];

beforeEach(() => {
  lab = new ModuleLab();
  controller = new MoodyController(() => null);
  world = new VirtualWorld();
  manager = open();
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.sharedEngine.close().catch(() => {});
  await lab.close();
});

const TYPES = [
  "registered",
  "unregistered",
  "statusChanged",
  "activity",
  "resultReturned",
  "orphaned",
  "error",
  "archived",
  "monitoring:started",
  "monitoring:stopped",
] as const;

function open(config: Config = {}, dataDir: string | null = null): SubSessionManager {
  const stage = new SharedEngine(controller);
  stage.configure({ dataDir, world });
  const made = new SubSessionManager(stage, config);
  opened.push(made);
  received = [];
  const list = received;
  for (const name of TYPES) {
    const type = `subsession:${name}` as keyof ModuleEvents;
    made.on(type, (data: unknown) => list.push({ type: name, data: data as Record<string, unknown> }));
  }
  return made;
}

/** A session of the controller that no run started. */
function session(id: string, ...said: [role: string, content: unknown][]): FakeSession {
  const made: FakeSession = { id, cwd: "/project", title: id, messages: [], archived: false, says: {} };
  controller.sessions.set(id, made);
  for (const [role, content] of said) controller.say(made, role, content);
  return made;
}

const texts = (id: string): unknown[] => controller.sessions.get(id)!.messages.map(({ content }) => content);
const status = (id = "child") => manager.getRelation(id)?.status;

describe("SubSessionManager", () => {
  it("is created from a controller and nine settings with documented defaults (D4-413, D4-414, D4-231, D4-209)", () => {
    expect(manager.config).toEqual({
      pollInterval: 5000,
      inactivityThreshold: 60_000,
      confirmationDelay: 30_000,
      resultPrefix: "**[Resultat de sous-tache]**\n\n",
      resultSuffix: "",
      maxMessageLength: 50_000,
      autoArchiveOnReturn: false,
      detectTaskSpawn: true,
      taskSpawnWindow: 10_000,
    });
    expect(() => new SubSessionManager(null, { pollInterval: 0 })).toThrow(TuttiError);
  });

  it("applies the times of its settings (D4-231, D4-413)", async () => {
    manager = open({ pollInterval: 100, inactivityThreshold: 1000, confirmationDelay: 500, taskSpawnWindow: 50 });
    session("parent");
    session("child", ["assistant", "ready"]);
    manager.registerSubSession("child", "parent");
    manager.startMonitoring();
    await world.pass(100);
    expect(manager.getRelation("child")!.messageCount).toBe(1);
    await world.pass(900);
    expect(status()).toBe("active");
    await world.pass(100);
    expect(status()).toBe("completing");
    await world.pass(400);
    expect(status()).toBe("completing");
    await world.pass(100);
    expect(status()).toBe("returned");
    manager.stopMonitoring();
    manager.registerTaskSpawn("parent", "tool_1");
    manager.registerTaskSpawn("parent", "tool_2");
    await world.pass(50);
    expect(manager.tryLinkToTaskSpawn("soon")).toBe(true);
    await world.pass(1);
    expect(manager.tryLinkToTaskSpawn("late")).toBe(false);
  });

  it("exposes the statuses (D4-437)", () => {
    expect(SUBSESSION_STATUS).toEqual({
      ACTIVE: "active",
      COMPLETING: "completing",
      COMPLETED: "completed",
      RETURNED: "returned",
      ORPHANED: "orphaned",
      ERROR: "error",
    });
  });

  it("registers a child immediately, and emits the event when it is on disk (D4-205, D4-206, D4-417, D4-438, D4-510)", async () => {
    const relation = manager.registerSubSession("child", "parent", { taskToolId: "tool_1" });
    const now = new Date(world.now());
    expect(relation).toEqual({
      childSessionId: "child",
      parentSessionId: "parent",
      taskToolId: "tool_1",
      createdAt: now,
      lastActivityAt: now,
      status: "active",
      lastAssistantMessage: null,
      messageCount: 0,
      error: null,
    });
    expect(manager.registerSubSession("other", "parent")).toMatchObject({ taskToolId: null });
    expect(received).toEqual([]);
    await world.pass(0);
    const both = { childSessionId: "child", parentSessionId: "parent" };
    expect(received[0]).toEqual({
      type: "registered",
      data: { ...both, taskToolId: "tool_1", timestamp: now.toISOString() },
    });
    expect(() => manager.registerSubSession("", "parent")).toThrow(expect.objectContaining({ code: "invalid_input" }));
    expect(() => manager.registerSubSession("child", "another")).toThrow(
      expect.objectContaining({ code: "wrong_state" }),
    );
  });

  it("finds children by id, parent and status (D4-207, D4-208, D4-420, D4-421, D4-422, D4-423, D4-424, D4-425, E56)", () => {
    manager.registerSubSession("a", "p");
    manager.registerSubSession("b", "p");
    manager.registerSubSession("c", "q");
    manager.updateStatus("b", "completed");
    manager.updateStatus("c", "orphaned");
    expect(manager.getRelation("a")).toMatchObject({ childSessionId: "a", parentSessionId: "p" });
    expect(manager.getRelation("p")).toBeNull();
    expect(manager.getChildren("p").map(({ childSessionId }) => childSessionId)).toEqual(["a", "b"]);
    expect(manager.getActiveChildren("p").map(({ childSessionId }) => childSessionId)).toEqual(["a", "b"]);
    expect(manager.getChildren("q").map(({ childSessionId }) => childSessionId)).toEqual(["c"]);
    expect(manager.getActiveChildren("q")).toEqual([]);
    expect(manager.getByStatus("completed").map(({ childSessionId }) => childSessionId)).toEqual(["b"]);
    expect([manager.isSubSession("a"), manager.isSubSession("p")]).toEqual([true, false]);
    expect([manager.hasActiveSubSessions("p"), manager.hasActiveSubSessions("q")]).toEqual([true, false]);
    expect([...manager.relations.keys()]).toEqual(["a", "b", "c"]);
    expect(manager.parentToChildren).toEqual(
      new Map([
        ["p", new Set(["a", "b"])],
        ["q", new Set(["c"])],
      ]),
    );
    manager.getChildren("p")[0]!.status = "error";
    expect(manager.getRelation("a")!.status).toBe("active");
  });

  it("changes a status with new data, and rejects transitions that the document does not define (D4-278, D4-426, D4-438, D4-512)", async () => {
    manager.registerSubSession("child", "parent");
    manager.updateStatus("child", "completed", { lastAssistantMessage: "done", messageCount: 3 });
    manager.updateStatus("child", "returned", { returnedAt: new Date(5) });
    expect(manager.getRelation("child")).toMatchObject({
      status: "returned",
      lastAssistantMessage: "done",
      messageCount: 3,
      returnedAt: new Date(5),
    });
    expect(() => manager.updateStatus("child", "active", {})).toThrow(expect.objectContaining({ code: "wrong_state" }));
    expect(() => manager.updateStatus("none", "active", {})).toThrow(
      expect.objectContaining({ code: "session_not_found" }),
    );
    expect(() => manager.updateStatus("child", "gone" as "error", {})).toThrow(/not a status/);
    expect(() => manager.updateStatus("child", "error", { colour: "red" } as object)).toThrow(
      /cannot have the "colour"/,
    );
    await world.pass(0);
    expect(received[1]).toMatchObject({
      type: "statusChanged",
      data: {
        childSessionId: "child",
        parentSessionId: "parent",
        previousStatus: "active",
        newStatus: "completed",
        timestamp: new Date(world.now()).toISOString(),
      },
    });
  });

  it("records activity, which reactivates a completing child (D4-211, D4-427, D4-513, D4-577)", async () => {
    manager.registerSubSession("child", "parent");
    manager.updateStatus("child", "completing", {});
    await world.pass(1000);
    manager.recordActivity("child", 7);
    expect(manager.getRelation("child")).toMatchObject({
      status: "active",
      messageCount: 7,
      lastActivityAt: new Date(world.now()),
    });
    await world.pass(0);
    const timestamp = new Date(world.now()).toISOString();
    const data = { childSessionId: "child", parentSessionId: "parent", messageCount: 7, timestamp };
    expect(received).toContainEqual({ type: "activity", data });
    expect(() => manager.recordActivity("child", -1)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });
});

describe("monitoring", () => {
  it("polls every five seconds: after 60 s of silence a child is completing, after 30 s more it is returned (D4-204, D4-209, D4-210, D4-212, D4-213, D4-214, D4-215, D4-228, D4-415, D4-571, D4-572, D4-573)", async () => {
    session("parent", ["user", "go"]);
    const child = session("child", ["user", "look"], ["assistant", "looking"]);
    manager.registerSubSession("child", "parent");
    manager.startMonitoring();
    await world.pass(5000);
    expect(manager.getRelation("child")).toMatchObject({ messageCount: 2, status: "active" });
    await world.pass(40_000);
    controller.say(child, "assistant", "Found it.");
    await world.pass(5000);
    const lastActivity = world.now();
    expect(manager.getRelation("child")).toMatchObject({ messageCount: 3, lastActivityAt: new Date(lastActivity) });
    await world.pass(59_000);
    expect(status()).toBe("active");
    await world.pass(1000);
    expect(status()).toBe("completing");
    await world.pass(29_000);
    expect(status()).toBe("completing");
    expect(texts("parent")).toEqual(["go"]);
    await world.pass(1000);
    expect(world.now() - lastActivity).toBe(90_000);
    expect(manager.getRelation("child")).toMatchObject({
      status: "returned",
      lastAssistantMessage: "Found it.",
      returnedAt: new Date(world.now()),
    });
    expect(texts("parent")).toEqual(["go", "**[Resultat de sous-tache]**\n\nFound it."]);
    await world.pass(100_000);
    expect(texts("parent")).toHaveLength(2);
  });

  it("sets a child with new output back to active, and waits again (D4-211, D4-577)", async () => {
    session("parent");
    const child = session("child", ["assistant", "one"]);
    manager.registerSubSession("child", "parent");
    manager.startMonitoring();
    await world.pass(65_000);
    expect(status()).toBe("completing");
    controller.say(child, "assistant", "two");
    await world.pass(5000);
    expect(status()).toBe("active");
    await world.pass(60_000);
    expect(status()).toBe("completing");
  });

  it("does not count silence while a tool runs, the session is busy, or the last message is not from the assistant (E53)", async () => {
    session("parent");
    session("uses", ["assistant", [{ type: "tool_use", name: "Bash", input: {}, id: "t1" }]]);
    session("busy", ["assistant", "hm"]).says = { status: "running" };
    session("asked", ["assistant", "hm"], ["user", "and?"]);
    for (const id of ["uses", "busy", "asked"]) manager.registerSubSession(id, "parent");
    manager.startMonitoring();
    await world.pass(300_000);
    expect(["uses", "busy", "asked"].map(status)).toEqual(["active", "active", "active"]);
    controller.sessions.get("busy")!.says = {};
    await world.pass(55_000);
    expect(status("busy")).toBe("active");
    await world.pass(10_000);
    expect(status("busy")).toBe("completing");
  });

  it("does not count silence while one of several tools has no result (E53)", async () => {
    const use = (id: string) => ({ type: "tool_use", name: "Bash", input: {}, id });
    const result = (id: string) => [{ type: "tool_result", tool_use_id: id, content: "ok" }];
    session("parent");
    const child = session("child", ["assistant", [use("t1"), use("t2")]], ["user", result("t1")], ["assistant", "hm"]);
    manager.registerSubSession("child", "parent");
    manager.startMonitoring();
    await world.pass(300_000);
    expect(status()).toBe("active");
    controller.say(child, "user", result("t2"));
    controller.say(child, "assistant", "done");
    await world.pass(150_000);
    expect(status()).toBe("returned");
  });

  it("returns a session that cannot continue its turn as failed, once the parent is free, and not twice after a crash", async () => {
    manager = open({}, lab.data);
    const parent = session("parent");
    parent.says = { busy: true };
    session("child", ["assistant", [{ type: "tool_use", name: "Bash", input: {}, id: "t1" }]]).says = { isGone: true };
    manager.registerSubSession("child", "parent");
    manager.startMonitoring();
    await world.pass(150_000);
    expect(texts("parent")).toEqual([]);
    expect(status()).toBe("completed");
    const error = "its process ended in the middle of a turn";
    await controller.sendMessage("parent", `**[Resultat de sous-tache]**\n\nThe sub-session child failed: ${error}`);
    await manager.sharedEngine.close();
    parent.says = {};
    manager = open({}, lab.data);
    manager.startMonitoring();
    await world.pass(5000);
    await expect.poll(() => status()).toBe("error");
    expect(manager.getRelation("child")).toMatchObject({ error });
    expect(texts("parent")).toHaveLength(1);
  });

  it("does not send a result that the program of the parent has returned itself", async () => {
    session("parent");
    session("child", ["assistant", "ready"]).says = { isReturned: true };
    manager.registerSubSession("child", "parent", { taskToolId: "t1" });
    manager.startMonitoring();
    await world.pass(5000);
    expect(manager.getRelation("child")).toMatchObject({ status: "returned", lastAssistantMessage: "ready" });
    expect(texts("parent")).toEqual([]);
  });

  it("notes the last message of a child that ends while its poll reads it", async () => {
    session("parent");
    const child = session("child", ["assistant", "not yet"]);
    // The poll reads the transcript first, and then whether the program has returned the child.
    Object.defineProperty(child, "says", {
      get() {
        if (child.messages.length === 1) child.messages.push({ ...child.messages[0]!, content: "ready" });
        return { isReturned: true };
      },
    });
    manager.registerSubSession("child", "parent", { taskToolId: "t1" });
    manager.startMonitoring();
    await world.pass(5000);
    expect(manager.getRelation("child")).toMatchObject({ status: "returned", lastAssistantMessage: "ready" });
  });

  it("orphans children whose parent is gone, at the next poll and not only at the end (D4-229, D4-515, D4-575, E48)", async () => {
    session("parent");
    session("child", ["assistant", "hm"]);
    manager.registerSubSession("child", "parent");
    manager.startMonitoring();
    await world.pass(10_000);
    expect(status()).toBe("active");
    controller.sessions.delete("parent");
    await world.pass(5000);
    expect(status()).toBe("orphaned");
    const timestamp = new Date(world.now()).toISOString();
    const data = { childSessionId: "child", parentSessionId: "parent", timestamp };
    expect(received).toContainEqual({ type: "orphaned", data });
  });

  it("orphans no child because the controller does not answer", async () => {
    session("parent");
    session("child", ["assistant", "hm"]);
    manager.registerSubSession("child", "parent");
    manager.startMonitoring();
    controller.refuses = ["getSession", "getAllSessions"];
    await world.pass(30_000);
    expect(status()).toBe("active");
    controller.refuses = [];
    await world.pass(100_000);
    expect(status()).toBe("returned");
  });

  it("informs the parent when a child is gone without a result, and sets the child to error (D4-229, D4-516, D4-576)", async () => {
    session("parent");
    session("child", ["assistant", "hm"]);
    manager.registerSubSession("child", "parent");
    manager.startMonitoring();
    controller.sessions.delete("child");
    await world.pass(5000);
    expect(manager.getRelation("child")).toMatchObject({
      status: "error",
      error: 'The controller has no session "child". Check its id.',
    });
    expect(texts("parent")).toEqual([expect.stringContaining("The sub-session child failed")]);
    const timestamp = new Date(world.now()).toISOString();
    const error = 'The controller has no session "child". Check its id.';
    const data = { childSessionId: "child", parentSessionId: "parent", error, timestamp };
    expect(received.at(-1)).toEqual({ type: "error", data });
    await world.pass(50_000);
    expect(texts("parent")).toHaveLength(1);
  });

  it("delays a result until the parent is idle (E54)", async () => {
    const parent = session("parent");
    parent.says = { busy: true };
    session("child", ["assistant", "ready"]);
    manager.registerSubSession("child", "parent");
    manager.startMonitoring();
    await world.pass(150_000);
    expect(status()).toBe("completed");
    expect(manager.hasActiveSubSessions("parent")).toBe(true);
    parent.says = {};
    await world.pass(5000);
    expect(status()).toBe("returned");
    expect(texts("parent")).toHaveLength(1);
  });

  it("emits its start and its end, and polls nothing after its end (D4-415, D4-416, D4-518, D4-519)", async () => {
    session("parent");
    session("child", ["assistant", "ready"]);
    manager.registerSubSession("child", "parent");
    await world.pass(200_000);
    expect(status()).toBe("active");
    manager.startMonitoring();
    manager.startMonitoring();
    expect(manager.getStats().isMonitoring).toBe(true);
    await world.pass(0);
    const started = new Date(world.now()).toISOString();
    manager.stopMonitoring();
    expect(manager.getStats().isMonitoring).toBe(false);
    await world.pass(200_000);
    expect(status()).toBe("active");
    const own = received.filter(({ type }) => type.startsWith("monitoring"));
    expect(own).toEqual([
      { type: "monitoring:started", data: { timestamp: started } },
      { type: "monitoring:stopped", data: { timestamp: started } },
    ]);
  });

  it("runs one poll at a time, however slow the controller is (E79)", async () => {
    session("parent");
    session("child", ["assistant", "ready"]);
    manager = open({ pollInterval: 1 });
    manager.registerSubSession("child", "parent");
    controller.takes = () => world.sleep(100);
    manager.startMonitoring();
    const { subSessions } = manager.sharedEngine.engine;
    for (let i = 0; i < 10; i++) {
      void subSessions.poll();
      await world.pass(100);
    }
    expect(controller.times("getTranscript", "child").length).toBeGreaterThan(5);
    expect(controller.most).toBe(1);
    expect(manager.getRelation("child")!.messageCount).toBe(1);
  });
});

describe("a result", () => {
  beforeEach(() => {
    session("parent");
    session("child", ["user", "look"], ["assistant", "first"], ["assistant", "last words"], ["user", "thanks"]);
  });

  it("is the last message of the assistant, sent to the parent with its prefix (D4-216, D4-217, D4-219, D4-220, D4-221, D4-223, D4-428, D4-514, D4-573)", async () => {
    manager.registerSubSession("child", "parent");
    const formatted = "**[Resultat de sous-tache]**\n\nlast words";
    expect(await manager.extractAndReturnResult("child")).toEqual({ success: true, message: "last words", formatted });
    expect(texts("parent")).toEqual([formatted]);
    expect(manager.getRelation("child")).toMatchObject({ status: "returned", returnedAt: new Date(world.now()) });
    const timestamp = new Date(world.now()).toISOString();
    const data = { childSessionId: "child", parentSessionId: "parent", messageLength: 10, timestamp };
    await world.pass(0);
    expect(received.at(-1)).toEqual({ type: "resultReturned", data });
    expect(await manager.extractAndReturnResult("child")).toEqual({ alreadyReturned: true, message: "last words" });
    expect(texts("parent")).toHaveLength(1);
    expect(controller.sessions.get("child")!.archived).toBe(false);
  });

  it("can be forced from an active child, and from one in error (D4-429, D4-576)", async () => {
    manager.registerSubSession("child", "parent");
    controller.refuses = ["sendMessage"];
    expect(await manager.forceReturn("child")).toEqual({ success: false, message: "no sendMessage now" });
    expect(manager.getRelation("child")).toMatchObject({ status: "error", error: "no sendMessage now" });
    controller.refuses = [];
    expect(await manager.forceReturn("child")).toMatchObject({ success: true, message: "last words" });
    expect(manager.getRelation("child")).toMatchObject({ status: "returned", error: null });
    await expect(manager.forceReturn("nobody")).rejects.toMatchObject({ code: "session_not_found" });
  });

  it("is not sent if the parent is gone, and is kept with the orphan (D4-218, D4-428)", async () => {
    manager.registerSubSession("child", "gone");
    expect(await manager.extractAndReturnResult("child")).toEqual({ orphaned: true, message: "last words" });
    expect(manager.getRelation("child")).toMatchObject({ status: "orphaned", lastAssistantMessage: "last words" });
    expect(await manager.forceReturn("child")).toEqual({ orphaned: true, message: "last words" });
  });

  it("has the prefix and suffix of the settings, and is truncated if it is too long (D4-231, E57)", async () => {
    manager = open({ resultPrefix: "<", resultSuffix: ">", maxMessageLength: 100 });
    session("long", ["assistant", `${"x".repeat(65)}😀${"y".repeat(200)}`]);
    manager.registerSubSession("child", "parent");
    manager.registerSubSession("long", "parent");
    expect((await manager.forceReturn("child")).formatted).toBe("<last words>");
    const { formatted, message } = await manager.forceReturn("long");
    expect(formatted).toMatch(/^<x{65}(😀)?\n\n\[cut here: the message is longer\]>$/u);
    expect(formatted!.length).toBeLessThanOrEqual(102);
    expect(message).toHaveLength(267);
    expect(manager.getRelation("long")!.lastAssistantMessage).toHaveLength(267);
  });

  it("archives the child if the settings say so, and keeps its status (D4-222, D4-574, D4-517, E47)", async () => {
    manager = open({ autoArchiveOnReturn: true });
    manager.registerSubSession("child", "parent");
    await manager.forceReturn("child");
    expect(controller.sessions.get("child")!.archived).toBe(true);
    expect(manager.getRelation("child")).toMatchObject({ status: "returned", archivedAt: expect.any(Date) });
    await world.pass(0);
    const timestamp = new Date(world.now()).toISOString();
    expect(received.at(-1)).toEqual({ type: "archived", data: { childSessionId: "child", timestamp } });
  });

  it("is sent once, also if the sender crashed before it recorded that (E54)", async () => {
    const dataDir = lab.data;
    manager = open({}, dataDir);
    manager.registerSubSession("child", "parent");
    manager.updateStatus("child", "completed", {});
    await manager.sharedEngine.engine.flush();
    await controller.sendMessage("parent", "**[Resultat de sous-tache]**\n\nlast words");
    await manager.sharedEngine.close();
    manager = open({}, dataDir);
    manager.startMonitoring();
    expect(status()).toBe("completed");
    await world.pass(5000);
    await expect.poll(() => status()).toBe("returned");
    expect(texts("parent")).toHaveLength(1);
  });
});

describe("relations", () => {
  it("survive a restart with all their data (E32)", async () => {
    const dataDir = lab.data;
    manager = open({}, dataDir);
    manager.registerSubSession("child", "parent", { taskToolId: "tool_1" });
    manager.recordActivity("child", 4);
    manager.updateStatus("child", "error", { error: "no luck" });
    manager.registerSubSession("gone", "parent");
    await manager.unregister("gone");
    const before = manager.relations;
    await manager.sharedEngine.close();
    manager = open({}, dataDir);
    expect(manager.relations).toEqual(before);
    expect(manager.getRelation("child")).toMatchObject({ status: "error", error: "no luck", messageCount: 4 });
  });

  it("are unregistered one by one or all of a parent's, and the sessions are archived on request (D4-430, D4-431, D4-511)", async () => {
    session("parent");
    for (const id of ["a", "b", "c"]) {
      session(id, ["assistant", "hm"]);
      manager.registerSubSession(id, "parent");
    }
    await manager.unregister("a");
    expect(manager.getRelation("a")).toBeNull();
    expect(controller.sessions.get("a")!.archived).toBe(false);
    await world.pass(0);
    const timestamp = new Date(world.now()).toISOString();
    const data = { childSessionId: "a", parentSessionId: "parent", timestamp };
    expect(received.at(-1)).toEqual({ type: "unregistered", data });
    await manager.unregisterAllChildren("parent", { archiveSession: true });
    expect(manager.getChildren("parent")).toEqual([]);
    expect(["b", "c"].map((id) => controller.sessions.get(id)!.archived)).toEqual([true, true]);
    await expect(manager.unregister("a")).rejects.toMatchObject({ code: "session_not_found" });
  });

  it("that ended an hour ago are removed, by hand or by the monitor, and active ones are not (D4-230, D4-432)", async () => {
    session("parent");
    session("open", ["user", "go on"]);
    manager.registerSubSession("open", "parent");
    manager.registerSubSession("brief", "parent");
    manager.updateStatus("brief", "orphaned");
    await world.pass(1000);
    expect(await manager.cleanup({ maxAge: 1001 })).toEqual({ removed: 0 });
    expect(await manager.cleanup({ maxAge: 1000 })).toEqual({ removed: 1 });
    manager.registerSubSession("ended", "parent");
    manager.updateStatus("ended", "orphaned");
    await world.pass(3_599_000);
    expect(await manager.cleanup()).toEqual({ removed: 0 });
    expect(await manager.cleanup({ maxAge: 3_600_000 })).toEqual({ removed: 0 });
    await world.pass(1000);
    expect(await manager.cleanup()).toEqual({ removed: 1 });
    expect([...manager.relations.keys()]).toEqual(["open"]);
    manager.registerSubSession("later", "nobody");
    manager.startMonitoring();
    await world.pass(3_610_000);
    expect([...manager.relations.keys()]).toEqual(["open"]);
  });

  it("are counted by status, with parents and pending spawns (D4-433)", () => {
    expect(manager.getStats()).toEqual({
      total: 0,
      byStatus: { active: 0, completing: 0, completed: 0, returned: 0, orphaned: 0, error: 0 },
      parents: 0,
      pendingTaskSpawns: 0,
      isMonitoring: false,
    });
    manager.registerSubSession("a", "p");
    manager.registerSubSession("b", "p");
    manager.registerSubSession("c", "q");
    manager.updateStatus("c", "error");
    manager.registerTaskSpawn("p");
    expect(manager.getStats()).toMatchObject({
      total: 3,
      byStatus: { active: 2, error: 1 },
      parents: 2,
      pendingTaskSpawns: 1,
    });
  });
});

describe("a session that another session starts", () => {
  const task = (id: string, name = "Task") => ({ type: "tool_use", id, name, input: { description: `do ${id}` } });

  it("is linked to it if it appears within ten seconds, each to the first pending spawn (D4-224, D4-227, D4-418, D4-419, E49)", async () => {
    manager.registerTaskSpawn("parent", "tool_1");
    manager.registerTaskSpawn("parent", "tool_2");
    await world.pass(10_000);
    expect(manager.tryLinkToTaskSpawn("one")).toBe(true);
    expect(manager.getRelation("one")).toMatchObject({ parentSessionId: "parent", taskToolId: "tool_1" });
    expect(manager.getStats().pendingTaskSpawns).toBe(1);
    expect(manager.tryLinkToTaskSpawn("two")).toBe(true);
    expect(manager.getRelation("two")).toMatchObject({ taskToolId: "tool_2" });
    expect(manager.tryLinkToTaskSpawn("three")).toBe(false);
    manager.registerTaskSpawn("parent");
    expect(manager.tryLinkToTaskSpawn("parent")).toBe(false);
    expect(manager.tryLinkToTaskSpawn("one")).toBe(false);
    await world.pass(10_001);
    expect(manager.tryLinkToTaskSpawn("late")).toBe(false);
    expect(manager.getRelation("late")).toBeNull();
  });

  it("is found in the transcript as a tool use, and not as a to-do list (D4-434, E50, E52)", async () => {
    const uses = [task("toolu_1"), task("toolu_2", "Agent"), task("toolu_3", "TaskCreate"), task("toolu_4", "Read")];
    session("parent", ["user", "Task tool, please"], ["assistant", uses]);
    expect(await manager.scanForTaskSpawns("parent")).toEqual([
      { taskToolId: "toolu_1", source: "tool", description: "do toolu_1", message: 1 },
      { taskToolId: "toolu_2", source: "tool", description: "do toolu_2", message: 1 },
    ]);
    expect(manager.getStats().pendingTaskSpawns).toBe(2);
    await manager.scanForTaskSpawns("parent");
    expect(manager.getStats().pendingTaskSpawns).toBe(2);
  });

  it("is found as a block in the text, with either prefix, and as a mention, which is only a hint (D4-225, D4-226)", async () => {
    const open = '<invoke name="Task">';
    const inner = '<parameter name="description">look around</parameter>';
    for (const [at, prefix] of ["antml:", ""].entries()) {
      session(`parent-${at}`, ["assistant", `I start one.\n${open}\n${inner}\n</${prefix}invoke>\nDone.`]);
      expect(await manager.scanForTaskSpawns(`parent-${at}`)).toEqual([
        { taskToolId: null, source: "block", description: "look around", message: 0 },
      ]);
    }
    expect(manager.getStats().pendingTaskSpawns).toBe(2);
    for (const words of ["with subagent_type Explore", "I use the Task tool now"]) {
      session("talks", ["assistant", words]);
      expect(await manager.scanForTaskSpawns("talks")).toMatchObject([{ source: "mention" }]);
    }
    expect(manager.getStats().pendingTaskSpawns).toBe(2);
    session("says nothing", ["assistant", "A task is a tool."]);
    expect(await manager.scanForTaskSpawns("says nothing")).toEqual([]);
  });

  it("is linked among the new sessions of the controller, in the same folder and of no run (D4-435, E51)", async () => {
    session("parent");
    session("older");
    manager.registerTaskSpawn("parent", "tool_1");
    manager.registerTaskSpawn("parent", "tool_2");
    expect(await manager.autoDetectNewSessions()).toBe(0);
    session("elsewhere").cwd = "/other";
    session("new");
    expect(await manager.autoDetectNewSessions()).toBe(1);
    expect(manager.getChildren("parent").map(({ childSessionId }) => childSessionId)).toEqual(["new"]);
    expect(await manager.autoDetectNewSessions()).toBe(0);
  });

  it("is detected and linked automatically if the parent is watched (D4-436)", async () => {
    const parent = session("parent", ["assistant", [task("toolu_old")]], ["user", "thanks"]);
    await manager.watchParentSession("parent");
    expect(manager.getStats()).toMatchObject({ isMonitoring: true, pendingTaskSpawns: 0 });
    controller.say(parent, "assistant", [task("toolu_new")]);
    session("child", ["assistant", "at work"]);
    await world.pass(5000);
    expect(manager.getRelation("child")).toMatchObject({ parentSessionId: "parent", taskToolId: "toolu_new" });
    await expect(manager.watchParentSession("nobody")).rejects.toMatchObject({ code: "session_not_found" });
  });

  it("is linked by the tool id if the controller names the parents, at any depth and after any time", async () => {
    const parent = session("parent", ["assistant", [task("toolu_1")]]);
    await manager.watchParentSession("parent");
    await world.pass(60_000);
    for (const id of ["child", "inner", "history", "unrelated"]) session(id, ["assistant", "at work"]);
    controller.sessions.get("history")!.says = { isReturned: true };
    controller.subSessions = [
      { id: "child", parentSessionId: "parent", taskToolId: "toolu_1" },
      { id: "inner", parentSessionId: "child", taskToolId: "toolu_2" },
      { id: "history", parentSessionId: "parent", taskToolId: "toolu_0" },
    ];
    controller.say(parent, "assistant", "hm");
    await world.pass(5000);
    expect(manager.getRelation("child")).toMatchObject({ parentSessionId: "parent", taskToolId: "toolu_1" });
    expect(manager.getRelation("inner")).toMatchObject({ parentSessionId: "child", taskToolId: "toolu_2" });
    expect(["history", "unrelated"].map((id) => manager.isSubSession(id))).toEqual([false, false]);
  });

  it("is linked by its name if the result of new_task has it, as in Roo Code", async () => {
    const result = { type: "tool_result", tool_use_id: "call_1", content: "Delegated to child task child-7" };
    const parent = session("parent", ["assistant", [task("call_1", "new_task")]], ["user", [result]]);
    session("child-7", ["assistant", "at work"]);
    await manager.watchParentSession("parent");
    expect(manager.getRelation("child-7")).toMatchObject({ parentSessionId: "parent", taskToolId: "call_1" });
    controller.say(parent, "assistant", "hm");
    expect(manager.getStats().pendingTaskSpawns).toBe(0);
  });

  it("is detected after a restart too, until the parent is gone", async () => {
    const parent = session("parent");
    manager = open({}, lab.data);
    await manager.watchParentSession("parent");
    await manager.sharedEngine.close();
    manager = open({}, lab.data);
    manager.startMonitoring();
    await world.pass(5000);
    controller.say(parent, "assistant", [task("toolu_1")]);
    session("child", ["assistant", "at work"]);
    await world.pass(5000);
    await expect.poll(() => manager.isSubSession("child")).toBe(true);
    controller.sessions.delete("parent");
    await world.pass(5000);
    const watched = () => manager.sharedEngine.engine.subSessionLog.stored.watched;
    await expect.poll(() => watched().size).toBe(0);
  });

  it("is not detected if the settings say so (D4-231)", async () => {
    manager = open({ detectTaskSpawn: false });
    const parent = session("parent");
    await manager.watchParentSession("parent");
    controller.say(parent, "assistant", [task("toolu_1")]);
    session("child", ["assistant", "at work"]);
    await world.pass(20_000);
    expect(manager.isSubSession("child")).toBe(false);
  });
});

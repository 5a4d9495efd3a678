// Whole runs whose sessions belong to a foreign controller, which `FakeController` replaces here.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { ModuleLab, until } from "./module-lab.ts";
import { VirtualWorld } from "./virtual-world.ts";
import { FakeController, twoPages, type FakeAgent, type FakeSession } from "../session/fake-controller.ts";
import { SharedEngine } from "../../src/index.ts";

let lab: ModuleLab;

const quick = { pollInterval: 5 };
/** Ready immediately, so that no test waits the 1.5 s that an unknown session gets. */
const ready =
  (agent: FakeAgent): FakeAgent =>
  (session, message) => {
    session.says = { isReady: true };
    return agent(session, message);
  };
/** Every variable that a worker prompt can use. */
const WORKER_PROMPT = `Task {TASK_ID}: {TASK_TITLE}
{TASK_DESCRIPTION}
{TASK_SCOPE}
{ORIGINAL_REQUEST}
{USER_REQUEST}
{CWD}
{TEMPLATE_NAME}
End with the "completion" block.`;
const isWorker = ({ title }: FakeSession): boolean => title.startsWith("[Worker]");
/** Plans like `twoPages`, and never answers as a worker. */
const silentWorkers = ready((session, message) => (isWorker(session) ? null : twoPages(session, message)));

describe("a run that a session controller has completed", () => {
  let made: ReturnType<typeof make> | undefined;
  /** One run for all tests, which only read it. It is not created in a hook, so that a run that hangs fails a test. */
  const shared = () => (made ??= make());
  async function make() {
    lab = new ModuleLab();
    lab.template("pages", { name: "Pages", prompts: { worker: { user: WORKER_PROMPT } } });
    const controller = new FakeController(ready(twoPages));
    await controller.startNewSessionWithMessage("/elsewhere", "hello", { title: "The user's own" });
    const { orchestrators, workers } = lab.managers(controller, quick, { ...quick, spawnDelay: 0 });
    const completed: string[] = [];
    workers.on("worker:completed", ({ taskId }) => completed.push(taskId));
    const id = await lab.work(orchestrators, { templateId: "pages" });
    await until(orchestrators, id, "completed");
    return { controller, orchestrators, workers, id, completed };
  }
  afterAll(() => lab.close());

  it("was driven by polling alone, from the request to the merged branch (D4-043, D4-081, D4-082, D4-089)", async () => {
    const { controller, orchestrators, id, completed } = await shared();
    expect(orchestrators.get(id)).toMatchObject({ outcome: "success", agent: "controller" });
    expect(completed.toSorted()).toEqual(["one", "two"]);
    expect(lab.git("ls-tree", "-r", "--name-only", `tutti/${id}`)).toContain("docs/one.md\ndocs/two.md");
    const [, ...ours] = [...controller.sessions.values()];
    const titles = ours.map(({ title }) => title);
    expect(titles.toSorted()).toEqual(["[Orchestrator] Pages", "[Worker] Page one", "[Worker] Page two"]);
    for (const session of ours) expect(controller.times("getTranscript", session.id).length).toBeGreaterThan(0);
    for (const { messages, cwd } of ours.filter(isWorker)) {
      expect(messages[0]).toMatchObject({ role: "user", content: expect.stringContaining("You have one task") });
      expect(cwd).toContain(lab.data);
    }
    expect(lab.leftovers()).toEqual([]);
  });

  it("gave each worker its task, the request and the forms of its reports (D4-079, D4-080)", async () => {
    const { controller } = await shared();
    const { messages, cwd } = [...controller.sessions.values()].find(({ title }) => title === "[Worker] Page one")!;
    const prompt = String(messages[0]!.content);
    for (const part of ["You have one task", '"phase": "progress"', '"phase": "completion"'])
      expect(prompt).toContain(part);
    expect(prompt).toContain(`Task one: Page one\nWrite one\n[]\ndo it\ndo it\n${cwd}\nPages\n`);
  });

  it("shares the session list of the controller, without sessions of workers", async () => {
    const { orchestrators } = await shared();
    const titles = async (options = {}) => (await orchestrators.listSessions(options)).map(({ title }) => title);
    expect(await titles()).toEqual(["[Orchestrator] Pages", "The user's own"]);
    expect(await titles({ includeHidden: true })).toHaveLength(4);
  });
});

describe("a run on a session controller", () => {
  beforeEach(() => {
    lab = new ModuleLab();
  });
  afterEach(() => lab.close());

  it("continues with its sessions after the previous process ended (E32)", async () => {
    const controller = new FakeController(silentWorkers);
    const first = lab.managers(controller, quick, { ...quick, spawnDelay: 0 });
    const id = await lab.work(first.orchestrators);
    await expect.poll(() => controller.sessions.size).toBe(3);
    await first.orchestrators.close({ leaveRunning: true });
    for (const session of [...controller.sessions.values()].filter(isWorker))
      controller.say(session, "assistant", twoPages(session, String(session.messages[0]!.content)));
    const second = lab.managers(controller, quick, { ...quick, spawnDelay: 0 });
    second.orchestrators.startMonitoring();
    expect((await until(second.orchestrators, id, "completed")).outcome).toBe("success");
    expect(controller.sessions.size).toBe(3);
    expect(second.workers.getAllWorkers(id).map(({ attempt }) => attempt)).toEqual([1, 1]);
  });

  it("rejects a template whose phases need other agents", async () => {
    lab.template("mixed", { phases: { verification: { enabled: true, agent: "claude" } } });
    const { orchestrators } = lab.managers(new FakeController(twoPages));
    const request = { templateId: "mixed", cwd: lab.repo, message: "do it" };
    await expect(orchestrators.create(request)).rejects.toMatchObject({ code: "agent_unknown" });
    expect(orchestrators.getAll()).toEqual([]);
  });

  it("accepts a `pollInterval` from 500 to 30000 ms, 2000 by default (D4-541)", async () => {
    const { orchestrators } = lab.managers(new FakeController(twoPages));
    const create = (config: object) =>
      orchestrators.create({ templateId: "_default", cwd: lab.repo, message: "do it", config });
    const taken = async (config: object) => (await create(config)).template.config.pollInterval;
    expect(await taken({})).toBe(2000);
    for (const pollInterval of [500, 30_000]) expect(await taken({ pollInterval })).toBe(pollInterval);
    for (const pollInterval of [499, 30_001])
      await expect(create({ pollInterval })).rejects.toMatchObject({
        message: expect.stringContaining("pollInterval"),
      });
  });
});

describe("a run on a session controller in virtual time", () => {
  let world: VirtualWorld;
  beforeEach(() => {
    lab = new ModuleLab();
    world = new VirtualWorld();
  });
  afterEach(() => lab.close());

  type Managers = ReturnType<ModuleLab["managers"]>;
  function open(
    controller: FakeController,
    ...settings: Parameters<typeof lab.managers> extends [unknown, ...infer R] ? R : never
  ): Managers {
    SharedEngine.of(controller).configure({ world });
    return lab.managers(controller, ...settings);
  }

  /** Advances time in small steps until `found` returns a value. */
  async function passUntil<T>(found: () => T | undefined, ms = 20): Promise<T> {
    await expect.poll(() => world.pass(ms).then(() => Boolean(found())), { interval: 5 }).toBe(true);
    return found() as T;
  }

  async function confirmed({ orchestrators }: Managers, more: object = {}): Promise<string> {
    const id = await lab.begin(orchestrators, more);
    await passUntil(() => orchestrators.get(id)!.status === "confirming");
    await orchestrators.advanceToPhase(id, "workerExecution");
    return id;
  }

  const sessionOf = (controller: FakeController, title: string) => () =>
    [...controller.sessions.values()].find((session) => session.title === title);
  /** Counts the polls of a session in the given time. */
  async function looksIn(ms: number, controller: FakeController, { id }: FakeSession): Promise<number> {
    const before = controller.times("getTranscript", id).length;
    await world.pass(ms);
    return controller.times("getTranscript", id).length - before;
  }

  /** Whether nothing polls the session for ten seconds. The engine also waits for the disk, which takes real time. */
  async function isLeftAlone(controller: FakeController, session: FakeSession): Promise<boolean> {
    let looks = 0;
    for (let second = 0; second < 10; second++) {
      looks += await looksIn(1000, controller, session);
      await sleep(10);
    }
    return looks === 0;
  }

  it("starts workers half a second apart unless a setting changes that (D4-107)", async () => {
    const managers = open(new FakeController(silentWorkers), quick, quick);
    const { workers } = managers;
    const times: number[] = [];
    workers.on("worker:spawning", () => times.push(world.now()));
    const id = await confirmed(managers);
    expect(managers.orchestrators.get(id)!.template.config.spawnDelay).toBe(500);
    await passUntil(() => times.length === 2);
    const [first, second] = workers.getAllWorkers(id);
    expect([first?.taskId, second?.taskId]).toEqual(["one", "two"]);
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(500);
  });

  it("has its main session polled every 3 s and its workers every 2 s, unless a setting changes that (D4-086, D4-332, D4-592)", async () => {
    const controller = new FakeController(silentWorkers);
    controller.agent = (session, message) => (message.includes('"task_list"') ? null : silentWorkers(session, message));
    const managers = open(controller, {}, { spawnDelay: 0 });
    const { orchestrators } = managers;
    const id = await lab.begin(orchestrators);
    await passUntil(() => orchestrators.get(id)!.status === "planning", 100);
    const main = await passUntil(sessionOf(controller, "[Orchestrator] Default"));
    await passUntil(() => main.messages.length === 3);
    expect(await looksIn(30_000, controller, main)).toBe(10);
    controller.agent = silentWorkers;
    controller.say(main, "assistant", twoPages(main, String(main.messages.at(-1)!.content)));
    await passUntil(() => orchestrators.get(id)!.status === "confirming", 100);
    await orchestrators.advanceToPhase(id, "workerExecution");
    const worker = await passUntil(sessionOf(controller, "[Worker] Page one"));
    await passUntil(() => controller.times("getTranscript", worker.id).length > 0);
    expect(await looksIn(30_000, controller, worker)).toBe(15);
  });

  it("has its workers polled at the interval of the template if the manager sets none (D4-541, D4-592)", async () => {
    const controller = new FakeController(silentWorkers);
    const managers = open(controller, quick, { spawnDelay: 0 });
    await confirmed(managers, { config: { pollInterval: 3000 } });
    const worker = await passUntil(sessionOf(controller, "[Worker] Page one"));
    await passUntil(() => controller.times("getTranscript", worker.id).length > 0);
    expect(await looksIn(30_000, controller, worker)).toBe(10);
  });

  it("is polled only on request while monitoring is stopped (D4-333, D4-334, D4-359, D4-360, D4-361)", async () => {
    const controller = new FakeController(ready(twoPages));
    const { orchestrators, workers } = open(controller, { pollInterval: 500 }, { pollInterval: 500, spawnDelay: 0 });
    const id = await lab.begin(orchestrators);
    orchestrators.stopMonitoring();
    workers.stopMonitoring();
    const main = await passUntil(sessionOf(controller, "[Orchestrator] Default"));
    expect(await isLeftAlone(controller, main)).toBe(true);
    expect(orchestrators.get(id)!.status).toBe("analyzing");
    await expect
      .poll(async () => orchestrators.pollOrchestrator(id).then(() => orchestrators.get(id)!.status))
      .toBe("confirming");
    await orchestrators.advanceToPhase(id, "workerExecution");
    const worker = await passUntil(sessionOf(controller, "[Worker] Page one"));
    await passUntil(sessionOf(controller, "[Worker] Page two"));
    const { sessionId } = workers.getWorkerByTaskId("one")!;
    await world.pass(10_000);
    expect(controller.times("getTranscript", worker.id)).toEqual([]);
    expect(workers.getWorker(sessionId)!.status).toBe("running");
    const polled = await workers.pollWorker(sessionId);
    expect(polled).toMatchObject({ hasUpdate: true, state: { status: "completed", outputFiles: ["docs/one.md"] } });
    workers.startMonitoring();
    await passUntil(() => workers.getWorkerByTaskId("two")!.status === "completed", 100);
    await passUntil(() => main.messages.some(({ content }) => String(content).includes('"aggregation" block')));
    expect(await isLeftAlone(controller, main)).toBe(true);
    orchestrators.startMonitoring();
    await passUntil(() => orchestrators.get(id)!.status === "completed", 100);
  });

  it("retries a task after the controller has lost its session", async () => {
    let lost = false;
    const controller = new FakeController(
      ready((session, message) => {
        if (session.title !== "[Worker] Page one" || lost) return twoPages(session, message);
        lost = true;
        queueMicrotask(() => controller.sessions.delete(session.id));
        return null;
      }),
    );
    const managers = open(controller, { pollInterval: 10 }, { pollInterval: 10, spawnDelay: 0 });
    const id = await confirmed(managers);
    await passUntil(() => managers.orchestrators.get(id)!.status === "completed", 100);
    expect(managers.orchestrators.get(id)!.outcome).toBe("success");
    expect(managers.workers.getWorkerByTaskId("one", id)!.attempt).toBe(2);
  });
});

// Whole runs whose sessions belong to a controller of somebody else's. That cannot run here; a stand-in takes its place.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ModuleLab, until, untilWorker } from "./module-lab.ts";
import { FakeController, twoPages, type FakeAgent } from "../session/fake-controller.ts";

let lab: ModuleLab;
beforeEach(() => {
  lab = new ModuleLab();
});
afterEach(() => lab.close());

const quick = { pollInterval: 20 };
/** Ready at once, so that nothing waits for the 1.5 s that an unknown session is given. */
const ready =
  (agent: FakeAgent): FakeAgent =>
  (session, message) => {
    session.says = { isReady: true };
    return agent(session, message);
  };

describe("a run on a session controller", () => {
  it("is carried out by polling alone, from the request to the merged branch (D4-043, D4-081, D4-082, D4-089)", async () => {
    const controller = new FakeController(ready(twoPages));
    const { orchestrators, workers } = lab.managers(controller, quick, { ...quick, spawnDelay: 0 });
    const completed: string[] = [];
    workers.on("worker:completed", ({ taskId }) => completed.push(taskId));
    const id = await lab.work(orchestrators);
    const state = await until(orchestrators, id, "completed");
    expect(state).toMatchObject({ outcome: "success", agent: "controller" });
    expect(completed.toSorted()).toEqual(["one", "two"]);
    expect(lab.git("ls-tree", "-r", "--name-only", `tutti/${id}`)).toContain("docs/one.md\ndocs/two.md");
    const titles = [...controller.sessions.values()].map(({ title }) => title);
    expect(titles.toSorted()).toEqual(["[Orchestrator] Default", "[Worker] Page one", "[Worker] Page two"]);
    expect(lab.leftovers()).toEqual([]);
  });

  it("gives each worker its task, the request and the forms of its reports (D4-079, D4-080)", async () => {
    const controller = new FakeController(ready(twoPages));
    const { orchestrators } = lab.managers(controller, quick, { ...quick, spawnDelay: 0 });
    const id = await lab.work(orchestrators);
    await until(orchestrators, id, "completed");
    const { messages } = [...controller.sessions.values()].find(({ title }) => title === "[Worker] Page one")!;
    const prompt = String(messages[0]!.content);
    for (const part of ["Task one: Page one", "Write one", "Scope: []", "do it", '"phase": "progress"', '"completion"'])
      expect(prompt).toContain(part);
    expect(prompt).not.toMatch(/\{(TASK_\w+|ORIGINAL_REQUEST|USER_REQUEST|CWD|TEMPLATE_NAME)\}/);
  });

  it("starts workers half a second apart unless it is told otherwise (D4-107)", async () => {
    const controller = new FakeController(ready(twoPages));
    const { orchestrators, workers } = lab.managers(controller, quick, quick);
    const times: number[] = [];
    workers.on("worker:spawning", () => times.push(performance.now()));
    const id = await lab.work(orchestrators);
    expect(orchestrators.get(id)!.template.config.spawnDelay).toBe(500);
    await until(orchestrators, id, "completed");
    expect(times[1]! - times[0]!).toBeGreaterThan(480);
  });

  it("looks at its workers as seldom as the template says, where the manager does not say it (D4-541, D4-592)", async () => {
    const silent: FakeAgent = (session, message) =>
      message.includes("You have one task") ? null : twoPages(session, message);
    const controller = new FakeController(ready(silent));
    const { orchestrators } = lab.managers(controller, quick, { spawnDelay: 0 });
    const id = await lab.work(orchestrators, { config: { pollInterval: 3000 } });
    const worker = () => [...controller.sessions].find(([, { title }]) => title.startsWith("[Worker]"))?.[0] ?? "none";
    const looks = () => controller.times("getTranscript", worker());
    await expect.poll(() => looks().length, { timeout: 30_000, interval: 100 }).toBeGreaterThan(2);
    const [first, , third] = looks();
    expect((third! - first!) / 2).toBeGreaterThan(2500);
    await orchestrators.cancel(id);
  });

  it("looks only when it is asked to while nobody monitors it (D4-333, D4-334, D4-359, D4-360, D4-361)", async () => {
    const controller = new FakeController(ready(twoPages));
    const { orchestrators, workers } = lab.managers(controller, quick, { ...quick, spawnDelay: 0 });
    const id = await lab.begin(orchestrators);
    orchestrators.stopMonitoring();
    workers.stopMonitoring();
    await orchestrators.backstage.engine.until(id, (run) => run.main?.turn != null);
    await expect.poll(() => controller.sessions.size).toBe(1);
    await new Promise((done) => setTimeout(done, 200));
    expect(orchestrators.get(id)!.status).toBe("analyzing");
    await expect
      .poll(async () => orchestrators.pollOrchestrator(id).then(() => orchestrators.get(id)!.status))
      .toBe("confirming");
    await orchestrators.advanceToPhase(id, "workerExecution");
    const { sessionId } = await untilWorker(workers, id, "one", "running");
    await expect.poll(() => controller.sessions.size).toBe(3);
    await new Promise((done) => setTimeout(done, 200));
    expect(workers.getWorker(sessionId)!.status).toBe("running");
    const polled = await workers.pollWorker(sessionId);
    expect(polled).toMatchObject({ hasUpdate: true, state: { status: "completed", outputFiles: ["docs/one.md"] } });
    workers.startMonitoring();
    orchestrators.startMonitoring();
    await until(orchestrators, id, "completed");
  });

  it("goes on with the sessions that it had when the process before it went (E32)", async () => {
    let hold = true;
    const controller = new FakeController(
      ready((session, message) => (hold && session.title.startsWith("[Worker]") ? null : twoPages(session, message))),
    );
    const first = lab.managers(controller, quick, { ...quick, spawnDelay: 0 });
    const id = await lab.work(first.orchestrators);
    await expect.poll(() => controller.sessions.size).toBe(3);
    await first.orchestrators.close({ leaveRunning: true });
    hold = false;
    for (const session of controller.sessions.values()) {
      const answer = session.title.startsWith("[Worker]")
        ? twoPages(session, String(session.messages[0]!.content))
        : null;
      if (answer !== null) controller.say(session, "assistant", answer);
    }
    const second = lab.managers(controller, quick, { ...quick, spawnDelay: 0 });
    second.orchestrators.startMonitoring();
    expect((await until(second.orchestrators, id, "completed")).outcome).toBe("success");
    expect(controller.sessions.size).toBe(3);
    expect(second.workers.getAllWorkers(id).map(({ attempt }) => attempt)).toEqual([1, 1]);
  });

  it("tries a task anew when the controller has lost its session", async () => {
    let lost = false;
    const controller = new FakeController(
      ready((session, message) => {
        if (session.title !== "[Worker] Page one" || lost) return twoPages(session, message);
        lost = true;
        setTimeout(() => controller.sessions.delete(session.id), 50);
        return null;
      }),
    );
    const { orchestrators, workers } = lab.managers(controller, quick, { pollInterval: 1, spawnDelay: 0 });
    const id = await lab.work(orchestrators);
    expect((await until(orchestrators, id, "completed")).outcome).toBe("success");
    expect(workers.getWorkerByTaskId("one", id)!.attempt).toBe(2);
  });

  it("shares the list of the controller's sessions, without those of workers", async () => {
    const controller = new FakeController(ready(twoPages));
    await controller.startNewSessionWithMessage("/elsewhere", "hello", { title: "A person's own" });
    const { orchestrators } = lab.managers(controller, quick, { ...quick, spawnDelay: 0 });
    const id = await lab.work(orchestrators);
    await until(orchestrators, id, "completed");
    const titles = async (options = {}) => (await orchestrators.listSessions(options)).map(({ title }) => title);
    expect(await titles()).toEqual(["[Orchestrator] Default", "A person's own"]);
    expect(await titles({ includeHidden: true })).toHaveLength(4);
  });

  it("refuses a template whose phases want other agents", async () => {
    lab.template("mixed", { phases: { verification: { enabled: true, agent: "claude" } } });
    const { orchestrators } = lab.managers(new FakeController(twoPages));
    const request = { templateId: "mixed", cwd: lab.repo, message: "do it" };
    await expect(orchestrators.create(request)).rejects.toMatchObject({ code: "agent_unknown" });
    expect(orchestrators.getAll()).toEqual([]);
  });
});

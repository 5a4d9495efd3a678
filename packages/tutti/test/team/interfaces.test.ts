// Contracts between tasks: a plan names shared interfaces with one owner each.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "../engine/engine-lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import type { Run } from "../../src/schema/run.ts";

let lab: EngineLab;
let engine: Engine;
beforeAll(() => {
  lab = new EngineLab();
  engine = lab.open();
});
afterAll(async () => {
  for (const each of lab.engines) await each.close();
  lab.tearDown();
});

const INTERFACES = [
  { name: "API", owner: "owner", files: ["src/api.ts", "src/types/"] },
  { name: "Lost", owner: "nobody", files: ["x.ts"] },
];

const turn = (...files: string[]) => ({
  tools: ["Write"],
  write: Object.fromEntries(files.map((file) => [file, `of {TASK_ID}\n`])),
  block: done({ summary: "done" }),
});

/** The plan: `owner` and `other` in parallel, then `later`, which builds on `other`. */
async function begin(...ofOther: object[]): Promise<string> {
  const sessions = mainSession([{ id: "owner" }, { id: "other" }, { id: "later", dependencies: ["other"] }]).map(
    (session) =>
      "phase" in session.match && session.match.phase === "task_list"
        ? { ...session, turns: session.turns.map((each) => withInterfaces(each)) }
        : session,
  );
  const agent = lab.scenario([...sessions, worker("owner", turn("src/types/a.ts")), ...ofOther, goodWorker] as never);
  const id = await lab.begin(engine, agent);
  const planned = await engine.until(id, ({ status }) => status === "confirming");
  expect(planned.tasks[0]!.interfaces).toEqual([{ name: "API", files: ["src/api.ts", "src/types/"] }]);
  expect(planned.planWarnings.at(-1)).toContain('the interface {"name":"Lost"');
  await engine.order(id, "confirm");
  return id;
}

function withInterfaces(each: object): object {
  const { block } = each as { block: { phase: string; data: object } };
  return { ...each, block: { ...block, data: { ...block.data, interfaces: INTERFACES } } };
}

const blockerIn = ({ inbox }: Run) => Object.values(inbox).find(({ kind }) => kind === "blocker");
const untilBlocked = async (id: string): Promise<Run> => {
  const run = await engine.until(
    id,
    (each) => blockerIn(each) !== undefined && each.workers["owner"]?.status === "completed",
  );
  await engine.settled(id);
  return run;
};
const startedTasks = (id: string) =>
  engine
    .events({ run: id })
    .flatMap(({ type, data }: StoredEvent) => (type === "worker:started" ? [(data as { taskId: string }).taskId] : []));

const promptsOf = async (id: string, sessionId: string): Promise<string[]> =>
  (await engine.transcript(id, sessionId)).flatMap((entry) => (entry.type === "prompt" ? [entry.text] : []));

describe("a change of an interface by a task that does not own it", () => {
  it("is a blocker before the merge, and its task starts again without it", async () => {
    const first = { match: { role: "worker", task: "other", attempt: 1 }, turns: [turn("src/api.ts", "b.ts")] };
    const id = await begin(first, worker("other", turn("b.ts")));
    const blocked = await untilBlocked(id);
    const item = blockerIn(blocked)!;
    expect(item).toMatchObject({
      taskId: "other",
      question: "Task other changed src/api.ts of the interface API, which belongs to task owner.",
      options: ["merge the change", "send it back"],
      evidence: { interfaces: [{ name: "API", owner: "owner", files: ["src/api.ts"] }] },
    });
    expect(engine.get(id)!.workers["other"]).toMatchObject({ status: "completed", merged: "not yet" });
    expect(startedTasks(id).toSorted()).toEqual(["other", "owner"]);
    expect(lab.git("ls-tree", "-r", "--name-only", engine.get(id)!.head!)).not.toContain("b.ts");
    const { sessionId } = blocked.workers["other"]!;
    expect((await promptsOf(id, sessionId))[0]).toContain(
      "- API (src/api.ts, src/types/): of task owner. Do not change",
    );
    expect((await promptsOf(id, blocked.workers["owner"]!.sessionId))[0]).toContain(
      "- API (src/api.ts, src/types/): yours.",
    );
    await engine.answer(item.id, { option: 1 });
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ outcome: "success", inbox: {} });
    expect(run.workers["other"]).toMatchObject({ attempt: 2, retryCount: 0, merged: "merged" });
    expect((await promptsOf(id, run.workers["other"]!.sessionId))[0]).toContain(
      "it changed src/api.ts of the interface API, which belongs to task owner. Do the task without that change.",
    );
    const files = lab.git("ls-tree", "-r", "--name-only", run.head!);
    expect(files).toContain("b.ts");
    expect(files).not.toContain("src/api.ts");
  });

  it("is merged if the user allows it", async () => {
    const id = await begin(worker("other", turn("src/api.ts")));
    const item = blockerIn(await untilBlocked(id))!;
    await engine.answer(item.id, { text: "merge the change" });
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    expect(startedTasks(id).at(-1)).toBe("later");
    expect(lab.git("show", `${run.head!}:src/api.ts`)).toBe("of other");
    const decisions = engine.events({ run: id }).filter(({ type }) => type === "blocker:resolved");
    expect(decisions).toMatchObject([{ data: { taskId: "other", decision: "merge the change" } }]);
  });
});

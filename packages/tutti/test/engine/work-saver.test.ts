import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { attemptRef } from "../../src/schema/ids.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

/**
 * Writes a file and reports a tool call. The first attempt then dies as soon as its work is saved; the second
 * completes.
 */
function program(): string {
  const file = join(lab.folder, "saved.mjs");
  writeFileSync(
    file,
    `import { existsSync, writeFileSync } from "node:fs";
     const say = (line) => console.log(JSON.stringify(line));
     const block = (value) => "<<<ORCHESTRATOR_RESPONSE>>>" + JSON.stringify(value) + "<<<END_ORCHESTRATOR_RESPONSE>>>";
     process.stdin.on("end", () => process.exit(0));
     process.stdin.once("data", () => {
       const { TUTTI_TASK_ID: task_id, TUTTI_ATTEMPT: attempt } = process.env;
       writeFileSync("half.txt", "half of " + attempt);
       setInterval(() => {
         if (attempt === "1" && existsSync(${JSON.stringify(join(lab.folder, "die"))})) process.exit(1);
         say({ type: "tool", name: "Write" });
         if (attempt === "1") return;
         say({ type: "assistant", text: block({ phase: "completion", data: { task_id, status: "success" } }) });
         say({ type: "turn_end" });
       }, 100);
     });`,
  );
  return `command:${process.execPath} ${file}`;
}

const git = (...args: string[]) => execFileSync("git", args, { cwd: lab.repo, encoding: "utf8" }).trim();

const AGGREGATED = { phase: "aggregation", data: { status: "success", summary: "all fits" } };

/** The first of two turns writes other content to `name` than the second. */
const twice = (name: string, first: object, block: object) => [
  { write: { [name]: `first ${name}\n` }, ...first },
  { write: { [name]: `second ${name}\n` }, block },
];

/** A main session with these `turns` in some phases, and the usual ones in the others. */
const mainTurns = (turns: Record<string, object[]>) =>
  mainSession([{ id: "one" }, { id: "two" }]).map((usual) => ({
    ...usual,
    turns: turns[usual.match.phase] ?? usual.turns,
  }));

async function answerFirst(engine: Engine, id: string, text: string): Promise<void> {
  const { inbox } = await engine.until(id, ({ inbox: items }) => Object.keys(items).length > 0);
  await engine.answer(Object.keys(inbox)[0]!, { text });
}

/** The different contents of the file `name` in the kept work of the task, sorted. */
function versions(id: string, task: string, name: string): string[] {
  const refs = git("for-each-ref", "--format=%(refname)", `refs/tutti/${id}/${task}`).split("\n");
  const withName = refs.filter((ref) => git("ls-tree", "--name-only", ref, name) !== "");
  return [...new Set(withName.map((ref) => git("show", `${ref}:${name}`)))].toSorted();
}

describe("the unfinished work of a worker", () => {
  it("is saved at intervals with an event, survives the session, and is replaced by the snapshot (D4-591)", async () => {
    const engine = lab.open();
    const saved = Promise.withResolvers<string>();
    engine.subscribe(({ type, data }) => {
      if (type === "workspace:saved") saved.resolve(data.commit);
    });
    const id = await lab.begin(engine, lab.scenario(mainSession([{ id: "one" }])), {
      config: { autoSpawn: true, saveInterval: 200, autoRetry: true, retryDelay: 0 },
      phases: { workerExecution: { agent: program() } },
    });
    const commit = await saved.promise;
    expect(git("show", `${commit}:half.txt`)).toBe("half of 1");
    expect(git("show", `${attemptRef(id, "one", 1)}-saved:half.txt`)).toBe("half of 1");
    // The diff of a worker in its first turn has its saved work.
    const { files } = await engine.diff(id, { task: "one" });
    expect(files).toMatchObject([{ path: "half.txt", status: "added" }]);
    writeFileSync(join(lab.folder, "die"), "");
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    const last = run.workers["one"]!;
    expect(last.attempt).toBeGreaterThan(1);
    await engine.settled(id);
    for (const attempt of [1, last.attempt]) {
      expect(git("show", `${attemptRef(id, "one", attempt)}:half.txt`)).toBe(`half of ${attempt}`);
      expect(git("for-each-ref", `${attemptRef(id, "one", attempt)}-saved`)).toBe("");
    }
  });

  it("is not saved while it is unchanged, nor with a `saveInterval` of 0", async () => {
    const engine = lab.open();
    const seen: string[] = [];
    engine.subscribe(({ type, data }) => {
      if (type === "workspace:saved") seen.push(data.commit);
    });
    writeFileSync(join(lab.folder, "die"), "");
    const id = await lab.begin(engine, lab.scenario(mainSession([{ id: "one" }])), {
      config: { autoSpawn: true, saveInterval: 0, autoRetry: true, retryDelay: 0 },
      phases: { workerExecution: { agent: program() } },
    });
    expect((await untilOver(engine, id)).outcome).toBe("success");
    expect(seen).toEqual([]);
  });

  it("in a turn without an answer stays reachable, although the next turn replaces it, like that of the main session", async () => {
    const engine = lab.open();
    const agent = lab.scenario([
      ...mainTurns({ aggregation: twice("notes.md", { say: "Not yet." }, AGGREGATED) }),
      worker("one", ...twice("one.md", { say: "Not yet." }, done({}))),
      goodWorker,
    ]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
    expect((await untilOver(engine, id)).outcome).toBe("success");
    expect(versions(id, "one", "one.md")).toEqual(["first one.md", "second one.md"]);
    expect(versions(id, "main", "notes.md")).toEqual(["first notes.md", "second notes.md"]);
  });

  it("in a turn that ended with an error stays reachable, like that of the main session", async () => {
    const engine = lab.open();
    const fails = { then: "fail:usage_limit:3600000" };
    const agent = lab.scenario([
      ...mainTurns({ aggregation: twice("notes.md", fails, AGGREGATED) }),
      worker("one", ...twice("one.md", fails, done({}))),
      goodWorker,
    ]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
    for (const _ of ["worker", "main"]) await answerFirst(engine, id, "go on");
    expect((await untilOver(engine, id)).outcome).toBe("success");
    expect(versions(id, "one", "one.md")).toEqual(["first one.md", "second one.md"]);
    expect(versions(id, "main", "notes.md")).toEqual(["first notes.md", "second notes.md"]);
  });
});

describe("the work of the main session", () => {
  it("in the analysis stays reachable, although the planning replaces it", async () => {
    const engine = lab.open();
    const [analysis, planning] = mainSession([{ id: "one" }, { id: "two" }]).map(({ turns: [turn] }) => turn!);
    const agent = lab.scenario([
      ...mainTurns({
        analysis: [{ ...analysis, write: { "notes.md": "first notes.md\n" } }],
        task_list: [{ ...planning, write: { "notes.md": "second notes.md\n" } }],
      }),
      goodWorker,
    ]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
    expect((await untilOver(engine, id)).outcome).toBe("success");
    expect(versions(id, "main", "notes.md")).toEqual(["first notes.md", "second notes.md"]);
  });

  it("in an aggregation that needs an answer of the user stays reachable, although the next turn replaces it", async () => {
    const engine = lab.open();
    const asks = { phase: "aggregation", data: { status: "needs_input", summary: "Which of them?" } };
    const agent = lab.scenario([
      ...mainTurns({ aggregation: twice("notes.md", { block: asks }, AGGREGATED) }),
      goodWorker,
    ]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
    await answerFirst(engine, id, "the second");
    expect((await untilOver(engine, id)).outcome).toBe("success");
    expect(versions(id, "main", "notes.md")).toEqual(["first notes.md", "second notes.md"]);
  });

  it("in an aggregation or verification that failed stays reachable", async () => {
    const failed = { status: "failed", summary: "it is broken", error: "it is broken" };
    for (const phase of ["aggregation", "verification"]) {
      const engine = lab.open();
      const turn = { write: { "notes.md": `notes of the ${phase}\n` }, block: { phase, data: failed } };
      const again = { write: { "notes.md": "fixed\n" }, block: { phase, data: failed } };
      const agent = lab.scenario([...mainTurns({ [phase]: [turn, again] }), goodWorker]);
      const phases = { verification: { enabled: true, autoFix: true } };
      const id = await lab.begin(engine, agent, { config: { autoSpawn: true }, phases });
      await untilOver(engine, id);
      expect(versions(id, "main", "notes.md")).toContain(`notes of the ${phase}`);
    }
  });
});

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
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
    writeFileSync(join(lab.folder, "die"), "");
    expect(git("show", `${commit}:half.txt`)).toBe("half of 1");
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    const last = run.workers["one"]!;
    expect(last.attempt).toBeGreaterThan(1);
    await engine.settled(id);
    expect(git("show", `${attemptRef(id, "one", 1)}-saved:half.txt`)).toBe("half of 1");
    expect(git("show", `${attemptRef(id, "one", last.attempt)}:half.txt`)).toBe(`half of ${last.attempt}`);
    expect(git("for-each-ref", `${attemptRef(id, "one", last.attempt)}-saved`)).toBe("");
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
    const turns = (name: string, block: object) => [
      { write: { [name]: `first ${name}\n` }, say: "Not yet." },
      { write: { [name]: `second ${name}\n` }, block },
    ];
    const plan = mainSession([{ id: "one" }, { id: "two" }]).filter(({ match }) => match.phase !== "aggregation");
    const agent = lab.scenario([
      ...plan,
      { match: { role: "main", phase: "aggregation" }, turns: turns("notes.md", AGGREGATED) },
      worker("one", ...turns("one.md", done({}))),
      goodWorker,
    ]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
    expect((await untilOver(engine, id)).outcome).toBe("success");
    const refs = git("for-each-ref", "--format=%(refname)", `refs/tutti/${id}`).split("\n");
    const versions = (task: string, name: string) =>
      refs.filter((ref) => ref.startsWith(`refs/tutti/${id}/${task}/`)).map((ref) => git("show", `${ref}:${name}`));
    expect(versions("one", "one.md").toSorted()).toEqual(["first one.md", "second one.md"]);
    expect(versions("main", "notes.md").toSorted()).toEqual(["first notes.md", "second notes.md"]);
  });
});

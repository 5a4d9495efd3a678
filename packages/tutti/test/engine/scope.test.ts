// The scope of a run, and the facts about files that the main session gets.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, mainSession, worker } from "../lab/scenarios.ts";
import { renderPrompt } from "../../src/engine/sessions/prompt.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

const config = { autoSpawn: true };
const writes = (task: string, write: Record<string, string>) =>
  worker(task, { tools: ["Write"], write, block: done({}) });

describe("a run with a scope", () => {
  it("leaves changes elsewhere out of its result, names them in its causes and is degraded", async () => {
    const engine = lab.open();
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }, { id: "two" }]),
      writes("one", { "docs/one.md": "1\n", "src/one.ts": "1\n", "docs-old/x.md": "x\n" }),
      writes("two", { "docs/deep/two.md": "2\n" }),
    ]);
    const id = await lab.begin(engine, agent, { config, scope: ["docs/"] });
    await untilOver(engine, id);
    const result = await engine.result(id);
    expect(result).toMatchObject({ outcome: "degraded", outputFiles: ["docs/deep/two.md", "docs/one.md"] });
    expect(result.causes).toEqual([
      {
        taskId: "one",
        status: "out_of_scope",
        reason: 'changes outside the scope docs are not part of the result: "docs-old/x.md", "src/one.ts"',
      },
    ]);
    expect(renderPrompt(engine.get(id)!, "analysis", null, null, "/x").text).toContain("Change files only in: docs.");
    // The complete work stays reachable.
    const kept = lab.git("for-each-ref", "--format=%(refname)", `refs/tutti/${id}/one`).split("\n");
    const files = kept.map((ref) => lab.git("ls-tree", "-r", "--name-only", ref));
    expect(files.some((names) => names.includes("src/one.ts"))).toBe(true);
  });

  it("is a success if all changes are inside, and the main session is held to it, too", async () => {
    const engine = lab.open();
    const plan = mainSession([{ id: "one" }, { id: "two" }]).filter(({ match }) => match.phase !== "aggregation");
    const block = { phase: "aggregation", data: { status: "success", summary: "merged" } };
    const strays = { match: { role: "main", phase: "aggregation" }, turns: [{ write: { "notes.md": "n\n" }, block }] };
    const works = [writes("one", { "docs/one.md": "1\n" }), writes("two", { "docs/two.md": "2\n" })];
    const inside = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), ...works], "a.json"), {
      config,
      scope: ["docs"],
    });
    await untilOver(engine, inside);
    expect((await engine.result(inside)).outcome).toBe("success");
    const outside = await lab.begin(engine, lab.scenario([strays, ...plan, ...works], "b.json"), {
      config,
      scope: ["docs"],
    });
    await untilOver(engine, outside);
    const result = await engine.result(outside);
    expect(result).toMatchObject({ outcome: "degraded", outputFiles: ["docs/one.md", "docs/two.md"] });
    expect(result.causes).toMatchObject([{ taskId: "main", status: "out_of_scope" }]);
  });

  it("is refused if the scope lies outside the repository", async () => {
    const engine = lab.open();
    const request = { templateId: "_default", cwd: lab.repo, message: "x", agent: "local", scope: ["../elsewhere"] };
    await expect(engine.create(request)).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("the prompt of the aggregation", () => {
  it("contains the files that several tasks changed and changes outside a declared scope, and reports those in another scope to the user", async () => {
    const engine = lab.open();
    const plan = [
      { id: "one", scope: ["docs/one.md"] },
      { id: "two", scope: ["docs/two.md", "shared.txt"] },
      { id: "three", scope: ["."] },
    ];
    const both = { "shared.txt": Array.from({ length: 9 }, (_, i) => `line ${i}\n`).join("") };
    lab.write("shared.txt", both["shared.txt"]);
    lab.git("add", "-A");
    lab.git("commit", "-q", "-m", "shared");
    const agent = lab.scenario([
      ...mainSession(plan),
      writes("one", { "docs/one.md": "1\n", "shared.txt": both["shared.txt"].replace("line 0", "first") }),
      writes("two", {
        "docs/two.md": "2\n",
        "shared.txt": both["shared.txt"].replace("line 8", "last"),
        "new.md": "3\n",
      }),
      writes("three", { "docs/three.md": "3\n" }),
    ]);
    const id = await lab.begin(engine, agent, { config });
    await untilOver(engine, id);
    const result = await engine.result(id);
    expect(result).toMatchObject({
      outcome: "success",
      conflicts: [{ type: "overlap", files: ["shared.txt"], tasks: ["one", "two"], resolution: "merged" }],
      // A new file that no other task names is only a fact for the prompt.
      warnings: ['one: it changed files in the scope of two: "shared.txt".'],
    });
    const prompt = renderPrompt(engine.get(id)!, "aggregation", null, null, "/x").text;
    expect(prompt).toContain("- one and two changed the same files without a conflict: shared.txt");
    expect(prompt).toContain('- one: it changed files outside its declared scope: "shared.txt".');
    expect(prompt).toContain('- two: it changed files outside its declared scope: "new.md".');
  });
});

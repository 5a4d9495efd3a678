// Runs in a folder without git: it changes only by `tutti merge`.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InProcessLab } from "./in-process.ts";
import { canary } from "../workspace/laboratory.ts";
import { done, mainSession, worker } from "../lab/scenarios.ts";

let lab: InProcessLab;
let folder: string;
beforeEach(() => {
  lab = new InProcessLab();
  folder = join(lab.folder, "plain");
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  writeFileSync(join(folder, "notes.txt"), "one\ntwo\nthree\n");
  writeFileSync(join(folder, "node_modules/big.js"), "big\n");
});
afterEach(() => lab.tearDown());

async function carriedOut(): Promise<string> {
  const edit = { "notes.txt": "ONE\ntwo\nthree\n", "docs/one.md": "# One\n" };
  const agent = lab.scenario([
    ...mainSession([{ id: "one" }, { id: "two" }]),
    worker("one", { tools: ["Write"], write: edit, block: done({}) }),
    worker("two", { tools: ["Write"], write: { "docs/two.md": "# Two\n" }, block: done({}) }),
  ]);
  const { last } = await lab.json(["run", "do it", "--cwd", folder, "--agent", agent, "--yes"]);
  expect(last).toMatchObject({ outcome: "success", outputFiles: ["docs/one.md", "docs/two.md", "notes.txt"] });
  return last.id!;
}

/** Makes all files below `top` a day old. */
function age(top: string): void {
  const day = Date.now() / 1000 - 24 * 60 * 60;
  for (const path of readdirSync(top, { recursive: true, encoding: "utf8" })) utimesSync(join(top, path), day, day);
}

const read = (name: string): string => readFileSync(join(folder, name), "utf8");

describe("a folder without git", () => {
  it("stays as it is during a run, and gets the result by tutti merge, which prints how to undo it", async () => {
    const id = await carriedOut();
    expect(readdirSync(folder).toSorted()).toEqual(["node_modules", "notes.txt"]);
    expect(read("notes.txt")).toBe("one\ntwo\nthree\n");
    expect((await lab.json(["diff", id])).last).toMatchObject({
      files: [
        { path: "docs/one.md", status: "added" },
        { path: "docs/two.md", status: "added" },
        { path: "notes.txt", status: "modified", additions: 1, deletions: 1 },
      ],
    });
    const turns = lab.events().filter(({ type }) => type === "worker:spawning" || type === "worker:completed");
    expect(turns.map(({ type, data }) => [type, (data as { taskId?: string }).taskId])).toEqual([
      ["worker:spawning", "one"],
      ["worker:completed", "one"],
      ["worker:spawning", "two"],
      ["worker:completed", "two"],
    ]);
    // A change of the user elsewhere is merged with the result.
    writeFileSync(join(folder, "own.txt"), "mine\n");
    const { code, last } = await lab.json(["merge", id]);
    expect(code).toBe(0);
    expect([read("notes.txt"), read("docs/two.md"), read("own.txt")]).toEqual([
      "ONE\ntwo\nthree\n",
      "# Two\n",
      "mine\n",
    ]);
    expect(existsSync(join(folder, ".git"))).toBe(false);
    expect(
      spawnSync((last as { undo?: string }).undo!, { shell: true, cwd: lab.folder, encoding: "utf8" }).stderr,
    ).toBe("");
    expect([read("notes.txt"), read("own.txt")]).toEqual(["one\ntwo\nthree\n", "mine\n"]);
    expect(existsSync(join(folder, "docs"))).toBe(false);
    expect((await lab.json(["restore", id, "two", "--into", join(lab.folder, "back")])).code).toBe(0);
  });

  it("costs no disk space for work that tutti gc has freed, nor anything without a run", async () => {
    const id = await carriedOut();
    const big = Array.from({ length: 3000 }, (_, i) => `${i * 7919}`).join("\n");
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }]),
      worker("one", { tools: ["Write"], write: { "big.txt": big }, block: done({}) }),
    ]);
    const { last: dropped } = await lab.json(["run", "more", "--cwd", folder, "--agent", agent, "--yes"]);
    const copies = join(lab.data, "copies");
    const [name] = readdirSync(copies);
    const blob = spawnSync("git", ["hash-object", "--stdin"], { input: big, encoding: "utf8" }).stdout.trim();
    const hasBlob = () => spawnSync("git", [`--git-dir=${join(copies, name!)}`, "cat-file", "-e", blob]).status === 0;
    expect((await lab.tutti(["drop", dropped.id!])).code).toBe(0);
    expect((await lab.tutti(["gc"])).code).toBe(0);
    // A run that is just starting could need young objects.
    expect(hasBlob()).toBe(true);
    age(copies);
    expect((await lab.tutti(["gc"])).stdout).toMatch(/^\d{4,} bytes were deleted from /m);
    expect(hasBlob()).toBe(false);
    expect((await lab.tutti(["restore", id, "two", "--into", join(lab.folder, "back")])).code).toBe(0);
    for (const each of [id, dropped.id!]) expect((await lab.tutti(["delete", each])).code).toBe(0);
    // The branch of the first run still has its result.
    age(copies);
    expect((await lab.tutti(["gc"])).code).toBe(0);
    expect(readdirSync(copies)).toEqual([name]);
    spawnSync("git", [`--git-dir=${join(copies, name!)}`, "branch", "-D", `tutti/${id}`]);
    age(copies);
    const removed = { copy: join(copies, name!), bytes: expect.any(Number), reason: "no run uses it" };
    expect((await lab.json(["gc", "--dry-run"])).last).toEqual([removed]);
    expect((await lab.json(["gc"])).last).toEqual([removed]);
    expect(readdirSync(copies)).toEqual([]);
    await carriedOut();
  });

  it("has a repository in which tutti gc starts no program that an agent has planted", async () => {
    const id = await carriedOut();
    expect((await lab.tutti(["drop", id])).code).toBe(0);
    const copy = join(lab.data, "copies", readdirSync(join(lab.data, "copies"))[0]!);
    const inCopy = (...args: string[]) => spawnSync("git", [`--git-dir=${copy}`, ...args], { encoding: "utf8" });
    const work = inCopy("rev-parse", `refs/tutti/${id}/one/1`).stdout.trim();
    const { program, wasRun } = canary(lab.folder);
    for (const name of ["core.fsmonitor", "gc.recentObjectsHook", "filter.planted.clean"])
      inCopy("config", name, program);
    mkdirSync(join(copy, "hooks"));
    for (const name of ["reference-transaction", "pre-auto-gc"])
      writeFileSync(join(copy, "hooks", name), readFileSync(program), { mode: 0o755 });
    age(copy);
    const first = await lab.tutti(["gc"]);
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining("names a program in gc.recentObjectsHook")]);
    expect(inCopy("cat-file", "-e", work).status).toBe(0);
    expect(wasRun()).toBe(false);
    inCopy("config", "--unset", "gc.recentObjectsHook");
    rmSync(join(lab.folder, "canary-was-run"), { force: true });
    expect((await lab.tutti(["gc"])).code).toBe(0);
    expect(inCopy("cat-file", "-e", work).status).not.toBe(0);
    expect(wasRun()).toBe(false);
  });

  it("is not changed by a result that conflicts with it", async () => {
    const id = await carriedOut();
    writeFileSync(join(folder, "notes.txt"), "another\ntwo\nthree\n");
    const { code, stderr } = await lab.tutti(["merge", id]);
    expect([code, stderr]).toEqual([4, expect.stringContaining("conflicts with")]);
    expect(read("notes.txt")).toBe("another\ntwo\nthree\n");
    expect(existsSync(join(folder, "docs"))).toBe(false);
  });
});

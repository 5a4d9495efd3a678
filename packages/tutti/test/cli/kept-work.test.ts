// Kept work: `tutti restore`, `find` and `gc`.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InProcessLab } from "./in-process.ts";
import { finished } from "../lab/lab.ts";
import { canary } from "../workspace/laboratory.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";

let lab: InProcessLab;
beforeEach(() => {
  lab = new InProcessLab();
});
afterEach(() => lab.tearDown());

interface FreedRef {
  ref: string;
  bytes: number;
  reason: string | null;
}

async function carriedOut(...sessions: object[]): Promise<string> {
  const agent = lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), ...sessions, goodWorker]);
  const { last } = await lab.json(["run", "do it", "--cwd", lab.repo, "--agent", agent, "--yes"]);
  return last.id!;
}

/** The first attempt leaves a file and fails, the second succeeds. */
const failsOnce = {
  match: { role: "worker", task: "one", attempt: 1 },
  turns: [
    {
      tools: ["Write"],
      write: { "half/draft.md": "a Remarkable draft\n" },
      block: done({ status: "failed", error: "no luck" }),
    },
  ],
};

const keptRefs = (id: string): string[] =>
  lab
    .git("for-each-ref", "--format=%(refname)", `refs/tutti/${id}`)
    .split("\n")
    .filter((ref) => ref !== "");

const freed = async (...flags: string[]): Promise<FreedRef[]> => {
  const { code, last } = await lab.json(["gc", ...flags]);
  expect(code).toBe(0);
  return last as unknown as FreedRef[];
};

describe("tutti restore", () => {
  it("writes the files of the newest or a given attempt to a folder, and never overwrites", async () => {
    const id = await carriedOut(failsOnce);
    expect((await lab.tutti(["retry", id, "one"])).code).toBe(0);
    const into = join(lab.folder, "back");
    expect(await lab.json(["restore", id, "one", "--into", into])).toMatchObject({
      code: 0,
      last: { run: id, task: "one", attempt: "2", ref: `refs/tutti/${id}/one/2`, folder: into },
    });
    expect(readFileSync(join(into, "docs/one.md"), "utf8")).toBe("# Title of one\n");
    expect(existsSync(join(into, ".git"))).toBe(false);
    writeFileSync(join(into, "docs/one.md"), "mine\n");
    expect(await lab.json(["restore", id, "one", "--into", into])).toMatchObject({
      code: 4,
      last: { error: { code: "wrong_state", message: expect.stringContaining("could be overwritten") } },
    });
    expect(readFileSync(join(into, "docs/one.md"), "utf8")).toBe("mine\n");
    const empty = join(lab.folder, "empty");
    mkdirSync(empty);
    expect((await lab.tutti(["restore", id.slice(5, 12), "one", "1", "--into", empty])).code).toBe(0);
    expect(readFileSync(join(empty, "half/draft.md"), "utf8")).toBe("a Remarkable draft\n");
  });

  it("says which attempts exist, and refuses unknown runs and tasks", async () => {
    const id = await carriedOut();
    const into = join(lab.folder, "back");
    const { code, stderr } = await lab.tutti(["restore", id, "one", "7", "--into", into]);
    expect([code, stderr]).toEqual([3, expect.stringContaining('has no kept attempt "7". Kept are: 1.')]);
    expect((await lab.tutti(["restore", id, "three", "--into", into])).code).toBe(3);
    expect((await lab.tutti(["restore", "nobody", "one", "--into", into])).code).toBe(3);
    expect(existsSync(into)).toBe(false);
  });

  it("restores the work of a removed run in the folder of its repository", async () => {
    const id = await carriedOut();
    expect((await lab.tutti(["delete", id])).code).toBe(0);
    const folder = process.cwd();
    process.chdir(lab.repo);
    try {
      expect((await lab.tutti(["restore", id, "two", "--into", join(lab.folder, "back")])).code).toBe(0);
    } finally {
      process.chdir(folder);
    }
    expect(existsSync(join(lab.folder, "back/docs/two.md"))).toBe(true);
  });
});

describe("tutti find", () => {
  it("finds lines, file names and titles in the work of all attempts, and exits with 1 without a hit", async () => {
    const id = await carriedOut(failsOnce);
    const { code, last } = await lab.json(["find", "remarkable"]);
    expect(code).toBe(0);
    expect(last).toMatchObject([
      {
        run: id,
        task: "one",
        attempt: "1",
        ref: `refs/tutti/${id}/one/1`,
        path: "half/draft.md",
        line: 1,
        text: "a Remarkable draft",
      },
    ]);
    expect((await lab.tutti(["find", "draft.md"])).stdout).toContain(`Bring it back with "tutti restore ${id} one 1".`);
    expect((await lab.json(["find", "title of two"])).last).toMatchObject([
      { task: "two", path: null, text: "Title of two" },
      { task: "two", path: "docs/two.md", line: 1 },
      { task: "main", path: "docs/two.md" },
    ]);
    expect(await lab.json(["find", "nowhere-at-all"])).toMatchObject({ code: 1, last: [] });
  });
});

describe("settings of git that an agent has planted", () => {
  it("start no program in tutti find and tutti gc", async () => {
    const id = await carriedOut(failsOnce);
    expect((await lab.tutti(["drop", id])).code).toBe(0);
    const { program, wasRun } = canary(lab.folder);
    const hooks = join(lab.folder, "hooks");
    mkdirSync(hooks);
    for (const name of ["reference-transaction", "pre-auto-gc", "post-index-change"])
      writeFileSync(join(hooks, name), readFileSync(program), { mode: 0o755 });
    const settings = {
      "core.hooksPath": hooks,
      "core.fsmonitor": program,
      "core.pager": program,
      "core.sshCommand": program,
      "diff.external": program,
      "diff.planted.textconv": program,
      "diff.planted.command": program,
      "filter.planted.clean": program,
      "filter.planted.smudge": program,
      "filter.planted.process": program,
      "merge.planted.driver": program,
      "grep.fallbackToNoIndex": "true",
      "gc.recentObjectsHook": program,
    };
    for (const [name, value] of Object.entries(settings)) lab.git("config", name, value);
    writeFileSync(join(lab.repo, ".git/info/attributes"), "* diff=planted filter=planted merge=planted\n");
    // The settings work: plain git starts the program.
    spawnSync("git", ["-C", lab.repo, "show", "--ext-diff", "--textconv", `refs/tutti/${id}/one/1`]);
    expect(wasRun()).toBe(true);
    rmSync(join(lab.folder, "canary-was-run"));
    expect((await lab.json(["find", "remarkable"])).last).toMatchObject([{ task: "one", path: "half/draft.md" }]);
    expect((await freed("--dry-run", "--all")).length).toBeGreaterThan(0);
    expect((await freed()).length).toBeGreaterThan(0);
    expect(keptRefs(id)).toEqual([]);
    expect(wasRun()).toBe(false);
  });
});

describe("tutti gc", () => {
  it("frees work that a branch of the user contains, after a dry run that frees nothing", async () => {
    const id = await carriedOut();
    expect(await freed()).toEqual([]);
    expect((await lab.tutti(["merge", id])).code).toBe(0);
    const refs = keptRefs(id);
    const planned = await freed("--dry-run");
    expect(planned).toEqual(refs.map((ref) => ({ ref, bytes: 0, reason: "contained in trunk" })));
    expect(keptRefs(id)).toEqual(refs);
    expect(await freed()).toEqual(planned);
    expect(keptRefs(id)).toEqual([]);
    expect(await freed()).toEqual([]);
  });

  it("frees the work of a dropped result and of a removed run, with its size", async () => {
    const dropped = await carriedOut();
    expect((await lab.tutti(["drop", dropped])).code).toBe(0);
    const refs = keptRefs(dropped);
    const plan = await freed("--dry-run");
    expect(plan.map(({ ref, reason }) => [ref, reason])).toEqual(refs.map((ref) => [ref, "its result was dropped"]));
    expect(plan.reduce((sum, { bytes }) => sum + bytes, 0)).toBeGreaterThan(100);
    await freed();
    expect(keptRefs(dropped)).toEqual([]);
    const removed = await carriedOut(failsOnce);
    const staying = await carriedOut();
    expect((await lab.tutti(["delete", removed])).code).toBe(0);
    expect(new Set((await freed()).map(({ reason }) => reason))).toEqual(new Set(["its run was removed"]));
    expect(keptRefs(removed)).toEqual([]);
    expect(keptRefs(staying)).not.toEqual([]);
    expect(lab.git("branch", "--list", `tutti/${removed}`)).not.toBe("");
  });

  it("says that git deletes the objects in a repository of the user, and leaves them and the user's own there", async () => {
    const id = await carriedOut();
    const lost = lab.git("commit-tree", "-m", "only in the reflog", "HEAD^{tree}");
    const work = lab.git("rev-parse", `refs/tutti/${id}/one/1`);
    expect((await lab.tutti(["drop", id])).code).toBe(0);
    const { stdout } = await lab.tutti(["gc"]);
    expect(stdout).toContain(`Git deletes the objects of freed refs with its own next gc in ${lab.repo}.`);
    expect(keptRefs(id)).toEqual([]);
    for (const commit of [lost, work]) expect(lab.git("cat-file", "-t", commit)).toBe("commit");
  });

  it("lists with --all the work that stays, too, with its size", async () => {
    const id = await carriedOut();
    const listed = await freed("--dry-run", "--all");
    expect(listed.map(({ ref, reason }) => [ref, reason])).toEqual(keptRefs(id).map((ref) => [ref, null]));
    expect((await lab.tutti(["gc", "--all"])).stdout).toMatch(
      new RegExp(`^refs/tutti/${id}/one/1 +\\d+ bytes +stays$`, "m"),
    );
    expect(keptRefs(id)).toHaveLength(listed.length);
  });

  it("frees nothing of a run that has not ended, of another data folder, or that the retention keeps", async () => {
    const gate = lab.gate();
    const waits = worker("two", {
      waitForFile: gate.file,
      tools: ["Write"],
      write: { "two.md": "2\n" },
      block: done({}),
    });
    const agent = lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), waits, goodWorker]);
    const running = finished(lab.start(["run", "do it", "--cwd", lab.repo, "--agent", agent, "--yes", "--quiet"]));
    const rows = async () => JSON.parse((await lab.tutti(["--json", "list"])).stdout) as { id: string }[];
    const refs = async () => (await rows()).flatMap((row) => keptRefs(row.id));
    await expect.poll(refs).not.toEqual([]);
    const [{ id } = { id: "" }] = await rows();
    // The only branch of Tutti is that of the run, also while agents work.
    expect(lab.git("branch", "--format=%(refname:short)").split("\n")).toEqual(["trunk", `tutti/${id}`]);
    expect(await freed()).toEqual([]);
    gate.open();
    await running;
    const other = { data: lab.data };
    Object.assign(lab, { data: join(lab.folder, "other-data") });
    lab.git("branch", "--delete", "--force", `tutti/${id}`);
    expect(await freed()).toEqual([]);
    Object.assign(lab, other);
    expect((await freed("--dry-run")).map(({ reason }) => reason)).toContain("its result was dropped");
    lab.git("branch", `tutti/${id}`, `refs/tutti/${id}/one/1`);
    writeFileSync(join(lab.data, "tutti.config.json"), JSON.stringify({ retention: { keepRuns: 1 } }));
    expect(await freed("--dry-run")).toEqual([]);
    writeFileSync(join(lab.data, "tutti.config.json"), JSON.stringify({ retention: { keepRuns: 0 } }));
    expect(new Set((await freed("--dry-run")).map(({ reason }) => reason))).toEqual(
      new Set(["its run is older than the retention allows"]),
    );
  });
});

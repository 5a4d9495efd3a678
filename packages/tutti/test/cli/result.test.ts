// Taking the result of a run: `tutti diff`, `merge` and `drop`, and `run --after`.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InProcessLab } from "./in-process.ts";
import { finished } from "../lab/lab.ts";
import { paintPatch } from "../../src/cli/terminal/paint-patch.ts";
import { openTranscripts } from "../../src/main/transcripts.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";

let lab: InProcessLab;
beforeEach(() => {
  lab = new InProcessLab();
});
afterEach(() => lab.tearDown());

/** Returns the id of an ended run. */
async function carriedOut(sessions: object[] = [...mainSession([{ id: "one" }, { id: "two" }]), goodWorker]) {
  const { last } = await lab.json(["run", "do it", "--cwd", lab.repo, "--agent", lab.scenario(sessions), "--yes"]);
  return last.id!;
}

describe("tutti diff", () => {
  it("prints what git prints for a run and for a task, and the counts of lines as JSON", async () => {
    const id = await carriedOut();
    const base = lab.git("rev-parse", "HEAD");
    const head = lab.git("rev-parse", `tutti/${id}`);
    const whole = await lab.tutti(["diff", id]);
    expect([whole.code, whole.stdout]).toEqual([0, `${lab.git("diff", base, head)}\n`]);
    const short = await lab.tutti(["diff", id, "--stat"]);
    expect(short.stdout.trim()).toBe(lab.git("diff", "--stat", base, head).trim());
    expect((await lab.json(["diff", id])).lines).toEqual([
      {
        base,
        head,
        files: [
          { path: "docs/one.md", status: "added", additions: 1, deletions: 0 },
          { path: "docs/two.md", status: "added", additions: 1, deletions: 0 },
        ],
      },
    ]);
    expect((await lab.json(["diff", id, "two"])).lines).toEqual([
      {
        base,
        head: lab.git("rev-parse", `refs/tutti/${id}/two/1`),
        files: [{ path: "docs/two.md", status: "added", additions: 1, deletions: 0 }],
      },
    ]);
    expect(await lab.json(["diff", id, "three"])).toMatchObject({
      code: 3,
      last: { error: { code: "task_not_found" } },
    });
  });

  it("writes a patch to a new file, and the text of a pull request to stdout", async () => {
    const id = await carriedOut();
    const patch = join(lab.folder, "result.patch");
    const { code, stdout } = await lab.tutti(["diff", id, "--patch", patch]);
    expect([code, stdout]).toEqual([0, `The patch is in ${patch}. Apply it with: git apply ${patch}\n`]);
    lab.git("apply", patch);
    expect(readFileSync(join(lab.repo, "docs/one.md"), "utf8")).toBe("# Title of one\n");
    expect(await lab.json(["diff", id, "--patch", patch])).toMatchObject({
      code: 4,
      last: { error: { code: "wrong_state" } },
    });
    expect((await lab.tutti(["summary", id])).stdout).toBe(
      [
        "# do it",
        "",
        "all in one",
        "",
        "## Tasks",
        "",
        "- **Title of one** `one`",
        "  wrote one",
        "- **Title of two** `two`",
        "  wrote two",
        "",
        "## Files",
        "",
        "- `docs/one.md` (+1 −0)",
        "- `docs/two.md` (+1 −0)",
        "",
        `Run \`${id}\`, outcome: success.`,
        "",
      ].join("\n"),
    );
    expect((await lab.json(["summary", id])).last).toMatchObject({ id, title: "do it" });
  });

  it("shows the work of a failed task, and says when there is none", async () => {
    const failure = { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } };
    const plan = mainSession([{ id: "one" }, { id: "two", dependencies: ["one"] }]);
    const id = await carriedOut([
      ...plan,
      worker("*", { tools: ["Write"], write: { "half.md": "half\n" }, block: failure }),
    ]);
    expect((await lab.json(["diff", id, "one"])).last).toMatchObject({ files: [{ path: "half.md" }] });
    const { code, stderr } = await lab.tutti(["diff", id, "two"]);
    expect([code, stderr]).toEqual([4, expect.stringContaining(`Task "two" of run "${id}" has no result yet.`)]);
  });

  it("can be applied with git, and works while a run is under way", async () => {
    const gate = lab.gate();
    const plan = mainSession([{ id: "one" }, { id: "two", dependencies: ["one"] }]);
    const waits = worker("two", { waitForFile: gate.file, block: done({}) });
    const one = worker("one", { tools: ["Write"], write: { "a\tb.md": "\u001b[31mred\n" }, block: done({}) });
    const agent = lab.scenario([...plan, one, waits]);
    const running = finished(lab.start(["run", "do it", "--cwd", lab.repo, "--agent", agent, "--yes", "--quiet"]));
    const diff = async () => {
      const [row] = JSON.parse((await lab.tutti(["--json", "list"])).stdout) as { id: string }[];
      return row ? await lab.tutti(["diff", row.id]) : { stdout: "" };
    };
    await expect.poll(async () => (await diff()).stdout).toContain("+\u001b[31mred");
    const { stdout } = await diff();
    expect(spawnSync("git", ["apply"], { cwd: lab.repo, input: stdout, encoding: "utf8" }).stderr).toBe("");
    expect(readFileSync(join(lab.repo, "a\tb.md"), "utf8")).toBe("\u001b[31mred\n");
    gate.open();
    expect((await running).stdout).toContain("1 completed");
  });

  it("warns about text that is not UTF-8", async () => {
    const id = await carriedOut();
    const folder = join(lab.folder, "more");
    lab.git("worktree", "add", "--quiet", folder, `tutti/${id}`);
    writeFileSync(join(folder, "latin1.txt"), Buffer.from([0x61, 0xe4, 0x0a]));
    for (const args of [
      ["add", "-A"],
      ["commit", "-q", "-m", "by the user"],
    ])
      lab.git("-C", folder, ...args);
    lab.git("worktree", "remove", folder);
    const { stdout, stderr } = await lab.tutti(["diff", id]);
    expect(stdout).toContain("+a\ufffd\n");
    expect(stderr).toMatch(
      /^warning: Some text is not UTF-8\. For its bytes use: git diff [0-9a-f]{40} [0-9a-f]{40}\n$/,
    );
  });

  it("shows control characters of agents on a terminal instead of sending them", () => {
    const painted = paintPatch("+a\u001b[2J\tb\u202e\n context", (colour, text) => `<${colour}>${text}`);
    expect(painted).toBe("<green>+a^[[2J\tb\ufffd\n context");
  });
});

/** Adds a remote that the branch follows, and programs that record each attempt to push to it or to fetch from it. */
function addRemote(): { refs: () => string; isUsed: () => boolean } {
  const remote = join(lab.folder, "remote.git");
  const used = join(lab.folder, "remote-used");
  lab.git("clone", "--quiet", "--bare", ".", remote);
  lab.git("remote", "add", "origin", remote);
  lab.git("fetch", "--quiet");
  lab.git("branch", "--quiet", "--set-upstream-to=origin/trunk");
  for (const name of ["receivepack", "uploadpack"]) lab.git("config", `remote.origin.${name}`, `touch ${used}; git`);
  lab.git("config", "push.default", "current");
  const refs = () => lab.git("--git-dir", remote, "for-each-ref");
  return { refs, isUsed: () => existsSync(used) };
}

describe("tutti merge", () => {
  it("takes the result into the current branch after a run that ended with this advice, and prints how to undo it", async () => {
    const agent = lab.scenario([...mainSession([{ id: "one" }]), goodWorker]);
    const ended = await lab.tutti(["run", "do it", "--cwd", lab.repo, "--agent", agent, "--yes"]);
    const [, id = ""] =
      /^Look at it with "tutti diff (\S+)", take it with "tutti merge \1", or remove it with "tutti drop \1"\.$/m.exec(
        ended.stdout,
      )!;
    expect((await lab.tutti(["status", id])).stdout).toContain(`take it with "tutti merge ${id}"`);
    const old = lab.git("rev-parse", "HEAD");
    const result = lab.git("rev-parse", `tutti/${id}`);
    const merged = await lab.tutti(["merge", id]);
    expect([merged.code, merged.stdout]).toEqual([
      0,
      `merged the result of ${id} into trunk\nUndo it with: git reset --keep ${old}\n`,
    ]);
    expect([lab.git("rev-parse", "trunk"), lab.git("status", "--porcelain")]).toEqual([result, ""]);
    expect(lab.events().at(-1)).toMatchObject({
      type: "result:merged",
      data: { branch: "trunk", from: old, to: result },
    });
    const again = await lab.tutti(["merge", id]);
    expect([again.code, again.stdout]).toEqual([0, `trunk already contains the result of ${id}\n`]);
    lab.git("reset", "--keep", old);
    const { last } = await lab.json(["merge", id, "--no-ff"]);
    expect(last).toMatchObject({ id, branch: "trunk", from: old, undo: `git reset --keep ${old}` });
    expect(lab.git("log", "-1", "--format=%P|%s|%b")).toBe(`${old} ${result}|Merge branch 'tutti/${id}'|do it`);
    expect((await lab.json(["replay", id])).last).toMatchObject({ problems: [] });
  });

  it("pushes nothing and asks no remote, like the run and tutti drop", async () => {
    const remote = addRemote();
    const before = remote.refs();
    const id = await carriedOut([...mainSession([{ id: "one" }]), goodWorker]);
    for (const args of [
      ["merge", id],
      ["restore", id, "one", "--into", join(lab.folder, "kept")],
      ["drop", id],
      ["gc"],
    ])
      expect((await lab.tutti(args)).code).toBe(0);
    expect([remote.isUsed(), remote.refs()]).toEqual([false, before]);
    expect(spawnSync("git", ["push", "--quiet"], { cwd: lab.repo }).status).not.toBe(0);
    expect(remote.isUsed()).toBe(true);
  });

  it("names commits on the run's branch that the run did not make", async () => {
    const id = await carriedOut([...mainSession([{ id: "one" }]), goodWorker]);
    const foreign = lab.git("commit-tree", `tutti/${id}^{tree}`, "-p", `tutti/${id}`, "-m", "by something else");
    lab.git("update-ref", `refs/heads/tutti/${id}`, foreign);
    const { code, stderr } = await lab.tutti(["merge", id]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`had the commit ${foreign.slice(0, 12)}, which the run`),
    ]);
    lab.git("reset", "--quiet", "--keep", "HEAD~");
    expect((await lab.json(["merge", id])).last).toMatchObject({ to: foreign, added: [foreign] });
  });

  it("exits with 4 and changes nothing on uncommitted changes and before the run has ended", async () => {
    const id = await carriedOut();
    lab.write("README.md", "mine\n");
    const before = lab.fingerprint();
    const refused = await lab.tutti(["merge", id]);
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringMatching(/has uncommitted changes: README\.md\./)]);
    expect(lab.fingerprint()).toBe(before);
    const agent = lab.scenario([...mainSession([{ id: "one" }]), goodWorker], "waiting.json");
    await lab.tutti(["run", "wait", "--cwd", lab.repo, "--agent", agent]);
    const waiting = (await lab.json(["list"])).last as unknown as { id: string; status: string }[];
    const open = waiting.find(({ status }) => status === "confirming")!;
    for (const command of ["merge", "drop"]) {
      const { code, stderr } = await lab.tutti([command, open.id]);
      expect([code, stderr]).toEqual([4, expect.stringContaining(`Run "${open.id}" has not ended.`)]);
    }
  });
});

describe("tutti drop", () => {
  it("removes the branch and nothing else, and a retry makes it again", async () => {
    const failure = { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } };
    const fails = worker("one", { tools: ["Read"], block: failure });
    const id = await carriedOut([...mainSession([{ id: "one" }, { id: "two" }]), fails, goodWorker]);
    const before = lab.fingerprint();
    const result = lab.git("rev-parse", `tutti/${id}`);
    const attempts = lab.git("for-each-ref", `refs/tutti/${id}/one`, `refs/tutti/${id}/two`);
    const dropped = await lab.tutti(["drop", id]);
    expect([dropped.code, dropped.stdout]).toEqual([
      0,
      `removed the branch tutti/${id}\nBring it back with: git branch tutti/${id} ${result}\n`,
    ]);
    expect(lab.git("for-each-ref", "refs/heads/tutti")).toBe("");
    expect(lab.git("for-each-ref", `refs/tutti/${id}/one`, `refs/tutti/${id}/two`)).toBe(attempts);
    expect(lab.fingerprint()).toBe(before);
    expect((await lab.json(["diff", id])).last).toMatchObject({ head: result, files: [{ path: "docs/two.md" }] });
    expect(await lab.json(["merge", id])).toMatchObject({ code: 4, last: { error: { code: "wrong_state" } } });
    expect((await lab.json(["drop", id])).last).toMatchObject({ id, commit: null, undo: null });
    await lab.json(["retry", id, "one"]);
    expect(lab.git("rev-parse", `tutti/${id}`)).toMatch(/^[0-9a-f]{40}$/);
  });
});

describe("tutti run --after", () => {
  it("starts from the result of a run, with its folder, template and agent, and describes it in every prompt", async () => {
    const plan = mainSession([{ id: "one" }, { id: "two" }]);
    const failure = { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } };
    const fails = worker("two", { tools: ["Read"], block: failure });
    const agent = lab.scenario([...plan, fails, goodWorker]);
    const request = ["run", "first request", "--cwd", lab.repo, "--agent", agent, "--template", "documentation"];
    const first = (await lab.json([...request, "--yes"])).last.id!;
    lab.playsAgents = false;
    const { code, lines, last } = await lab.json(["run", "and more", "--after", first, "--yes", "--allow-degraded"]);
    expect([code, last.outcome]).toEqual([0, "degraded"]);
    const result = lab.git("rev-parse", `tutti/${first}`);
    const created = lines.find(({ type }) => type === "orchestrator:created")!.data;
    expect(created).toMatchObject({ templateId: "documentation", agent, follows: { run: first, commit: result } });
    expect(lines.find(({ type }) => type === "orchestrator:started")!.data).toMatchObject({ base: result });
    const sessions = lines.flatMap(({ type, data }) =>
      type === "turn:started" ? (data as { sessionId: string }).sessionId : [],
    );
    const read = openTranscripts(lab.data);
    const entries = (await Promise.all([...new Set(sessions)].map((session) => read(last.id!, session, 0)))).flat();
    const prompts = entries.flatMap((entry) => (entry.type === "prompt" ? entry.text : []));
    expect(prompts.length).toBeGreaterThanOrEqual(5);
    for (const prompt of prompts) {
      for (const text of ["first request", "degraded", "Title of one", "wrote one", "docs/one.md", "no luck"])
        expect(prompt).toContain(text);
    }
  });

  it("is refused for a run that does not exist or has not ended, and works after the branch was dropped", async () => {
    const first = await carriedOut();
    await lab.tutti(["drop", first]);
    const second = await lab.json(["run", "more", "--after", first, "--yes"]);
    expect([second.code, second.last.outcome]).toEqual([0, "success"]);
    expect(await lab.json(["run", "x", "--after", "nobody"])).toMatchObject({
      code: 3,
      last: { error: { code: "run_not_found" } },
    });
    await lab.tutti(["run", "wait", "--after", first]);
    const open = JSON.parse((await lab.tutti(["--json", "list"])).stdout).find(
      ({ status }: { status: string }) => status === "confirming",
    );
    const refused = await lab.tutti(["run", "x", "--after", open.id]);
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining(`Run "${open.id}" has not ended.`)]);
  });
});

describe("tutti delete", () => {
  const branches = () => lab.git("for-each-ref", "--format=%(refname:short)", "refs/heads/tutti");

  it("removes a branch without any work, and keeps one with a result", async () => {
    const agent = lab.scenario(mainSession([{ id: "one" }]));
    // Without a terminal the run waits for the confirmation of its plan.
    await lab.json(["run", "do it", "--cwd", lab.repo, "--agent", agent]);
    const [{ id: waiting }] = (await lab.json(["list"])).last as unknown as [{ id: string }];
    expect(branches()).toBe(`tutti/${waiting}`);
    expect((await lab.json(["delete", waiting])).code).toBe(0);
    expect(branches()).toBe("");
    const ended = await carriedOut();
    expect((await lab.json(["delete", ended])).code).toBe(0);
    expect(branches()).toBe(`tutti/${ended}`);
  });
});

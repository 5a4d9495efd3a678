// Files that were not synced are not trusted after a reboot, because any part of them may be missing.
import { chmodSync, copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listen, oneTurn, SessionLab, turn } from "../session/session-lab.ts";
import { git, laboratory, RUN } from "../workspace/laboratory.ts";
import { bootId } from "../../src/durable-file.ts";
import { pathName } from "../../src/schema/ids.ts";

/** Makes the file look as if it was written before the last boot. */
function setBack(file: string): void {
  const text = readFileSync(file, "utf8");
  expect(text).toContain(bootId());
  writeFileSync(file, text.replaceAll(bootId(), "00000000-0000-0000-0000-000000000000"));
}

describe("a session from before the last boot", () => {
  let lab: SessionLab;
  beforeEach(() => {
    lab = new SessionLab();
  });
  afterEach(() => lab.tearDown());

  const worker = () => lab.spec(lab.scenario([{ turns: [{ say: "done", write: { "a.txt": "a" } }] }]));
  const folderOf = ({ runId, sessionId }: ReturnType<typeof worker>) =>
    join(lab.folder, "sessions", runId, pathName(sessionId));

  it("is lost, even if its folder records a completed turn", async () => {
    const spec = worker();
    const session = lab.host.open(spec);
    expect((await oneTurn(session)).at(-1)).toMatchObject({ type: "turnOver" });
    await session.stop();
    setBack(join(folderOf(spec), "spec.json"));
    const received = await listen(lab.newHost().open(spec), ({ type }) => type === "gone");
    expect(received).toEqual([
      { type: "caughtUp" },
      { type: "gone", reason: "the machine was restarted", deliberate: false },
    ]);
  });

  it("is not started again if only its spec is left, and can be ended at once", async () => {
    const spec = worker();
    const session = lab.host.open(spec);
    await oneTurn(session);
    await session.stop();
    const folder = folderOf(spec);
    setBack(join(folder, "spec.json"));
    for (const name of ["end.json", "journal.jsonl", "output.log"]) rmSync(join(folder, name));
    const again = lab.newHost().open(spec);
    expect((await listen(again, ({ type }) => type === "gone")).at(-1)).toMatchObject({ type: "gone" });
    await again.deliver(turn(2));
    expect(existsSync(join(folder, "journal.jsonl"))).toBe(false);
    await again.close();
    expect(existsSync(join(folder, "end.json"))).toBe(true);
  });

  it("still has a readable transcript if its journal is damaged", async () => {
    const spec = worker();
    const session = lab.host.open(spec);
    await oneTurn(session);
    await session.stop();
    const journal = join(folderOf(spec), "journal.jsonl");
    const lines = readFileSync(journal, "utf8").split("\n");
    writeFileSync(journal, [lines[0], "\0".repeat(40), ...lines.slice(1)].join("\n"));
    expect(await lab.host.transcript(spec.runId, spec.sessionId)).toContainEqual(
      expect.objectContaining({ type: "text", text: expect.stringContaining("done") }),
    );
  });
});

describe("a git object that a power cut has truncated", () => {
  it.each([
    ["empty", 0],
    ["cut", 12],
  ])("(%s) does not become part of later work with the same content", async (_, length) => {
    const { workspaces, repo, head, top } = laboratory();
    const key = { runId: RUN, name: "task", attempt: 1 };
    const { path } = await workspaces.prepare(repo, key, head);
    writeFileSync(join(top, "same.txt"), "the same content\n".repeat(10));
    const id = git(repo, "hash-object", "-w", join(top, "same.txt"));
    const object = join(repo, ".git", "objects", id.slice(0, 2), id.slice(2));
    const whole = readFileSync(object);
    chmodSync(object, 0o644);
    writeFileSync(object, whole.subarray(0, length));
    copyFileSync(join(top, "same.txt"), join(path, "work.txt"));
    const refusal = expect.objectContaining({ code: "git_failed", message: expect.stringContaining(id.slice(2)) });
    await expect(workspaces.snapshot(repo, key, head, "work")).rejects.toEqual(refusal);
    rmSync(object);
    const { commit } = await workspaces.snapshot(repo, key, head, "work");
    expect(git(repo, "show", `${commit}:work.txt`)).toContain("the same content");
    await workspaces.release(repo, RUN);
  });
});

describe("a workspace from before the last boot", () => {
  const key = { runId: RUN, name: "task", attempt: 1 };

  it("is recreated, because any of its files may be empty, and its content stays reachable", async () => {
    const { workspaces, repo, folder, head } = laboratory();
    const { path } = await workspaces.prepare(repo, key, head);
    writeFileSync(join(path, "a.txt"), "");
    writeFileSync(join(path, "work.txt"), "work\n");
    setBack(`${join(folder, RUN)}/task-1.boot`);
    await workspaces.prepare(repo, key, head);
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("one\n");
    expect(existsSync(join(path, "work.txt"))).toBe(false);
    expect(git(repo, "show", `refs/tutti/${RUN}/task/1:work.txt`)).toBe("work");
    await workspaces.release(repo, RUN);
  });

  it("is reused if it is from the current boot", async () => {
    const { workspaces, repo, head } = laboratory();
    const { path } = await workspaces.prepare(repo, key, head);
    writeFileSync(join(path, "work.txt"), "work\n");
    await workspaces.prepare(repo, key, head);
    expect(readFileSync(join(path, "work.txt"), "utf8")).toBe("work\n");
    await workspaces.release(repo, RUN);
  });
});

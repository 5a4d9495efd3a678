import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { git, key, laboratory, observe, refs, RUN, write } from "./laboratory.ts";
import type { Laboratory } from "./laboratory.ts";
import { processTree } from "../lab/lab.ts";

const CRASHES = 16;

/** Kills the process and its running git, as a power cut would. */
async function crash(lab: Laboratory, afterMs: number): Promise<void> {
  const args = [fileURLToPath(new URL("./crashing-process.ts", import.meta.url)), lab.repo, lab.folder, RUN, lab.head];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  await delay(afterMs);
  expect(child.exitCode).toBeNull();
  const closed = once(child, "close");
  if (child.pid === undefined) throw new Error("the process did not start");
  // A stopped process starts no further git. Each git leads its own process group.
  process.kill(child.pid, "SIGSTOP");
  for (const pid of processTree(child.pid).slice(1)) killGroup(pid);
  process.kill(child.pid, "SIGKILL");
  await closed;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has exited, or it belongs to the group of another git.
  }
}

it("`Workspaces` recovers from a crash at any moment and leaves nothing behind", async () => {
  const lab = laboratory();
  const before = observe(lab.repo);
  for (let i = 0; i < CRASHES; i++) {
    await crash(lab, 5 + i * 14);
    // Tutti never breaks the lock that all refs share; git's message asks the user to remove it.
    rmSync(join(lab.repo, ".git/packed-refs.lock"), { force: true });
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    write(path, { "work.txt": `after crash ${i}\n` });
    const { files } = await lab.workspaces.snapshot(lab.repo, key(), lab.head, "work");
    expect(files).toEqual(["work.txt"]);
    await lab.workspaces.release(lab.repo, RUN);
    expect(git(lab.repo, "worktree", "list").split("\n")).toHaveLength(1);
    expect(refs(lab.repo, "refs/heads/agent")).toEqual([]);
    expect(existsSync(join(lab.folder, RUN))).toBe(false);
  }
  expect(existsSync(join(lab.repo, ".git/worktrees"))).toBe(false);
  expect(observe(lab.repo)).toEqual(before);
});

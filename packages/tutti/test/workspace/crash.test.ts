import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { git, key, laboratory, observe, refs, RUN, write } from "./laboratory.ts";
import type { Laboratory } from "./laboratory.ts";
import { processTree } from "../lab/lab.ts";
import { waitUntil } from "../lab/wait-until.ts";

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
  // A stopped process starts no further git. SIGSTOP takes effect later, so a git could still start after the listing.
  process.kill(child.pid, "SIGSTOP");
  await waitUntil(() => stateOf(child.pid!) === "T");
  const gits = processTree(child.pid).slice(1);
  // Each git leads its own process group, which has no leader until git itself is loaded.
  for (const pid of gits) for (const target of [-pid, pid]) killProcess(target);
  process.kill(child.pid, "SIGKILL");
  await closed;
  // A killed git first finishes its system call, which may create a file in a folder that `release` has deleted.
  await waitUntil(() => gits.every((pid) => [null, "Z", "X"].includes(stateOf(pid))));
}

/** The state of a process in Linux: `T` is stopped, `Z` and `X` are ended. Null if the process does not exist. */
function stateOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.charAt(stat.lastIndexOf(")") + 2);
  } catch {
    return null;
  }
}

function killProcess(target: number): void {
  try {
    process.kill(target, "SIGKILL");
  } catch {
    // It has exited, or there is no group of this number.
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

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Exchange } from "../../src/workspace/exchange/exchange.ts";

let folder: string;
let remote: string;
let sender: string;
let receiver: string;
let exchange: Exchange;

const git = (cwd: string, ...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync("git", ["-C", cwd, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
};

function commit(cwd: string, name: string): string {
  writeFileSync(join(cwd, name), name);
  git(cwd, "add", "-A");
  git(cwd, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", name);
  return git(cwd, "rev-parse", "HEAD");
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-exchange-"));
  [remote, sender, receiver] = ["remote.git", "sender", "receiver"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  git(folder, "init", "-q", "-b", "trunk", sender);
  commit(sender, "first");
  git(folder, "clone", "-q", "--bare", sender, remote);
  git(sender, "remote", "add", "origin", remote);
  git(folder, "clone", "-q", remote, receiver);
  exchange = new Exchange(join(folder, "transfers"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("commits between machines", () => {
  it("travel through the remote if it accepts them, else as a bundle, and get their ref", async () => {
    const start = git(sender, "rev-parse", "HEAD");
    const ref = "refs/tutti/run/a/1";
    const work = commit(sender, "work");
    expect(await exchange.remoteOf(sender)).toBe(remote);
    expect(await exchange.isInRemote(sender, remote, start)).toBe(true);
    expect(await exchange.isInRemote(sender, remote, work)).toBe(false);

    const pushed = await exchange.send(sender, remote, { [ref]: work }, start);
    expect(pushed).toEqual({ refs: { [ref]: work }, start, bundle: null });
    await exchange.receive(receiver, remote, pushed, "refs/tutti/run/");
    expect(git(receiver, "rev-parse", ref)).toBe(work);

    const more = commit(sender, "more");
    const bundled = await exchange.send(sender, join(folder, "nowhere.git"), { [ref]: more }, work);
    expect(bundled.bundle).toEqual(expect.any(String));
    await exchange.receive(receiver, remote, bundled, "refs/tutti/run/");
    expect(git(receiver, "rev-parse", ref)).toBe(more);
    // The user's branches stay as they were.
    expect(git(receiver, "rev-parse", "HEAD")).toBe(start);
  });

  it("never set a ref outside the run, and never start a program that the repository names", async () => {
    const start = git(sender, "rev-parse", "HEAD");
    const work = commit(sender, "other");
    const trap = join(folder, "trap");
    for (const name of ["core.sshCommand", "core.hooksPath", "uploadpack.packObjectsHook"])
      git(sender, "config", name, `touch ${trap}`);
    git(sender, "config", "url.ext::sh.insteadOf", remote);
    const parcel = await exchange.send(sender, remote, { "refs/heads/trunk": work }, start);
    expect(git(remote, "rev-parse", "trunk")).not.toBe(work);
    await exchange.receive(receiver, remote, { ...parcel, refs: { "refs/heads/trunk": work } }, "refs/tutti/run/");
    expect(git(receiver, "rev-parse", "trunk")).not.toBe(work);
    expect(existsSync(trap)).toBe(false);
  });

  it("write no file and set no ref to which the name of a ref leads", async () => {
    const start = git(sender, "rev-parse", "HEAD");
    const work = commit(sender, "climbing");
    const mine = join(folder, "mine");
    writeFileSync(mine, "words of the user");
    const names = ["../../heads/trunk", "../../../../../mine", "a//1", "./a", "a/.1", "a/1.lock", ""];
    writeFileSync(`${mine}.lock`, "");
    const before = git(receiver, "for-each-ref");
    const bundle = await exchange.pack(sender, [work], [start]);
    for (const name of names) {
      const parcel = { refs: { [`refs/tutti/run/${name}`]: work }, start, bundle };
      // Git rejects some of the names, but only after the files in the way are removed.
      await exchange.receive(receiver, null, parcel, "refs/tutti/run/").catch(() => {});
    }
    expect(git(receiver, "for-each-ref")).toBe(before);
    expect([mine, `${mine}.lock`].filter((file) => !existsSync(file))).toEqual([]);
  });

  it("find the clone complete that another attempt is creating", async () => {
    const clone = join(folder, "shared");
    const first = exchange.openClone(clone);
    while (!existsSync(join(clone, ".git", "HEAD"))) await new Promise(setImmediate);
    await exchange.openClone(clone);
    expect(existsSync(join(clone, ".git", "config"))).toBe(true);
    await first;
  });

  it("are fetched with all branches into an empty clone, and packed without those that it has", async () => {
    const clone = join(folder, "clone");
    await exchange.openClone(clone);
    const tips = await exchange.fetch(clone, remote);
    expect(tips).toContain(git(remote, "rev-parse", "trunk"));
    const head = git(sender, "rev-parse", "HEAD");
    expect(await exchange.has(clone, head)).toBe(false);
    await exchange.unpack(clone, (await exchange.pack(sender, [head], tips))!, tips);
    expect(await exchange.has(clone, head)).toBe(true);
    expect(await exchange.pack(sender, [head], [head])).toBeNull();
  });
});

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockFolder } from "../../src/store/folder-lock.ts";

describe("the lock of a data folder", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tutti-lock-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Starts a process that acquires the lock and holds it until it is killed. */
  async function holder() {
    const module = fileURLToPath(new URL("../../src/store/folder-lock.ts", import.meta.url));
    const script = `const { lockFolder } = await import(${JSON.stringify(module)}); globalThis.lock = lockFolder(${JSON.stringify(folder)}, { pid: process.pid }); console.log("held"); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    return child;
  }

  it("is held by one process at a time, and the error names its holder", async () => {
    const child = await holder();
    expect(() => lockFolder(folder, { pid: 1 })).toThrow(
      expect.objectContaining({
        code: "data_folder_in_use",
        message: expect.stringContaining(`(process ${child.pid})`),
      }),
    );
    child.kill("SIGKILL");
    await once(child, "exit");
  });

  it("is released as soon as its owner is killed", async () => {
    const child = await holder();
    child.kill("SIGKILL");
    await once(child, "exit");
    lockFolder(folder, { pid: process.pid }).release();
  });

  it("waits for another process that only looks for its holder", async () => {
    lockFolder(folder, {}).release();
    const script = `const { DatabaseSync } = await import("node:sqlite");
      const db = new DatabaseSync(${JSON.stringify(join(folder, "engine.lock"))}, { readOnly: true });
      db.exec("BEGIN");
      db.prepare("SELECT count(*) FROM sqlite_schema").get();
      console.log("looks");
      setTimeout(() => db.close(), 1500);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    lockFolder(folder, { pid: process.pid }).release();
  });

  it("can be acquired again after its release", () => {
    lockFolder(folder, {}).release();
    lockFolder(folder, {}).release();
  });
});

import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { assignment, MailboxLab } from "./mailbox-lab.ts";

const DOCUMENT = "tasks/messages/to-developer.json";
const ROOT = "messages/to-developer.json";

let lab: MailboxLab;
beforeEach(() => {
  lab = new MailboxLab();
});
afterEach(() => lab.tearDown());

const box = (...ids: string[]) => JSON.stringify({ messages: ids.map((id) => assignment(id)), lastRead: null });
const tasksIn = (name: string) => (lab.json(name)["messages"] as { taskId: string }[]).map(({ taskId }) => taskId);

describe("the layout", () => {
  it("is the one of the document unless the caller chooses the other (D1-002, D1-051..D1-054)", async () => {
    const { layout, made } = await lab.mailbox().init();
    expect(layout).toBe("document");
    expect(made.map((file) => file.slice(lab.path().length + 1)).toSorted()).toEqual([
      "config.json",
      "logs/log.md",
      "tasks/messages/to-developer.json",
      "tasks/messages/to-team-lead.json",
      "tasks/queue.json",
      "tasks/status.json",
    ]);
  });

  it("of real projects is created on request, and a second layout is rejected", async () => {
    const { made } = await lab.mailbox("root").init();
    expect(made.map((file) => file.slice(lab.path().length + 1))).toContain(ROOT);
    await expect(lab.mailbox("document").init()).rejects.toMatchObject({ code: "wrong_state" });
    expect((await lab.mailbox().init()).made).toEqual([]);
  });

  it("that exists is used for writing, whatever the default", async () => {
    lab.write(ROOT, box("old"));
    await lab.mailbox().send("developer", assignment("new"));
    await lab.mailbox("document").send("team-lead", assignment("other"));
    expect(tasksIn(ROOT)).toEqual(["old", "new"]);
    expect(readdirSync(lab.path()).toSorted()).toEqual([".tutti", "logs", "messages"]);
  });

  it("of both kinds is read from both, each message once, and cleared in both (D1-033, D1-034)", async () => {
    lab.write(ROOT, box("root"));
    lab.write(DOCUMENT, box("document"));
    const mailbox = lab.mailbox();
    const { messages } = await mailbox.read("developer");
    expect(messages.map(({ message }) => message?.taskId)).toEqual(["document", "root"]);
    expect([lab.json(ROOT)["lastRead"], lab.json(DOCUMENT)["lastRead"]]).not.toContain(null);
    expect((await mailbox.read("developer")).messages.every(({ readAt }) => readAt !== null)).toBe(true);
    await mailbox.clear("developer");
    expect([...tasksIn(ROOT), ...tasksIn(DOCUMENT)]).toEqual([]);
    expect(mailbox.archived("developer").flatMap(({ messages }) => messages)).toHaveLength(2);
  });

  it("init keeps existing files", async () => {
    lab.write("tasks/queue.json", "mine");
    const { kept } = await lab.mailbox().init();
    expect(kept).toEqual([lab.path("tasks/queue.json")]);
    expect(lab.text("tasks/queue.json")).toBe("mine");
  });

  it("keeps Tutti's own files out of commits, and preserves file modes", async () => {
    const file = lab.write(DOCUMENT, box());
    const mode = statSync(file).mode;
    await lab.mailbox().send("developer", assignment("a"));
    expect(lab.text(".tutti/.gitignore")).toBe("*\n");
    expect(statSync(file).mode).toBe(mode);
  });
});

describe("a path outside the mailbox:", () => {
  let outside: string;
  beforeEach(() => {
    outside = mkdtempSync(join(tmpdir(), "tutti-outside-"));
    writeFileSync(join(outside, "file.json"), box("secret"));
    mkdirSync(join(outside, "folder"));
  });
  afterEach(() => rmSync(outside, { recursive: true, force: true }));

  it.each<[string, () => void]>([
    ["a link in place of the box", () => link("tasks/messages/to-developer.json", "file.json")],
    ["a link to nothing in place of the box", () => link("tasks/messages/to-developer.json", "nothing.json")],
    ["a link in place of the folder of messages", () => link("tasks/messages", "folder")],
    ["a link in place of the folder of tasks", () => link("tasks", "folder")],
    ["a link in place of Tutti's own folder", () => link(".tutti", "folder")],
    ["a link in place of the whole mailbox", () => link("", "folder")],
  ])("%s is rejected for reading and writing, and nothing outside is touched", async (_, make) => {
    make();
    const before = snapshot();
    await expect(lab.mailbox().send("developer", assignment("a"))).rejects.toMatchObject({ code: "wrong_state" });
    await expect(lab.mailbox().clear("developer")).rejects.toMatchObject({ code: "wrong_state" });
    await expect(lab.mailbox().peek("developer")).rejects.toThrow(/link/);
    expect(snapshot()).toEqual(before);
  });

  it("a link inside the mailbox is followed", async () => {
    lab.write("messages/shared.json", box("a"));
    symlinkSync("shared.json", lab.path(ROOT));
    await lab.mailbox().send("developer", assignment("b"));
    expect(tasksIn("messages/shared.json")).toEqual(["a", "b"]);
  });

  it("a pipe or a folder instead of the box is rejected immediately", async () => {
    mkdirSync(lab.path("tasks/messages"), { recursive: true });
    spawnSync("sh", ["-c", 'mkfifo "$0"', lab.path(DOCUMENT)]);
    await expect(lab.mailbox().send("developer", assignment("a"))).rejects.toThrow(/is not a file/);
    mkdirSync(lab.path("tasks/messages/to-team-lead.json"));
    await expect(lab.mailbox().peek("team-lead")).rejects.toThrow(/is not a file/);
  });

  function link(name: string, target: string): void {
    mkdirSync(join(lab.path(name), ".."), { recursive: true });
    symlinkSync(join(outside, target), lab.path(name));
  }

  function snapshot(): unknown {
    const names = readdirSync(outside, { recursive: true, encoding: "utf8" });
    return [names.toSorted(), readFileSync(join(outside, "file.json"), "utf8")];
  }
});

it("a full disk fails with disk_full and leaves the box unchanged without partial files", () => {
  // A small disk that is visible only to this process.
  const disk = join(lab.project, "disk");
  mkdirSync(disk);
  const program = fileURLToPath(new URL("./full-disk-process.ts", import.meta.url));
  const unshare = process.getuid!() === 0 ? ["-m"] : ["-Urm"];
  const script = `mount -t tmpfs -o size=256k tmpfs "$1" && exec "$2" "$3" "$1"`;
  const result = spawnSync("unshare", [...unshare, "sh", "-c", script, "sh", disk, process.execPath, program], {
    encoding: "utf8",
    timeout: 600_000,
  });
  expect(result.status, result.stderr).toBe(0);
  const found = JSON.parse(result.stdout) as Record<string, unknown>;
  expect(found).toEqual({
    code: "disk_full",
    kept: true,
    files: ["to-developer.json"],
    markCode: "disk_full",
    clearCode: "disk_full",
    afterwards: "sent",
  });
});

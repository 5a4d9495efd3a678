import { readdirSync, utimesSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ROTATE_AT_BYTES } from "../../src/mailbox/development-log.ts";
import { readConfigFile, readQueueFile, readStatusFile } from "../../src/protocol/mailbox/mailbox-file.ts";
import { MailboxLab } from "./mailbox-lab.ts";

let lab: MailboxLab;
beforeEach(() => {
  lab = new MailboxLab();
});
afterEach(() => lab.tearDown());

const task = (id: string) => ({
  id,
  title: "Add a search field",
  description: "To the list of books.",
  status: "pending",
  createdAt: "2026-03-01T10:00:00.000Z",
});

describe("the files that init creates", () => {
  it("pass strict validation (D1-051, D1-052)", async () => {
    await lab.mailbox().init();
    const options = { profile: "strict", receivedAt: "" } as const;
    const messages = [
      readQueueFile(lab.json("tasks/queue.json"), options),
      readStatusFile(lab.json("tasks/status.json"), options),
      readConfigFile(lab.json("config.json"), options),
    ];
    expect(messages.flatMap(({ problems }) => problems)).toEqual([]);
  });
});

describe("a state file", () => {
  it("contains the queue, is changed member by member, and preserves members of other programs (D1-051)", async () => {
    const old = { version: "1.0", tasks: [], completed: [], current: null, lastUpdated: null, rejected: ["task-0"] };
    lab.write("tasks/queue.json", JSON.stringify(old));
    const { value, problems, damage } = await lab.mailbox().queue.update((queue) => ({
      tasks: [...queue.tasks, task("task-001")],
      current: "task-001",
    }));
    expect([problems, damage]).toEqual([[], []]);
    expect(value.tasks).toHaveLength(1);
    expect(lab.json("tasks/queue.json")).toEqual({ ...old, tasks: [task("task-001")], current: "task-001" });
  });

  it("preserves long numbers of other programs (D1-051)", async () => {
    lab.write("tasks/queue.json", '{"tasks": [], "run": 12345678901234567890}');
    await lab.mailbox().queue.update(() => ({ current: "task-001" }));
    expect(lab.text("tasks/queue.json")).toContain('"run": 12345678901234567890');
  });

  it("contains the status of the agents (D1-052)", async () => {
    const mailbox = lab.mailbox();
    await mailbox.init();
    const lastActivity = "2026-03-01T10:00:00.000Z";
    await mailbox.status.update(() => ({
      developer: { status: "implementing", currentTask: "task-001", lastActivity },
    }));
    expect(lab.json("tasks/status.json")).toMatchObject({
      orchestrator: { running: false },
      teamLead: { status: "idle" },
      developer: { status: "implementing", currentTask: "task-001" },
    });
  });

  it.each([
    ["missing", null],
    ["of zero bytes", ""],
  ])("that is %s counts as empty (D1-057)", async (_, content) => {
    if (content !== null) lab.write("tasks/status.json", content);
    const { value, damage } = await lab.mailbox().status.read();
    expect(value).toMatchObject({ orchestrator: { running: false }, lastCycle: null });
    expect(damage).toEqual([]);
  });

  it("that is damaged is reported, and copied to another name when it is replaced", async () => {
    const file = lab.write("tasks/queue.json", '{"version": "1.0", "tasks": [{"id": "ta');
    utimesSync(file, new Date(0), new Date(0));
    const { value, damage } = await lab.mailbox().queue.read();
    expect(value.tasks).toEqual([]);
    expect(damage).toMatchObject([{ file }]);
    const after = await lab.mailbox().queue.update(() => ({ tasks: [task("task-001")] }));
    expect(after.damage[0]!.keptAs).toContain("queue.json.damaged-");
    expect(readdirSync(lab.path("tasks"))).toHaveLength(2);
  });

  it("with invalid values is rejected with a sentence and not changed", async () => {
    lab.write("tasks/queue.json", '{"tasks": 7}');
    await expect(lab.mailbox().queue.read()).rejects.toMatchObject({ code: "invalid_input" });
    await expect(lab.mailbox().queue.update(() => ({}))).rejects.toThrow(/tasks/);
    expect(lab.text("tasks/queue.json")).toBe('{"tasks": 7}');
  });

  it("changed by many processes at once loses nothing (D1-051)", async () => {
    const mailboxes = Array.from({ length: 10 }, () => lab.mailbox());
    await Promise.all(
      mailboxes.map(async (mailbox, index) =>
        mailbox.queue.update(({ tasks }) => ({ tasks: [...tasks, task(`t${index}`)] })),
      ),
    );
    expect(lab.json("tasks/queue.json")["tasks"]).toHaveLength(10);
  });
});

describe("the development log", () => {
  it("has one line per event, whatever the text, and a section per finished task (D1-054, D1-059)", async () => {
    const mailbox = lab.mailbox();
    await mailbox.log([{ level: "ERROR", text: "Build failed:\n  [2026-01-01T00:00:00.000Z] [INFO] all is well" }]);
    await mailbox.logTask({
      taskId: "task-001",
      title: "Search",
      status: "completed",
      summary: "Done\n# not a title",
      files: ["src/search.ts"],
    });
    const lines = lab.text("logs/log.md").split("\n");
    expect(lines[0]).toMatch(
      /^\[\d{4}-.*Z\] \[ERROR\] Build failed: \[2026-01-01T00:00:00\.000Z\] \[INFO\] all is well$/,
    );
    expect(lines.slice(1)).toEqual([
      "",
      "## task-001: Search",
      "",
      expect.stringMatching(/^- Finished: .*Z$/),
      "- Status: completed",
      "- Summary: Done # not a title",
      "- Files:",
      "  - src/search.ts",
      "",
      "",
    ]);
  });

  it("starts a new file at 100 KB and loses no line (D1-054)", async () => {
    const mailbox = lab.mailbox();
    for (let round = 0; round < 30; round++) {
      const entries = Array.from({ length: 10 }, (_, index) => ({
        level: "INFO" as const,
        text: `${round}.${index} ${"x".repeat(900)}`,
      }));
      await mailbox.log(entries);
    }
    const names = readdirSync(lab.path("logs"));
    expect(names.filter((name) => /^log-\d{4}-.*\.md$/.test(name))).toHaveLength(2);
    const texts = names.map((name) => lab.text(`logs/${name}`));
    expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(ROTATE_AT_BYTES);
    expect(
      texts
        .join("")
        .split("\n")
        .filter((line) => line !== ""),
    ).toHaveLength(300);
  });
});

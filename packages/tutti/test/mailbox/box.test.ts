import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { appendToBox } from "../../src/mailbox/box.ts";
import { readBoxContent } from "../../src/mailbox/box-content.ts";
import { Mailbox } from "../../src/mailbox/mailbox.ts";
import { rewrite } from "../../src/mailbox/rewrite.ts";
import { realWorld } from "../../src/world.ts";
import { assignment, MailboxLab, report } from "./mailbox-lab.ts";

const FILE = "tasks/messages/to-developer.json";

let lab: MailboxLab;
beforeEach(() => {
  lab = new MailboxLab();
});
afterEach(() => lab.tearDown());

/** Writes a file with an old modification time, so that `readSettled` does not wait for its writer. */
function writeOld(name: string, content: string | Uint8Array): string {
  const file = lab.write(name, content);
  utimesSync(file, new Date(0), new Date(0));
  return file;
}

describe("a sent message", () => {
  it("is appended in the location and envelope of the document (D1-002, D1-003, D1-004, D1-032, D1-053)", async () => {
    const mailbox = lab.mailbox();
    const sent = await mailbox.send("developer", assignment("task-001"));
    await mailbox.send("to-developer.json", assignment("task-002"));
    expect(sent.file).toBe(lab.path(FILE));
    expect(lab.json(FILE)).toEqual({ messages: [assignment("task-001"), assignment("task-002")], lastRead: null });
    expect(lab.text(FILE)).toContain('\n  "messages": [');
  });

  it("to the team lead goes into the same kind of file (D1-003, D1-014)", async () => {
    await lab.mailbox().send("team-lead", report("task-001"));
    expect(lab.json("tasks/messages/to-team-lead.json")).toEqual({ messages: [report("task-001")], lastRead: null });
  });

  it("to the box of the other agent has a warning (D1-003)", async () => {
    const mailbox = lab.mailbox();
    expect((await mailbox.send("developer", assignment("task-001"))).warnings).toEqual([]);
    expect((await mailbox.send("team-lead", report("task-001"))).warnings).toEqual([]);
    const wrong = { path: "type", code: "mismatch", severity: "warning" };
    expect((await mailbox.send("team-lead", assignment("task-002"))).warnings).toMatchObject([wrong]);
    expect((await mailbox.send("developer", report("task-002"))).warnings).toMatchObject([wrong]);
  });

  it("without a timestamp gets one, and an existing timestamp is kept (D1-055)", async () => {
    const { timestamp: _, ...without } = assignment("task-001");
    const before = Date.now();
    const { message } = await lab.mailbox().send("developer", without);
    expect(Date.parse(String(message["timestamp"]))).toBeGreaterThanOrEqual(before);
    expect(Date.parse(String(message["timestamp"]))).toBeLessThanOrEqual(Date.now());
    expect(message["timestamp"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await lab.mailbox().send("developer", assignment("task-002"))).message).toEqual(assignment("task-002"));
    expect(lab.json(FILE)["messages"]).toEqual([message, assignment("task-002")]);
  });

  it("is validated first: errors are listed by path, and nothing is written (D1-056, D1-060)", async () => {
    const wrong = { ...assignment("task-001"), platform: "desktop", title: 7 };
    await expect(lab.mailbox().send("developer", wrong)).rejects.toMatchObject({
      code: "invalid_input",
      details: [{ path: "platform" }, { path: "title" }],
    });
    expect(existsSync(lab.path())).toBe(false);
    await expect(lab.mailbox().send("developer", { type: "gossip", taskId: "x" })).rejects.toThrow(/gossip/);
  });

  it("keeps members that the document does not define, in the message and in the file (D1-032)", async () => {
    writeOld(
      FILE,
      JSON.stringify({ version: 3, messages: [{ type: "design", x: [null] }], lastRead: null, note: "n" }),
    );
    await lab.mailbox().send("developer", assignment("task-001", { filesToModify: ["a.ts"] }));
    expect(lab.json(FILE)).toEqual({
      version: 3,
      messages: [{ type: "design", x: [null] }, assignment("task-001", { filesToModify: ["a.ts"] })],
      lastRead: null,
      note: "n",
    });
  });

  it("preserves long numbers of other programs, also in the archive", async () => {
    writeOld(FILE, '{"messages": [{"type": "note", "id": 12345678901234567890}], "epoch": 98765432109876543210}');
    const mailbox = lab.mailbox();
    await mailbox.read("developer");
    await mailbox.send("developer", assignment("task-001"));
    expect(lab.text(FILE)).toContain('"id": 12345678901234567890');
    expect(lab.text(FILE)).toContain('"epoch": 98765432109876543210');
    await mailbox.clear("developer");
    expect(lab.text(".tutti/archive/developer.jsonl")).toContain('"id":12345678901234567890');
    expect(Object.keys(mailbox.archived("developer")[0]!.messages[0]!.readBy)).toEqual(["developer"]);
  });

  it("is logged, and so is its clearing (D1-059)", async () => {
    await lab.mailbox().send("developer", assignment("task-001"));
    expect(lab.text("logs/log.md")).toMatch(/^\[.*Z\] \[INFO\] task_assignment for task-001 sent to developer\n$/);
    await lab.mailbox().clear("developer");
    expect(lab.text("logs/log.md")).toMatch(/\n\[.*Z\] \[INFO\] 1 message\(s\) to developer archived and cleared\n$/);
  });

  it.each(["to a box named %j is rejected", "a/b", "", ".", "to-", "x".repeat(80), "a\0b"])(
    "to a box named %j is refused",
    async (name) => {
      await expect(lab.mailbox().send(name, assignment("t"))).rejects.toMatchObject({ code: "usage" });
    },
  );
});

describe("`Mailbox.send` requires", () => {
  /** Checks that each of these members is reported by its path if it is missing. */
  const missed = async (to: string, message: Record<string, unknown>, names: string[]) => {
    const found: string[] = [];
    for (const name of names) {
      const { [name]: _, ...rest } = message;
      const error = await lab
        .mailbox()
        .send(to, rest)
        .then(
          () => null,
          (reason: unknown) => reason as { details: { path: string }[] },
        );
      found.push(...(error?.details ?? []).map(({ path }) => path));
    }
    return found;
  };

  it("every required member of an assignment; endpoints are optional (D1-005..D1-011, D1-013)", async () => {
    const required = ["type", "taskId", "platform", "title", "instructions", "filesToCreate", "architecture"];
    expect(await missed("developer", assignment("a"), required)).toEqual(required);
    const { warnings } = await lab.mailbox().send("developer", assignment("a", { apiEndpoints: ["GET /api/books"] }));
    expect(warnings).toEqual([]);
  });

  it("every required member of a report, and no other status (D1-015..D1-022)", async () => {
    const required = [
      "type",
      "taskId",
      "platform",
      "status",
      "summary",
      "filesCreated",
      "filesModified",
      "buildResult",
    ];
    expect(await missed("team-lead", report("a"), required)).toEqual(required);
    const done = lab.mailbox().send("team-lead", report("a", { status: "completed" }));
    await expect(done).rejects.toMatchObject({ details: [{ path: "status" }] });
  });

  it("a timestamp in ISO 8601 (D1-012, D1-023)", async () => {
    for (const timestamp of ["yesterday", 1_700_000_000, null]) {
      const sent = lab.mailbox().send("team-lead", report("a", { timestamp }));
      await expect(sent).rejects.toMatchObject({ details: [{ path: "timestamp" }] });
    }
  });

  it("a build result with one of four statuses, a command and a number of errors (D1-024..D1-027)", async () => {
    const mailbox = lab.mailbox();
    for (const status of ["success", "failed", "not_applicable", "not_verified"]) {
      const buildResult = { status, command: "npm run build", errors: 2, output: "two errors" };
      await mailbox.send("team-lead", report(status, { buildResult }));
    }
    expect((await mailbox.read("team-lead")).messages.map(({ message }) => message?.taskId)).toHaveLength(4);
    const wrong = mailbox.send("team-lead", report("a", { buildResult: { status: "green", output: 1 } }));
    await expect(wrong).rejects.toMatchObject({
      details: ["status", "command", "errors", "output"].map((name) => ({ path: `buildResult.${name}` })),
    });
  });
});

describe("a file that is", () => {
  const one = assignment("task-000");
  it.each<[string, string | Uint8Array | null]>([
    ["missing", null],
    ["empty", ""],
    ["blank", " \r\n\t"],
    ["with a byte-order mark", `\ufeff${JSON.stringify({ messages: [one], lastRead: null })}`],
    ["with the line ends of Windows", JSON.stringify({ messages: [one] }, null, 2).replaceAll("\n", "\r\n")],
    ["in UTF-16", Buffer.from(`\ufeff${JSON.stringify({ messages: [one] })}`, "utf16le")],
  ])("%s is read, appended to, and not set aside (D1-057)", async (_, content) => {
    if (content !== null) writeOld(FILE, content);
    const before = content !== null && content.length > 10 ? [one] : [];
    const { messages, problems } = await lab.mailbox().peek("developer");
    expect(messages.map(({ value }) => value)).toEqual(before);
    expect(problems).toEqual([]);
    await lab.mailbox().send("developer", assignment("task-001"));
    expect(lab.json(FILE)["messages"]).toEqual([...before, assignment("task-001")]);
    expect(readdirSync(lab.path("tasks/messages"))).toEqual(["to-developer.json"]);
  });

  const whole = JSON.stringify({ messages: [one, assignment("cut")], lastRead: null });
  it.each<[string, string | Uint8Array, number]>([
    ["cut in the second message", whole.slice(0, -60), 1],
    ["cut in the first message", whole.slice(0, 60), 0],
    ["no JSON", "The developer should start with the search field.", 0],
    ["no text", Buffer.from([0x7b, 0xff, 0xfe, 0x80]), 0],
    ["a list", JSON.stringify([one]), 1],
    ["a single message", JSON.stringify(one), 1],
    ["an object of another kind", '{"messages": {"a": 1}}', 0],
    ["a number", "42", 0],
    ["with a trailing comma", `{"messages": [${JSON.stringify(one)},], "lastRead": null}`, 1],
    ["of more than 500,000 values", `{"messages": [${"1,".repeat(500_000)}1]}`, 0],
    ["nested without end", "[".repeat(50_000) + "]".repeat(50_000), 0],
  ])("%s is reported with its path and copied to another name before it is replaced", async (_, content, kept) => {
    const file = writeOld(FILE, content);
    const { messages, problems } = await lab.mailbox().peek("developer");
    expect(messages.map(({ value }) => value)).toEqual(kept === 1 ? [one] : []);
    expect(problems).toMatchObject([{ file, sentence: expect.stringMatching(/\.$/) }]);
    expect(readFileSync(file)).toEqual(Buffer.from(content as string));

    const sent = await lab.mailbox().send("developer", assignment("task-001"));
    expect(lab.json(FILE)["messages"]).toEqual([...(kept === 1 ? [one] : []), assignment("task-001")]);
    const keptAs = sent.problems[0]!.keptAs!;
    expect(keptAs).toMatch(/to-developer\.json\.damaged-[0-9a-f]{12}$/);
    expect(readFileSync(keptAs)).toEqual(Buffer.from(content as string));
    expect(lab.text("logs/log.md")).toContain("[WARN]");
  });

  it("longer than 16 MiB is not read and not replaced", async () => {
    const file = writeOld(FILE, JSON.stringify({ messages: [one], more: "x".repeat(17_000_000) }));
    await expect(lab.mailbox().peek("developer")).rejects.toMatchObject({
      code: "wrong_state",
      message: expect.stringContaining(`${file} is too large`),
    });
    await expect(lab.mailbox().send("developer", one)).rejects.toMatchObject({ code: "wrong_state" });
    expect(statSync(file).size).toBeGreaterThan(17_000_000);
  });

  it("damaged twice in different ways is copied twice", async () => {
    for (const text of ["{", "["]) {
      writeOld(FILE, text);
      await lab.mailbox().send("developer", one);
    }
    const kept = readdirSync(lab.path("tasks/messages")).filter((name) => name.includes("damaged"));
    expect(kept.map((name) => readFileSync(join(lab.path("tasks/messages"), name), "utf8")).toSorted()).toEqual([
      "[",
      "{",
    ]);
  });

  it("just being written by another program is read again later", async () => {
    lab.write(FILE, '{"messages": [');
    // The other program completes its write while the mailbox waits.
    const sleep = async () => void lab.write(FILE, JSON.stringify({ messages: [one], lastRead: null }));
    const world = { ...realWorld, now: () => 0, mono: () => 0, sleep };
    const { problems } = await new Mailbox({ project: lab.project, world }).send("developer", assignment("task-001"));
    expect(problems).toEqual([]);
    expect(lab.json(FILE)["messages"]).toEqual([one, assignment("task-001")]);
  });

  it("changed by another program between reading and writing is read again (D1-032)", async () => {
    const { folder } = lab.mailbox();
    await appendToBox(folder, "developer", [one]);
    let times = 0;
    await rewrite(lab.path(FILE), realWorld, readBoxContent, ({ messages }) => {
      if (++times === 1) lab.write(FILE, JSON.stringify({ messages: [...messages, "theirs"] }));
      return JSON.stringify({ messages: [...messages, "ours"] });
    });
    expect(times).toBe(2);
    expect(lab.json(FILE)["messages"]).toEqual([one, "theirs", "ours"]);
  });
});

it("an entry that is not a message is reported with its problems and kept", async () => {
  writeOld(FILE, JSON.stringify({ messages: ["hello", null, { type: "task_assignment" }, assignment("t")] }));
  const { messages } = await lab.mailbox().peek("developer");
  expect(messages.map(({ message }) => message?.taskId ?? null)).toEqual([null, null, null, "t"]);
  expect(messages.slice(0, 3).every(({ problems }) => problems.some(({ severity }) => severity === "error"))).toBe(
    true,
  );
  await lab.mailbox().send("developer", assignment("u"));
  expect((lab.json(FILE)["messages"] as unknown[]).slice(0, 2)).toEqual(["hello", null]);
});

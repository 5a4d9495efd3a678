import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Mailbox } from "../../src/mailbox/mailbox.ts";
import { assignment, ended, MailboxLab, report } from "./mailbox-lab.ts";

const FILE = "tasks/messages/to-developer.json";

let lab: MailboxLab;
beforeEach(() => {
  lab = new MailboxLab();
});
afterEach(() => lab.tearDown());

const ids = (messages: { message: { taskId?: string } | null }[]) => messages.map(({ message }) => message?.taskId);
const fresh = async (mailbox: Mailbox, options: { consumer?: string; taskId?: string } = {}) =>
  ids((await mailbox.read("developer", options)).messages.filter(({ readAt }) => readAt === null));

describe("reading", () => {
  it("returns the messages, sets lastRead, and marks each message only for its reader (D1-004, D1-033)", async () => {
    const mailbox = lab.mailbox();
    await mailbox.send("developer", assignment("a"));
    const before = Date.now();
    expect(await fresh(mailbox)).toEqual(["a"]);
    const { lastRead } = lab.json(FILE);
    expect(Date.parse(lastRead as string)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(lastRead as string)).toBeLessThanOrEqual(Date.now());
    await mailbox.send("developer", assignment("b"));
    expect(lab.json(FILE)["lastRead"]).toBe(lastRead);
    expect(await fresh(lab.mailbox())).toEqual(["b"]);
    expect(await fresh(mailbox)).toEqual([]);
    expect(await fresh(mailbox, { consumer: "auditor" })).toEqual(["a", "b"]);
    expect(lab.json(FILE)["lastRead"]! >= lastRead!).toBe(true);
  });

  it("for a task returns and marks only messages about it (D1-033)", async () => {
    const mailbox = lab.mailbox();
    for (const id of ["a", "b", "a"]) await mailbox.send("developer", assignment(id));
    expect(await fresh(mailbox, { taskId: "a" })).toEqual(["a", "a"]);
    expect(await fresh(mailbox)).toEqual(["b"]);
  });

  it("distinguishes equal messages by their number, also after other programs rewrite the file", async () => {
    const mailbox = lab.mailbox();
    await mailbox.send("developer", assignment("a"));
    expect(await fresh(mailbox)).toEqual(["a"]);
    const { messages } = lab.json(FILE) as { messages: object[] };
    writeFileSync(lab.path(FILE), JSON.stringify({ lastRead: null, messages: [...messages, ...messages] }));
    expect(await fresh(mailbox)).toEqual(["a"]);
    expect(await fresh(mailbox)).toEqual([]);
  });

  it("rejects a file with too many values or bytes, and keeps it", async () => {
    const mailbox = lab.mailbox();
    await mailbox.send("developer", assignment("a"));
    const { messages } = lab.json(FILE) as { messages: object[] };
    const many = `{"messages":[${JSON.stringify(messages[0])},[${"1,".repeat(500_000)}1]],"lastRead":null}`;
    // An old file, which no program is still writing.
    const write = (text: string) => (writeFileSync(lab.path(FILE), text), utimesSync(lab.path(FILE), 1, 1));
    write(many);
    const { messages: read, problems } = await mailbox.peek("developer");
    expect([read, problems[0]?.sentence]).toEqual([[], "It has more than 500000 values."]);
    expect(lab.text(FILE)).toBe(many);
    write(`{"messages":[],"text":"${"x".repeat(17 * 1024 * 1024)}"}`);
    await expect(mailbox.peek("developer")).rejects.toMatchObject({ code: "wrong_state" });
  });

  it("with peek changes nothing on disk (D1-033)", async () => {
    const mailbox = lab.mailbox();
    await mailbox.send("developer", assignment("a"));
    const before = lab.text(FILE);
    for (let time = 0; time < 2; time++)
      expect((await mailbox.peek("developer")).messages).toMatchObject([{ readAt: null }]);
    expect(lab.text(FILE)).toBe(before);
  });

  it("a box without a file returns nothing and creates no files (D1-057)", async () => {
    expect(await lab.mailbox().read("developer")).toEqual({
      box: "developer",
      lastRead: null,
      messages: [],
      problems: [],
    });
    expect(existsSync(lab.path())).toBe(false);
  });

  it("messages of other programs is lenient and reports every deviation (D1-033)", async () => {
    lab.write(
      "tasks/messages/to-team-lead.json",
      JSON.stringify({ messages: [{ ...report("a"), platform: "desktop" }] }),
    );
    const { messages } = await lab.mailbox().read("team-lead");
    expect(messages).toMatchObject([
      { message: { taskId: "a" }, problems: [{ path: "platform", severity: "warning" }] },
    ]);
  });
});

describe("clearing", () => {
  it("archives every message with its readers, then leaves an empty box with lastRead (D1-034)", async () => {
    const mailbox = lab.mailbox();
    await mailbox.send("developer", assignment("a"));
    await fresh(mailbox);
    await mailbox.send("developer", assignment("b"));
    expect(await mailbox.clear("developer")).toMatchObject({ cleared: 2, problems: [] });
    const { lastRead, ...rest } = lab.json(FILE);
    expect(rest).toEqual({ messages: [] });
    expect(Number.isNaN(Date.parse(lastRead as string))).toBe(false);
    const [clearing] = mailbox.archived("developer");
    expect(clearing!.messages.map(({ message }) => message)).toEqual([assignment("a"), assignment("b")]);
    expect(Object.keys(clearing!.messages[0]!.readBy)).toEqual(["developer"]);
    expect(clearing!.messages[1]!.readBy).toEqual({});
    // A box without `lastRead` gets it from the clearing.
    await mailbox.send("team-lead", report("a"));
    await mailbox.clear("team-lead");
    expect(lab.json("tasks/messages/to-team-lead.json")).toEqual({
      messages: [],
      lastRead: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
  });

  it("repeatedly only appends to the archive, and an equal later message is new (D1-034)", async () => {
    const mailbox = lab.mailbox();
    for (let time = 0; time < 3; time++) {
      await mailbox.send("developer", assignment("a"));
      expect(await fresh(mailbox)).toEqual(["a"]);
      await mailbox.clear("developer");
    }
    await mailbox.clear("developer");
    expect(mailbox.archived("developer")).toHaveLength(3);
  });

  it("that was interrupted after archiving archives nothing twice", async () => {
    const mailbox = lab.mailbox();
    await mailbox.send("developer", assignment("a"));
    const before = lab.text(FILE);
    await mailbox.clear("developer");
    // The state after a crash between the two steps: the archive is written, the box is not.
    writeFileSync(lab.path(FILE), before);
    const archive = lab.path(".tutti/archive/developer.jsonl");
    writeFileSync(archive, readFileSync(archive, "utf8").split("\n").slice(0, 2).join("\n") + "\n");
    expect(await mailbox.clear("developer")).toMatchObject({ cleared: 1 });
    expect(mailbox.archived("developer")).toHaveLength(1);
    expect(lab.json(FILE)["messages"]).toEqual([]);
  });

  it("copies a damaged file to another name", async () => {
    lab.write(FILE, "{ broken");
    await lab.mailbox().clear("developer");
    const kept = readdirSync(lab.path("tasks/messages")).find((name) => name.includes("damaged"))!;
    expect(lab.text(`tasks/messages/${kept}`)).toBe("{ broken");
  });
});

describe("watching", () => {
  const take = async (mailbox: Mailbox, count: number, consumer?: string): Promise<(string | undefined)[]> => {
    const signal = AbortSignal.timeout(600_000);
    const found: (string | undefined)[] = [];
    const options = consumer === undefined ? { signal } : { signal, consumer };
    for await (const { message } of mailbox.watch("developer", options)) {
      found.push(message?.taskId);
      if (found.length === count) break;
    }
    return found;
  };

  it("delivers each message once as it arrives, also if the box is created later (D1-033)", async () => {
    const mailbox = lab.mailbox();
    const found = take(mailbox, 5);
    for (const id of ["a", "b", "c", "d", "e"]) {
      await sleep(id === "c" ? 120 : 5);
      await lab.mailbox().send("developer", assignment(id));
    }
    expect(await found).toEqual(["a", "b", "c", "d", "e"]);
    expect(lab.json(FILE)["lastRead"]).not.toBe(null);
  });

  it("continues after a restart, separately for each reader, also after the box was cleared", async () => {
    for (const id of ["a", "b", "c"]) await lab.mailbox().send("developer", assignment(id));
    expect(await take(lab.mailbox(), 2)).toEqual(["a", "b"]);
    expect(await take(lab.mailbox(), 1)).toEqual(["c"]);
    expect(await take(lab.mailbox(), 3, "auditor")).toEqual(["a", "b", "c"]);
    const next = take(lab.mailbox(), 1);
    await lab.mailbox().clear("developer");
    await lab.mailbox().send("developer", assignment("a"));
    expect(await next).toEqual(["a"]);
  });

  it("delivers a message again after its reader puts it back", async () => {
    await lab.mailbox().send("developer", assignment("a"));
    for await (const { putBack } of lab.mailbox().watch("developer", { signal: AbortSignal.timeout(600_000) })) {
      putBack();
      break;
    }
    expect(await take(lab.mailbox(), 1)).toEqual(["a"]);
  });

  it("misses and repeats nothing while several processes write, and two watchers of one name share the messages", async () => {
    const writers = [lab.startWriter("x", 40, 3), lab.startWriter("y", 40, 1)];
    const stop = new AbortController();
    const found: string[] = [];
    const watchers = [1, 2].map(async () => {
      for await (const { message } of lab.mailbox().watch("developer", { signal: stop.signal, pollMs: 50 })) {
        found.push(message!.taskId!);
        if (found.length === 80) stop.abort();
      }
    });
    await Promise.all([...writers.map(ended), ...watchers]);
    const all = writers.flatMap(({ acknowledged }) => acknowledged);
    expect(found.toSorted()).toEqual(all.toSorted());
  });

  it("by a process that is killed and restarted delivers every message at least once, and only the current one twice", async () => {
    const watcher = fileURLToPath(new URL("./watcher-process.ts", import.meta.url));
    const written = ended(lab.startWriter("w", 80, 1));
    const runs: string[][] = [];
    const start = async (killAfter: number) => {
      const child = spawn(process.execPath, [watcher, lab.project, "80"], { stdio: ["ignore", "pipe", "inherit"] });
      const end = ended(child);
      let text = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (text.split("\n").length > killAfter) child.kill("SIGKILL");
      });
      // One process may have consumed so much that nothing is left for the next.
      const timer = setTimeout(() => child.kill("SIGKILL"), 2000);
      await end;
      clearTimeout(timer);
      runs.push(text.split("\n").filter((line) => line !== ""));
    };
    for (const killAfter of [10, 15]) await start(killAfter);
    await written;
    const left = (await lab.mailbox().read("developer")).messages.filter(({ readAt }) => readAt === null);
    runs.push(left.map(({ message }) => message!.taskId!));
    const all = runs.flat();
    expect(new Set(all).size).toBe(80);
    expect(all.length - 80).toBeLessThanOrEqual(2);
  });

  it("reports a damaged file once and continues after it is repaired", async () => {
    lab.write(FILE, "{ broken");
    const problems: string[] = [];
    const stop = new AbortController();
    const found: unknown[] = [];
    const done = (async () => {
      const options = {
        signal: stop.signal,
        pollMs: 20,
        onProblem: ({ sentence }: { sentence: string }) => void problems.push(sentence),
      };
      for await (const { message } of lab.mailbox().watch("developer", options)) {
        found.push(message?.taskId);
        stop.abort();
      }
    })();
    await expect.poll(() => problems).toHaveLength(1);
    await sleep(100);
    expect(problems).toHaveLength(1);
    lab.write(FILE, JSON.stringify({ messages: [assignment("a")] }));
    await done;
    expect(found).toEqual(["a"]);
  });
});

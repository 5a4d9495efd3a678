// Several processes on one box, some of them killed.
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ended, MailboxLab } from "./mailbox-lab.ts";
import { repetitions } from "../lab/repetitions.ts";

const FILE = "tasks/messages/to-developer.json";
/** `npm run reliability` sets a higher number. */
const KILLS = repetitions(4, 12, "TUTTI_TEST_KILLS");

let lab: MailboxLab;
beforeEach(() => {
  lab = new MailboxLab();
});
afterEach(() => lab.tearDown());

const taskIds = (): string[] => (lab.json(FILE)["messages"] as { taskId: string }[]).map(({ taskId }) => taskId);

describe("many writers", () => {
  it("8 processes with 500 messages each: every message arrives once, in the order of its process, and readers see only complete messages (D1-032, D1-059)", async () => {
    const writers = Array.from({ length: 8 }, (_, index) => lab.startWriter(`w${index}`, 500, 50));
    const codes = Promise.all(writers.map(ended));
    const done = new AbortController();
    void codes.then(() => done.abort());
    // Reads continuously without a lock.
    const lengths: number[] = [];
    while (!done.signal.aborted) {
      const { messages, problems } = await lab.mailbox().peek("developer");
      expect(problems).toEqual([]);
      expect(messages.every(({ message, problems }) => message !== null && problems.length === 0)).toBe(true);
      lengths.push(messages.length);
      await sleep(20);
    }
    expect(await codes).toEqual(Array.from({ length: 8 }, () => 0));
    const ids = taskIds();
    expect(ids).toHaveLength(4000);
    for (let index = 0; index < 8; index++) {
      const own = ids.filter((id) => id.startsWith(`w${index}-`));
      expect(own).toEqual(Array.from({ length: 500 }, (_, number) => `w${index}-${number}`));
    }
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
    expect(lengths.some((length) => length > 0 && length < 4000)).toBe(true);
    expect(readdirSync(lab.path("tasks/messages"))).toEqual(["to-developer.json"]);
    const logs = readdirSync(lab.path("logs")).map((name) => lab.text(`logs/${name}`));
    expect(new Set(logs.flatMap((text) => text.match(/w\d-\d+/g))).size).toBe(4000);
  });

  it(`a writer killed at any moment, ${KILLS} times while others write, leaves a readable file and no lost or duplicate acknowledged message (D1-032)`, async () => {
    const steady = lab.startWriter("steady", 100_000, 1);
    const killed: string[] = [];
    const writeAndDie = async (number: number) => {
      const writer = lab.startWriter(`k${number}`, 100_000, 1 + (number % 3));
      const end = ended(writer);
      while (writer.acknowledged.length === 0) await sleep(2);
      await sleep((number * 7.3) % 60);
      writer.kill("SIGKILL");
      await end;
      killed.push(...writer.acknowledged);
      expect(lab.json(FILE)).toHaveProperty("messages");
    };
    for (let round = 0; round < KILLS; round += 4) {
      await Promise.all([0, 1, 2, 3].map((index) => writeAndDie(round + index)));
      // No writer waits for the lock of a killed process.
      const before = steady.acknowledged.length;
      while (steady.acknowledged.length === before) await sleep(2);
    }
    const end = ended(steady);
    steady.kill("SIGKILL");
    await end;
    const ids = taskIds();
    expect(new Set(ids).size).toBe(ids.length);
    const there = new Set(ids);
    expect([...killed, ...steady.acknowledged].filter((id) => !there.has(id))).toEqual([]);
    expect(killed.length).toBeGreaterThanOrEqual(KILLS);
    // The next write removes the temporary file of a killed writer.
    await lab.mailbox().clear("developer");
    expect(readdirSync(lab.path("tasks/messages"))).toEqual(["to-developer.json"]);
    expect(lab.mailbox().archived("developer")).toMatchObject([{ messages: { length: ids.length } }]);
  });
});

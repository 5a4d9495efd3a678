import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "./make-run.ts";
import { sha256 } from "../../src/run/fold/sha256.ts";
import { schedule } from "../../src/run/schedule.ts";
import { InboxItem } from "../../src/schema/inbox.ts";

function asking(config: object = {}, options?: string[]): Story {
  const story = new Story(makeTemplate({ config })).execute([{ id: "a" }, { id: "b" }]);
  story.spawn("a");
  const { sessionId } = story.run.workers["a"]!;
  story.do({
    type: "asked",
    sessionId,
    askId: "1",
    itemId: "item_1",
    question: "Tabs?",
    ...(options ? { options } : {}),
  });
  return story;
}
const code = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return "accepted";
};

describe("An inbox item", () => {
  it("has kind, run, task, question, options, risk and the hash of everything displayed", () => {
    const story = asking({}, ["tabs", "spaces"]);
    const item = story.run.inbox["item_1"]!;
    expect(InboxItem.parse(item)).toMatchObject({
      kind: "question",
      run: story.run.id,
      taskId: "a",
      question: "Tabs?",
      options: ["tabs", "spaces"],
      risk: "low",
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      createdAt: story.now,
    });
    expect(asking({}, ["tabs", "none"]).run.inbox["item_1"]!.hash).not.toBe(item.hash);
    expect(asking({}, ["tabs", "spaces"]).run.inbox["item_1"]!.hash).toBe(item.hash);
  });

  it("is answered once, only for the displayed version, with text or the number of an option", () => {
    const story = asking({}, ["tabs", "spaces"]);
    const answer = (given: object) => () => story.do({ type: "answer", itemId: "item_1", answer: given as never });
    expect(code(answer({ option: 1, hash: "of another" }))).toBe("wrong_state");
    expect(code(answer({ option: 2 }))).toBe("invalid_input");
    expect(code(answer({ approve: true }))).toBe("invalid_input");
    expect(code(answer({ option: 1, hash: story.run.inbox["item_1"]!.hash }))).toBe("accepted");
    expect(story.run.workers["a"]!.session.asks).toEqual({ "1": "spaces" });
    expect(code(answer({ option: 0 }))).toBe("item_not_found");
  });

  it("of kind `host` says that no host offers the labels of a task, once, until one takes it or the user cancels it", () => {
    const labels = { gpu: "yes", os: "mac" };
    const story = new Story(makeTemplate()).execute([{ id: "a", labels }]);
    story.do({ type: "spawn", taskId: "a" });
    const { sessionId } = story.run.workers["a"]!;
    const wait = () => story.do({ type: "unplaced", sessionId, labels });
    const open = () => Object.values(story.run.inbox);
    wait();
    wait();
    const question = expect.stringContaining("--label gpu=yes --label os=mac");
    expect(open()).toMatchObject([{ kind: "host", taskId: "a", sessionId, question, evidence: { labels } }]);
    story.do({ type: "answer", itemId: open()[0]!.id, answer: { option: 0 } });
    expect([open(), story.run.workers["a"]!.status]).toEqual([[], "spawning"]);
    // A restarted server reports it again.
    wait();
    expect(open()).toEqual([]);
    story.do({ type: "ready", sessionId, start: "c0" });
    expect([open(), story.run.workers["a"]!.status]).toEqual([[], "running"]);
    wait();
    expect(open()).toEqual([]);

    const other = new Story(makeTemplate()).execute([{ id: "a", labels }]);
    other.do({ type: "spawn", taskId: "a" });
    other.do({ type: "unplaced", sessionId: other.run.workers["a"]!.sessionId, labels });
    other.do({ type: "answer", itemId: Object.keys(other.run.inbox)[0]!, answer: { text: "cancel the task" } });
    expect(other.run.workers["a"]!.status).toBe("cancelled");
    expect(Object.values(other.run.inbox).some(({ kind }) => kind === "host")).toBe(false);
  });

  it("blocks only the session that asked", () => {
    const story = asking();
    expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual(["b"]);
    story.spawn("b");
    story.succeed("b");
    expect(story.run.workers["b"]!.status).toBe("completed");
  });

  it("that expires is answered with its default if the template sets `answerTimeout`", () => {
    const story = asking({ answerTimeout: 60_000 }, ["tabs", "spaces"]);
    expect(story.run.inbox["item_1"]).toMatchObject({ expiresAt: story.now + 60_000, default: "tabs" });
    expect(schedule(story.run, { freeSlots: 0 }, story.now).lookAt).toBe(story.now + 60_000);
    story.do({ type: "tick" }, 59_000);
    expect(story.run.inbox["item_1"]).toBeDefined();
    story.do({ type: "tick" }, 1000);
    expect(story.run.workers["a"]!.session.asks).toEqual({ "1": "tabs" });
    const open = asking({ answerTimeout: 60_000 });
    open.do({ type: "tick" }, 60_000);
    expect(open.run.workers["a"]!.session.asks["1"]).toContain("Choose the safest option yourself");
    const patient = asking();
    patient.do({ type: "tick" }, 1e12);
    expect(patient.run.inbox["item_1"]).toBeDefined();
  });
});

describe("`sha256`", () => {
  it("computes SHA-256", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(sha256(text)).toBe(createHash("sha256").update(text).digest("hex"));
      }),
    );
  });
});

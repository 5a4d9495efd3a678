// A turn that was cut off because its session was suspended: the next turn continues the conversation with everything
// that the user answered meanwhile.
import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "./make-run.ts";
import { deadlines } from "../../src/run/schedule.ts";

const HOUR = 3_600_000;
const INTERRUPTED = { kind: "interrupted" as const, detail: "" };
const permission = { tool: "Bash", subject: "npm test" };

function working(config: object = {}): Story {
  const story = new Story(makeTemplate({ config })).execute([{ id: "a" }]);
  story.spawn("a");
  return story;
}
const worker = (story: Story) => story.run.workers["a"]!;

function ask(story: Story, askId: string, more: object = { permission }): void {
  const { sessionId } = worker(story);
  const options = ["allow", "refuse"];
  const about = { question: "May it run: npm test", options, ...more };
  story.do({ type: "asked", sessionId, askId, itemId: `item_${askId}`, ...about });
}
const cutOff = (story: Story, unheard: string[], asleepMs = 0) =>
  story.answerWorker("a", null, { ending: INTERRUPTED, cutOff: { asleepMs, unheard } });

describe("A turn that was cut off", () => {
  it.each([[{ permission }], [{}]])("is repeated with the answer that the agent missed (%o)", (more) => {
    const story = working();
    ask(story, "p1", more);
    story.do({ type: "answer", itemId: "item_p1", answer: { text: "allow" } }, 3 * HOUR);
    cutOff(story, ["p1"]);
    expect(worker(story)).toMatchObject({ attempt: 1, session: { turn: { number: 2, try: 1 } } });
    expect(worker(story).owed).toMatchObject({
      interrupted: true,
      note: "You asked: May it run: npm test\nThe answer is: allow",
    });
    // The agent asks again, because its request was lost with its process.
    ask(story, "p2", more);
    expect(story.run.inbox).toEqual({});
    expect(worker(story).session.asks["p2"]).toBe("allow");
    ask(story, "p3", more);
    expect(Object.keys(story.run.inbox)).toEqual(["item_p3"]);
  });

  it("gives the missed permission to no other use of the tool", () => {
    const story = working();
    ask(story, "p1");
    story.do({ type: "answer", itemId: "item_p1", answer: { option: 0 } });
    cutOff(story, ["p1"]);
    ask(story, "p2", { permission: { ...permission, subject: "npm test; rm -rf ." } });
    expect(Object.keys(story.run.inbox)).toEqual(["item_p2"]);
  });

  it("has no note about answers that the agent received", () => {
    const story = working();
    ask(story, "p1");
    story.do({ type: "answer", itemId: "item_p1", answer: { option: 0 } });
    cutOff(story, []);
    expect(worker(story).owed!.note).toBeNull();
    ask(story, "p2");
    expect(Object.keys(story.run.inbox)).toEqual(["item_p2"]);
  });

  it("gives its worker the time of the suspension back, but never more than its whole time", () => {
    const workerTimeout = 10 * 60_000;
    const story = working({ workerTimeout });
    story.now += 3 * HOUR;
    cutOff(story, [], 3 * HOUR - 60_000);
    const [deadline] = deadlines(story.run);
    expect(deadline!.at - story.now).toBeGreaterThan(workerTimeout - 2 * 60_000);
    expect(deadline!.at - story.now).toBeLessThan(workerTimeout);
    cutOff(story, [], 9 * HOUR);
    expect(deadlines(story.run)[0]!.at - story.now).toBeLessThanOrEqual(workerTimeout);
  });

  it("of the main session is repeated with the answer, too", () => {
    const story = new Story();
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    const { sessionId } = story.run.main!;
    story.do({ type: "ready", sessionId, start: "base" });
    story.do({ type: "asked", sessionId, askId: "q", itemId: "item_q", question: "Which one?" });
    story.do({ type: "answer", itemId: "item_q", answer: { text: "the first" } });
    story.answerMain(null, { ending: INTERRUPTED, cutOff: { asleepMs: HOUR, unheard: ["q"] } });
    expect(story.run.main!.turn).toMatchObject({ number: 2 });
    expect(story.run.owed!.note).toBe("You asked: Which one?\nThe answer is: the first");
  });
});

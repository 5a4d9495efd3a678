import { describe, expect, it } from "vitest";
import { Story, taskList } from "./make-run.ts";
import { fold } from "../../src/run/apply.ts";

const analysis = { phase: "analysis", data: { summary: "found", recommended_splits: 1 } } as const;
const say = (story: Story, text: string, taskId: string | null = null) => story.do({ type: "message", taskId, text });
const delivered = (story: Story) => story.run.messages.map(({ told }) => told);

describe("A message", () => {
  it("before a turn is included in that turn and costs no extra turn", () => {
    const story = new Story();
    say(story, "be brief");
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    expect(delivered(story)).toEqual([false]);
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    expect(delivered(story)).toEqual([true]);
    story.answerMain(analysis);
    expect([story.run.turns, story.run.currentPhase]).toEqual([2, "taskPlanning"]);
  });

  it("during a turn of the main session discards its answer once and uses up no try", () => {
    const story = new Story().plan([{ id: "a" }]);
    story.do({ type: "requestChanges", text: "smaller" });
    say(story, "and in English");
    say(story, "and soon");
    const before = story.run.turns;
    const [ended] = story.answerMain(taskList([{ id: "b" }]));
    expect(ended).toMatchObject({ type: "turn:ended", data: { ending: { kind: "interrupted" }, problems: [] } });
    expect(story.run).toMatchObject({ status: "planning", turns: before + 1, owed: { try: 1 } });
    expect(delivered(story)).toEqual([true, true]);
    story.answerMain(taskList([{ id: "b" }]));
    expect([story.run.status, story.run.tasks.map(({ id }) => id)]).toEqual(["confirming", ["b"]]);
  });

  it("to one worker does not affect the other sessions", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    for (const id of ["a", "b"]) story.spawn(id);
    say(story, "with care", "a");
    story.succeed("b");
    expect(story.run.workers["b"]!.status).toBe("completed");
    story.succeed("a");
    expect(story.run.workers["a"]).toMatchObject({ status: "running", session: { turns: 2 } });
    story.succeed("a");
    expect(story.run.workers["a"]!.status).toBe("completed");
  });

  it("that the agent received during its turn is part of that turn, and its answer counts", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    for (const id of ["a", "b"]) story.spawn(id);
    say(story, "with care", "a");
    say(story, "with joy", "b");
    const { sessionId } = story.run.workers["a"]!;
    const received = story.do({ type: "steered", sessionId, message: 0 });
    expect(received).toMatchObject([{ type: "message:steered", data: { sessionId, taskId: "a", message: 0 } }]);
    expect(delivered(story)).toEqual([true, false]);
    // Repeated after a restart, of another session's message, or of an unknown one.
    for (const message of [0, 1, 9]) expect(story.do({ type: "steered", sessionId, message })).toEqual([]);
    const turns = story.run.turns;
    story.succeed("a");
    expect([story.run.workers["a"]!.status, story.run.turns]).toEqual(["completed", turns]);
    expect(fold(null, story.log)).toEqual(story.run);
  });

  it("does not hide how a turn failed", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.spawn("a");
    say(story, "with care", "a");
    story.answerWorker("a", null, { ending: { kind: "exited", detail: "exit code 3" } });
    expect(story.run.workers["a"]).toMatchObject({ status: "failed", error: "exit code 3" });
  });

  it("to a paused or lost worker is included when it continues", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    story.do({ type: "pauseWorker", sessionId });
    story.answerWorker("a", null, { ending: { kind: "interrupted", detail: "" } });
    say(story, "with care", "a");
    story.do({ type: "resumeWorker", sessionId });
    expect(delivered(story)).toEqual([true]);
    say(story, "and soon", "a");
    story.do({ type: "lost", sessionId, reason: "gone", counted: true });
    expect(delivered(story)).toEqual([true, false]);
    story.spawn("a");
    expect(delivered(story)).toEqual([true, true]);
    story.succeed("a");
    expect(story.run.workers["a"]!.status).toBe("completed");
  });

  it("keeps the task from reusing an earlier result", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    say(story, "differently", "a");
    for (const id of ["a", "b"]) story.do({ type: "spawn", taskId: id });
    expect([story.run.workers["a"]!.anew, story.run.workers["b"]!.anew]).toEqual([true, false]);
  });

  it("is rejected if no session can receive it, and folds from the log", () => {
    const story = new Story().execute([{ id: "a" }]);
    expect(() => say(story, "hello", "z")).toThrow(expect.objectContaining({ code: "task_not_found" }));
    story.spawn("a");
    say(story, "with care", "a");
    story.succeed("a");
    story.succeed("a");
    expect(() => say(story, "again", "a")).toThrow(expect.objectContaining({ code: "wrong_state" }));
    expect(fold(null, story.log)).toEqual(story.run);
    story.do({ type: "cancel" });
    expect(() => say(story, "too late")).toThrow(expect.objectContaining({ code: "wrong_state" }));
  });
});

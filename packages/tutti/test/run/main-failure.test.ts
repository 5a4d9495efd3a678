import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "./make-run.ts";
import { apply } from "../../src/run/apply.ts";
import { schedule } from "../../src/run/schedule.ts";
import type { Answer } from "../../src/schema/answer.ts";
import type { Run } from "../../src/schema/run.ts";

const template = makeTemplate({ phases: { verification: { enabled: true } } });

const begin = (story: Story): void => {
  if (schedule(story.run, { freeSlots: 9 }, story.now).spawnMain) story.do({ type: "spawnMain" });
  if (story.run.main!.state === "spawning")
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
};

const started = (): Story => {
  const story = new Story(template);
  story.do({ type: "start", base: "base", warnings: [] });
  begin(story);
  return story;
};

const worked = (): Story => {
  const story = new Story(template).execute([{ id: "a" }, { id: "b" }]);
  for (const id of ["a", "b"]) {
    story.spawn(id);
    story.succeed(id);
    story.merge(id);
  }
  return story;
};

/** Brings a run to each phase of its main session. */
const PHASES: Record<string, { reach: () => Story; answer: Answer; next: string }> = {
  analysis: {
    reach: started,
    answer: { phase: "analysis", data: { summary: "found", recommended_splits: 1 } },
    next: "planning",
  },
  taskPlanning: {
    reach: () => {
      const story = started();
      story.answerMain({ phase: "analysis", data: { summary: "found", recommended_splits: 1 } });
      return story;
    },
    answer: { phase: "task_list", data: { tasks: [{ id: "a", title: "A", description: "what", dependencies: [] }] } },
    next: "confirming",
  },
  aggregation: {
    reach: worked,
    answer: { phase: "aggregation", data: { status: "success" } },
    next: "verifying",
  },
  verification: {
    reach: () => {
      const story = worked();
      story.answerMain({ phase: "aggregation", data: { status: "success" } });
      return story;
    },
    answer: { phase: "verification", data: { status: "passed" } },
    next: "completed",
  },
};

const lose = (story: Story): void => {
  story.do({ type: "lost", sessionId: story.run.main!.sessionId, reason: "killed", counted: true });
};
const exit = (story: Story): void => {
  story.answerMain(null, { ending: { kind: "exited", detail: "the agent was ended by SIGKILL" } });
};
const stall = (story: Story): void => {
  story.answerMain(null, { ending: { kind: "exited", detail: "no activity", cause: "stalled" } });
};
const LOSSES = { lose, exit, stall };

const loseUntilPaused = (story: Story, die: (story: Story) => void): number => {
  let losses = 0;
  while (story.run.status !== "paused") {
    begin(story);
    die(story);
    losses += 1;
  }
  return losses;
};

const itemOf = ({ inbox }: Run) => Object.values(inbox)[0]!;
const kept = ({ analysis, tasks, workers, aggregation, head }: Run) => ({
  analysis,
  tasks,
  done: Object.values(workers).map(({ taskId, status, commit }) => [taskId, status, commit]),
  aggregation,
  head,
});

describe.each(Object.entries(PHASES))("A main session in the phase %s", (phase, { reach, answer, next }) => {
  it.each(Object.keys(LOSSES) as (keyof typeof LOSSES)[])("is replaced, and completes the phase (%s)", (name) => {
    const story = reach();
    const before = kept(story.run);
    LOSSES[name](story);
    expect(story.run.inbox).toEqual({});
    begin(story);
    expect(story.run.main!.turn).toMatchObject({ number: 1, phase });
    expect(kept(story.run)).toEqual(before);
    story.answerMain(answer);
    expect(story.run.status).toBe(next);
  });

  it.each(Object.keys(LOSSES) as (keyof typeof LOSSES)[])(
    "three times makes the run wait for the user with options (%s)",
    (name) => {
      const story = reach();
      const { status } = story.run;
      const before = kept(story.run);
      expect(loseUntilPaused(story, LOSSES[name])).toBe(3);
      expect(story.run).toMatchObject({ outcome: null, pausedFrom: { status, phase, reason: "failure" } });
      expect(itemOf(story.run)).toMatchObject({
        kind: "failure",
        taskId: null,
        options: ["try it again", "cancel the run"],
        evidence: { phase },
      });
      expect(kept(story.run)).toEqual(before);
      const ways = {
        retry: { type: "retry", taskId: null },
        resume: { type: "resume" },
        option: { type: "answer", itemId: itemOf(story.run).id, answer: { option: 0 } },
        words: { type: "answer", itemId: itemOf(story.run).id, answer: { text: "Try it again" } },
      } as const;
      const { run, log } = story;
      for (const [way, command] of Object.entries(ways)) {
        const again = reach();
        loseUntilPaused(again, LOSSES[name]);
        again.do(command.type === "answer" ? { ...command, itemId: itemOf(again.run).id } : command);
        expect([again.run.status, again.run.inbox, again.run.mainLosses], way).toEqual([status, {}, 0]);
        begin(again);
        again.answerMain(answer);
        expect(again.run.status, way).toBe(next);
      }
      story.do({ type: "answer", itemId: itemOf(run).id, answer: { option: 1 } });
      expect(story.run.status).toBe("cancelled");
      expect(log.reduce<Run | null>((state, event) => apply(state, event), null)).toEqual(story.run);
    },
  );

  it("is not counted while the run is paused", () => {
    const story = reach();
    story.do({ type: "pause" });
    for (let i = 0; i < 4; i++) {
      lose(story);
      story.do({ type: "resume" });
      begin(story);
      story.do({ type: "pause" });
    }
    story.do({ type: "resume" });
    expect(story.run).toMatchObject({ mainLosses: 0, inbox: {} });
  });

  it("with an error that ends the run is attempted again by a retry, a resume or the answer", () => {
    for (const way of ["retry", "resume", "answer"] as const) {
      const story = reach();
      const before = kept(story.run);
      story.do({
        type: "unpreparable",
        sessionId: story.run.main!.sessionId,
        code: "agent_not_startable",
        error: "not executable",
      });
      expect(story.run).toMatchObject({ status: "error", outcome: "failed" });
      const { id } = itemOf(story.run);
      if (way === "answer") story.do({ type: "answer", itemId: id, answer: { option: 0 } });
      else story.do(way === "retry" ? { type: "retry", taskId: null } : { type: "resume" });
      expect(story.run).toMatchObject({ outcome: null, inbox: {} });
      expect(kept(story.run)).toEqual(before);
      begin(story);
      story.answerMain(answer);
      expect(story.run.status).toBe(next);
    }
  });

  it("without a usable answer is attempted again by an option of the item that asks for data", () => {
    const story = reach();
    for (let i = 0; i < 3; i++) story.answerMain(null, { problems: ["no block"] });
    expect(itemOf(story.run)).toMatchObject({ kind: "data", options: ["try it again", "leave it"] });
    story.do({ type: "answer", itemId: itemOf(story.run).id, answer: { option: 0 } });
    begin(story);
    story.answerMain(answer);
    expect(story.run).toMatchObject({ status: next });
  });
});

describe("A main session", () => {
  it("whose workspace cannot be made gets another attempt", () => {
    const story = started();
    story.do({ type: "unpreparable", sessionId: story.run.main!.sessionId, code: "git_failed", error: "locked" });
    expect(schedule(story.run, { freeSlots: 1 }, story.now).spawnMain).toBe(true);
  });

  it("that is lost while it has nothing to do is not counted", () => {
    const story = new Story(template).plan([{ id: "a" }]);
    for (let i = 0; i < 4; i++) lose(story);
    expect(story.run).toMatchObject({ status: "confirming", mainLosses: 0 });
  });

  it("that reports a failed aggregation or verification can try again, with the decisions of the user", () => {
    const story = worked();
    const conflicts = [{ type: "file_conflict", description: "Which one?", options: ["a", "b"] }];
    story.answerMain({ phase: "aggregation", data: { status: "needs_input", conflicts } });
    story.do({ type: "decide", decisions: [{ index: 0, option: 1 }] });
    story.answerMain({ phase: "aggregation", data: { status: "failed", error: "they contradict" } });
    expect(story.run.status).toBe("error");
    story.do({ type: "retry", taskId: null });
    expect(story.run).toMatchObject({
      status: "aggregating",
      decisions: [{ answer: "b" }],
      owed: { note: expect.stringContaining("Which one?") },
    });
  });
});

describe("A retry without a task", () => {
  it("is rejected unless a phase of the main session failed", () => {
    const story = new Story(template).execute([{ id: "a" }]);
    expect(() => story.do({ type: "retry", taskId: null })).toThrow(/No phase of its main session failed/);
    story.do({ type: "pause" });
    expect(() => story.do({ type: "retry", taskId: null })).toThrow(/it is paused/);
    const done = new Story(template);
    done.do({ type: "cancel" });
    expect(() => done.do({ type: "retry", taskId: null })).toThrow(/it is cancelled/);
  });
});

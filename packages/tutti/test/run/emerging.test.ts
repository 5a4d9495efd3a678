import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "./make-run.ts";

const begin = (emergingConflicts: string): Story => {
  const story = new Story(makeTemplate({ config: { emergingConflicts } })).execute([{ id: "a" }, { id: "b" }]);
  story.spawn("b");
  story.now += 1000;
  story.spawn("a");
  return story;
};
const found = (story: Story, ...files: string[]) => story.do({ type: "emerging", tasks: ["a", "b"], files });
const typesSince = (story: Story, length: number): string[] => story.log.slice(length).map(({ type }) => type);

describe("a conflict between tasks at work", () => {
  it("is recorded once until its files change, with the task that started earlier first", () => {
    const story = begin("report");
    const { length } = story.log;
    found(story, "f.md");
    found(story, "f.md");
    expect(story.run.emerging).toEqual([{ tasks: ["b", "a"], files: ["f.md"] }]);
    found(story, "f.md", "g.md");
    expect(typesSince(story, length)).toEqual(["conflict:emerging", "conflict:emerging"]);
    expect(story.run.workers["a"]!.status).toBe("running");
    story.succeed("b");
    found(story);
    expect(story.run.emerging).toMatchObject([{ files: ["f.md", "g.md"] }]);
  });

  it("holds the later task, which continues when the conflict is gone, and again when the other task ends", () => {
    const story = begin("hold");
    found(story, "f.md");
    expect(story.run.workers["a"]).toMatchObject({ status: "paused", pausedBy: "conflict" });
    found(story);
    expect(story.run.workers["a"]).toMatchObject({ status: "running", pausedBy: null });
    found(story, "f.md");
    expect(story.run.workers["a"]!.status).toBe("paused");
    story.succeed("b");
    expect(story.run.workers["a"]!.status).toBe("running");
  });

  it("holds no task again that the user has resumed, and no task after a new attempt", () => {
    const story = begin("hold");
    found(story, "f.md");
    story.do({ type: "resumeWorker", sessionId: story.run.workers["a"]!.sessionId });
    found(story, "f.md", "g.md");
    expect(story.run.workers["a"]!.status).toBe("running");
    story.do({ type: "lost", sessionId: story.run.workers["a"]!.sessionId, reason: "gone", counted: true });
    story.spawn("a");
    expect(story.run.emerging).toEqual([]);
  });
});

it("a task that waits for those that it delegated holds no other task", () => {
  const delegate = (story: Story) => {
    const { sessionId } = story.run.workers["b"]!;
    story.append({ type: "task:delegating", data: { id: story.run.id, sessionId, taskId: "b" } });
  };
  const story = begin("hold");
  found(story, "f.md");
  expect(story.run.workers["a"]!.status).toBe("paused");
  delegate(story);
  story.do({ type: "tick" });
  expect(story.run.workers["a"]!.status).toBe("running");
  const other = begin("hold");
  delegate(other);
  found(other, "f.md");
  expect(other.run.workers["a"]!.status).toBe("running");
});

describe("names that one task changed and another one uses", () => {
  it("are of the latest comparison, also if that found none", () => {
    const story = begin("report");
    const { length } = story.log;
    const use = {
      name: "load",
      change: "removed" as const,
      task: "a",
      file: "a.ts",
      usedBy: "b",
      usedIn: "b.ts",
      line: 1,
    };
    const compare = (head: string, names: (typeof use)[]) => story.do({ type: "namesUsed", head, names });
    compare("1", []);
    compare("2", [use]);
    expect(story.run.usedNames).toEqual({ head: "2", names: [use] });
    compare("3", []);
    compare("4", []);
    expect(story.run.usedNames).toEqual({ head: "3", names: [] });
    expect(typesSince(story, length)).toEqual(["conflict:names", "conflict:names"]);
  });
});

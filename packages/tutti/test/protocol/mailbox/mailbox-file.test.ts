import { describe, expect, it } from "vitest";
import {
  readConfigFile,
  readMessageFile,
  readQueueFile,
  readStatusFile,
} from "../../../src/protocol/mailbox/mailbox-file.ts";
import { assignmentFile, clearedFile, reportFile } from "./examples.ts";

const receivedAt = "2026-02-03T04:05:06.000Z";
const strict = { profile: "strict", receivedAt } as const;
const lenient = { profile: "lenient", receivedAt } as const;

describe("a message file", () => {
  it("is a list of messages with the time of the last read (D1-004, D1-014)", () => {
    for (const file of [assignmentFile, reportFile, clearedFile]) {
      for (const options of [strict, lenient])
        expect(readMessageFile(file, options)).toEqual({ message: file, problems: [] });
    }
    expect(readMessageFile({ messages: [], lastRead: "yesterday" }, strict).message).toBeNull();
    expect(readMessageFile({ messages: {}, lastRead: null }, lenient).message).toBeNull();
    expect(readMessageFile({ messages: [] }, strict).message).toBeNull();
  });

  it("is readable if it is empty, lacks members, or contains bare messages", () => {
    const empty = { messages: [], lastRead: null };
    for (const value of [undefined, null, {}, [], { lastRead: null }]) {
      const { message, problems } = readMessageFile(value, lenient);
      expect(message).toEqual(empty);
      expect(problems).not.toEqual([]);
    }
    const message = { type: "task_assignment", taskId: "task-1" };
    for (const value of [message, [message]]) {
      expect(readMessageFile(value, lenient).message).toEqual({ messages: [message], lastRead: null });
    }
    readMessageFile(undefined, lenient).message?.messages.push(message);
    expect(readMessageFile(undefined, lenient).message).toEqual(empty);
  });
});

const at = "2025-12-11T08:00:00.000Z";
const task = {
  id: "task-001",
  type: "feature",
  priority: "high",
  title: "T",
  description: "D",
  status: "pending",
  createdAt: at,
};

describe("the queue", () => {
  const queue = { version: "1.0", tasks: [task], completed: [], current: null, lastUpdated: at };

  it("has tasks, completed tasks and the current task", () => {
    expect(readQueueFile(queue, strict)).toEqual({ message: queue, problems: [] });
    expect(readQueueFile({ ...queue, current: "task-001", completed: ["task-000"] }, strict).problems).toEqual([]);
    expect(readQueueFile({ ...queue, tasks: [{ ...task, status: "lost" }] }, strict).message).toBeNull();
  });

  it("preserves members of other programs, and warns about unknown values", () => {
    const foreign = { ...queue, tasks: [{ ...task, priority: "critical", mood: 1 }], rejected: [task] };
    const { message, problems } = readQueueFile(foreign, lenient);
    expect(message).toEqual(foreign);
    expect(problems).toMatchObject([{ path: "tasks[0].priority", code: "off_list", severity: "warning" }]);
  });

  it("is empty if the file is empty", () => {
    const empty = { version: "1.0", tasks: [], completed: [], current: null, lastUpdated: null };
    expect(readQueueFile(undefined, lenient).message).toEqual(empty);
    expect(readQueueFile({ tasks: "none" }, lenient).message).toBeNull();
  });
});

describe("the status", () => {
  const status = {
    orchestrator: { running: true, pid: 4711, startedAt: at },
    teamLead: { status: "reviewing", lastActivity: at },
    developer: { status: "implementing", currentTask: "task-001", lastActivity: at },
    lastCycle: { number: 3, completed: 2, failed: 0, remaining: 1 },
  };

  it("has the running programs and the activity of each agent", () => {
    expect(readStatusFile(status, strict)).toEqual({ message: status, problems: [] });
    expect(readStatusFile({ ...status, lastCycle: null }, strict).problems).toEqual([]);
    expect(
      readStatusFile({ ...status, teamLead: { status: "sleeping", lastActivity: null } }, strict).message,
    ).toBeNull();
  });

  it("may have zero bytes, and unknown agents", () => {
    expect(readStatusFile(null, lenient).message).toEqual({
      orchestrator: { running: false, pid: null, startedAt: null },
      lastCycle: null,
    });
    const foreign = { ...status, reviewer: { status: "x" }, teamLead: { status: "sleeping" } };
    const { message, problems } = readStatusFile(foreign, lenient);
    expect(message).toEqual(foreign);
    expect(problems.map(({ path, severity }) => [path, severity])).toEqual([
      ["teamLead.status", "warning"],
      ["teamLead.lastActivity", "warning"],
    ]);
  });
});

describe("the configuration", () => {
  const config = {
    project: { name: "shop", path: "/srv/shop" },
    scope: "all",
    goals: ["Ship"],
    platform: "web",
    maxTasks: 10,
    continuous: false,
    initialized: true,
  };

  it("describes the project and its goals", () => {
    expect(readConfigFile(config, strict)).toEqual({ message: config, problems: [] });
    expect(readConfigFile({ ...config, maxTasks: "10" }, lenient).message).toBeNull();
    const { message, problems } = readConfigFile({ goals: ["Ship"], theme: "dark" }, lenient);
    expect(message).toEqual({ goals: ["Ship"], theme: "dark" });
    expect(problems.every(({ code, severity }) => code === "missing" && severity === "warning")).toBe(true);
  });
});

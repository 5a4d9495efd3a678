// Checks the files of a mailbox against the published schemas.
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DRAFTS, PUBLISHED_SCHEMAS } from "../../src/protocol/published-schemas.ts";
import { damage, damages } from "../protocol/canonical/message-damage.ts";
import { fits } from "../protocol/canonical/published-validators.ts";
import { assignment, MailboxLab, report } from "./mailbox-lab.ts";

const at = "2026-03-01T10:00:00.000Z";
const task = (id: string) => ({
  id,
  priority: "high",
  title: "Add a search field",
  description: "To the list of books.",
  status: "pending",
  createdAt: at,
  acceptanceCriteria: ["It finds books"],
});

let lab: MailboxLab;
beforeEach(() => {
  lab = new MailboxLab();
});
afterEach(() => lab.tearDown());

/** Checks that a mailbox file matches its strict schema in both drafts. */
function expectStrict(name: string, file: string): void {
  for (const draft of DRAFTS) expect(fits(name, "strict", draft, lab.json(file)), `${file} ${draft}`).toBe(true);
}

describe("the files of a mailbox match the published schemas", () => {
  it("after init", async () => {
    await lab.mailbox().init();
    expectStrict("mailbox/message-file", "tasks/messages/to-developer.json");
    expectStrict("mailbox/message-file", "tasks/messages/to-team-lead.json");
    expectStrict("mailbox/queue-file", "tasks/queue.json");
    expectStrict("mailbox/status-file", "tasks/status.json");
    expectStrict("mailbox/config-file", "config.json");
  });

  it("after messages are sent, read and cleared, and so does each message", async () => {
    const mailbox = lab.mailbox();
    await mailbox.send("developer", assignment("task-001", { apiEndpoints: ["GET /books"] }));
    await mailbox.send("team-lead", report("task-001"));
    for (const [box, name] of [
      ["developer", "mailbox/task-assignment"],
      ["team-lead", "mailbox/completion-report"],
    ] as const) {
      const file = `tasks/messages/to-${box}.json`;
      expectStrict("mailbox/message-file", file);
      const [message] = lab.json(file)["messages"] as unknown[];
      for (const draft of DRAFTS) expect(fits(name, "strict", draft, message)).toBe(true);
      await mailbox.read(box);
      expectStrict("mailbox/message-file", file);
      await mailbox.clear(box);
      expectStrict("mailbox/message-file", file);
    }
  });

  it("after the queue, the status and the configuration change", async () => {
    const mailbox = lab.mailbox();
    await mailbox.init();
    await mailbox.queue.update(() => ({ tasks: [task("task-001")], completed: ["task-000"], current: "task-001" }));
    await mailbox.status.update(() => ({ developer: { status: "implementing", currentTask: "t", lastActivity: at } }));
    await mailbox.config.update(() => ({ goals: ["Find books"], platform: "web" }));
    expectStrict("mailbox/queue-file", "tasks/queue.json");
    expectStrict("mailbox/status-file", "tasks/status.json");
    expectStrict("mailbox/config-file", "config.json");
  });
});

const FILES: Record<string, Record<string, unknown>> = {
  "mailbox/message-file": { messages: [assignment("task-001")], lastRead: at },
  "mailbox/queue-file": {
    version: "1.0",
    tasks: [task("task-001"), { ...task("task-002"), updatedAt: at, rejectionReason: "Too slow" }],
    completed: [task("task-000"), "task-x"],
    current: "task-001",
    lastUpdated: at,
  },
  "mailbox/status-file": {
    orchestrator: { running: true, pid: 4711, startedAt: at },
    teamLead: { status: "reviewing", lastActivity: at },
    developer: { status: "implementing", currentTask: null, lastActivity: null },
    lastCycle: { number: 3, completed: 2, failed: 0, remaining: 1 },
  },
  "mailbox/config-file": {
    project: { name: "books", path: "/books" },
    scope: "all",
    goals: ["Find books"],
    platform: "web",
    maxTasks: 10,
    continuous: false,
    initialized: at,
    figma: { url: "x" },
  },
};

it.each(Object.keys(FILES))(
  "both drafts agree with the schema of the reader on any valid or damaged file like %s",
  (name) => {
    const verdicts = new Set<string>();
    fc.assert(
      fc.property(damages, (harm) => {
        const damaged = harm.reduce(damage, structuredClone(FILES[name]!));
        for (const profile of ["strict", "lenient"] as const) {
          const expected = PUBLISHED_SCHEMAS[name]![profile]!.safeParse(damaged).success;
          verdicts.add(`${profile} ${expected}`);
          for (const draft of DRAFTS) expect(fits(name, profile, draft, damaged), profile).toBe(expected);
        }
      }),
      { numRuns: 400 },
    );
    expect(verdicts.size).toBe(4);
  },
);

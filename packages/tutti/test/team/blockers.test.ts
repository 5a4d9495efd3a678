// The rules of blockers (document 003), without an engine: the user or the main session gets each of them.
import { describe, expect, it } from "vitest";
import { GateStory } from "./gate-story.ts";
import { message, say } from "./team-scenario.ts";
import { eventLine } from "../../src/cli/terminal/describe.ts";

/** A run whose developer has escalated a blocker. */
function blocked(more: Record<string, unknown>): GateStory {
  const story = new GateStory();
  story.begin("developer");
  const body = { description: "How fast is fast?", suggested_resolution: "Below 100 ms", options: ["100 ms", "1 s"] };
  story.escalate("developer", say(message("BLOCKER_ESCALATION", "DEVELOPER", { ...body, ...more })));
  return story;
}

describe("a blocker", () => {
  it("and the answer of the lead are described in the log", () => {
    const story = blocked({ blocker_type: "technical_blocker", severity: "low" });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    const body = { message_type: "BLOCKER_RESOLUTION", task_id: "developer", decision: "Below 1 s." };
    story.answerMain(null, { messages: [{ type: "BLOCKER_RESOLUTION", body, exact: true, reasons: [], faults: [] }] });
    const lines = story.log.map((event) => eventLine(event, story.run));
    expect(lines).toContain("developer is blocked and asks its lead: How fast is fast?");
    expect(lines).toContain("developer got an answer from ORCHESTRATOR: Below 1 s.");
  });

  it.each([
    { blocker_type: "clarification_needed", severity: "medium" },
    { blocker_type: "dependency_missing", severity: "high" },
    { blocker_type: "technical_blocker", severity: "low" },
    { blocker_type: "scope_change", severity: "critical", escalate_to: "ORCHESTRATOR" },
  ])("goes to the main session with its options: %o (D3-004, D3-065, D3-108, D3-109)", (more) => {
    const { run } = blocked(more);
    expect(Object.values(run.inbox)).toEqual([]);
    expect(run.duty).toMatchObject({ taskId: "developer" });
    expect(run.workers["developer"]!.awaits).toMatchObject({
      kind: "resolution",
      body: { ...more, suggested_resolution: "Below 100 ms", options: ["100 ms", "1 s"] },
    });
  });

  it.each([
    { blocker_type: "scope_change", severity: "low" },
    { blocker_type: "technical_blocker", severity: "critical" },
    { blocker_type: "clarification_needed", severity: "low", escalate_to: "human" },
  ])("goes to the user with its options: %o (D3-004, D3-066, D3-110)", (more) => {
    const { run } = blocked(more);
    expect(run.duty ?? null).toBeNull();
    expect(Object.values(run.inbox)).toMatchObject([
      { kind: "blocker", taskId: "developer", question: "How fast is fast?", options: ["100 ms", "1 s"] },
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { leniently, receivedAt, strictly } from "./member-checks.ts";

const completion = { phase: "completion", data: { task_id: "task_001", status: "success" } };

describe("the object inside a block", () => {
  it("is read in the same form as messages of the other protocols", () => {
    expect(strictly("response", completion)).toEqual({ message: completion, problems: [] });
    expect(strictly("response", { phase: "completion", data: { task_id: "task_001", status: "done" } })).toMatchObject({
      message: null,
      problems: [
        { path: "data.status", code: "off_list", sentence: expect.stringMatching(/^"data\.status" must be one/) },
      ],
    });
    expect(strictly("response", { phase: "dance", data: {} }).problems).toMatchObject([{ path: "phase" }]);
    expect(strictly("response", { phase: "analysis", data: [] }).problems).toMatchObject([{ path: "data" }]);
  });

  it("gets the time of arrival as timestamp, with warnings about unusual members", () => {
    const { message, problems } = leniently("response", {
      phase: "progress",
      data: { task_id: "task_001", status: "working", current_action: null, mood: "good" },
    });
    expect(message).toEqual({
      phase: "progress",
      data: { task_id: "task_001", status: "in_progress", mood: "good", timestamp: receivedAt },
    });
    expect(problems.map(({ path, code, severity }) => [path, code, severity])).toEqual([
      ["data.timestamp", "stamped", "warning"],
      ["data.mood", "unknown_member", "warning"],
    ]);
  });
});

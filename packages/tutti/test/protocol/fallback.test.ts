import { describe, expect, it } from "vitest";
import { expectLinear } from "../lab/growth.ts";
import { detectFallback, FALLBACK_PATTERNS, NAMED_FALLBACK_PATTERNS } from "../../src/protocol/response/fallback.ts";
import { ResponseParser } from "../../src/protocol/response/response-parser.ts";

describe("`detectFallback`", () => {
  it.each([
    ["Analysis is complete.", "analysis"],
    ["The analysis  done", "analysis"],
    ["analysis finished", "analysis"],
    ["found 1 module", "analysis"],
    ["I found 12 components", "analysis"],
    ["identified 3 files", "analysis"],
    ["recommending 4 splits", "analysis"],
    ["It recommends 1 task", "analysis"],
    ["I recommend 5 tasks", "analysis"],
  ])("recognises an analysis: %s (D4-197)", (text, phase) => {
    expect(detectFallback(text)).toMatchObject({ detected: true, probablePhase: phase });
  });

  it.each([
    "The task list is ready",
    "task list is complete",
    "breakdown list created",
    "created 7 tasks",
    "create 1 task",
  ])("recognises a task list: %s (D4-198)", (text) => {
    expect(detectFallback(text)).toMatchObject({ detected: true, probablePhase: "task_list" });
  });

  it("recognises the other phases too (D4-199, D4-412)", () => {
    expect(Object.keys(FALLBACK_PATTERNS)).toEqual(["analysis", "task_list", "progress", "completion", "error"]);
    expect(ResponseParser.FALLBACK_PATTERNS).toEqual(FALLBACK_PATTERNS);
    expect(detectFallback("now processing, 40 % done")).toMatchObject({ probablePhase: "progress" });
    expect(detectFallback("The task has been successfully completed")).toMatchObject({ probablePhase: "completion" });
    expect(detectFallback("I failed to open it")).toMatchObject({ probablePhase: "error" });
  });

  it("publishes the four patterns of document 000 (D0-083..D0-086/X12)", () => {
    expect(ResponseParser.NAMED_FALLBACK_PATTERNS).toBe(NAMED_FALLBACK_PATTERNS);
    const { analysis_complete, tasks_ready, worker_done, worker_error } = ResponseParser.NAMED_FALLBACK_PATTERNS;
    for (const text of ["Exploration done", "ANALYSIS finished", "analysis complete"])
      expect(text).toMatch(analysis_complete);
    for (const text of ["Task list ready", "breakdown created", "task  list complete"])
      expect(text).toMatch(tasks_ready);
    for (const text of ["work done", "Task finished", "task complete"]) expect(text).toMatch(worker_done);
    for (const text of ["An Error", "it failed", "could not read"]) expect(text).toMatch(worker_error);
    expect("analysis pending").not.toMatch(analysis_complete);
    expect("tasks are ready").not.toMatch(tasks_ready);
    expect("working").not.toMatch(worker_done);
    expect("could now").not.toMatch(worker_error);
  });

  it("chooses the phase with the most matches, the first one on a tie (D4-200)", () => {
    expect(detectFallback("created 3 tasks. Found 3 files, recommend 2 splits.").probablePhase).toBe("analysis");
    expect(detectFallback("created 3 tasks, found 3 files").probablePhase).toBe("analysis");
    expect(detectFallback("Found 3 files. Created 3 tasks, the task list is ready.").probablePhase).toBe("task_list");
  });

  it("detects nothing in other text (D4-201)", () => {
    expect(detectFallback("Hello there")).toEqual({ detected: false, probablePhase: null, confidence: 0 });
  });

  it("computes the confidence from the share of matching patterns, at most 0.9 (D4-202)", () => {
    const patterns = FALLBACK_PATTERNS.analysis.length;
    expect(detectFallback("found 3 files").confidence).toBeCloseTo((1 / patterns) * 0.9 + 0.1);
    expect(detectFallback("analysis complete, found 3 files, recommend 2 splits").confidence).toBe(0.9);
  });

  it("is available on the parser for a text without a block (D4-203, D4-404)", () => {
    const parser = new ResponseParser();
    const text = "The analysis is complete.";
    expect(parser.parse(text).found).toBe(false);
    expect(parser.detectFallback(text)).toEqual(detectFallback(text));
    expect(Object.keys(parser.detectFallback(text))).toEqual(["detected", "probablePhase", "confidence"]);
    // One of the four patterns of an analysis matches.
    const confidence: unknown = expect.closeTo(0.325);
    expect(parser.detectFallback(text)).toEqual({ detected: true, probablePhase: "analysis", confidence });
    expect(parser.detectFallback("Hello")).toEqual({ detected: false, probablePhase: null, confidence: 0 });
  });

  it("takes at most linear time", () => {
    for (const word of ["analysis ", "found 1 ", "task ", "recommends ", "created 1", "1 ", " ", "could "])
      expectLinear((length) => detectFallback(word.repeat(length)), 300_000);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeAnswer } from "../../src/protocol/response/judge-answer.ts";
import { scanBlocks } from "../../src/protocol/response/response-scanner.ts";
import { loadTemplate } from "./built-in.ts";
import { substituteVariables } from "../../src/template/render.ts";

describe("the built-in templates", () => {
  it("inherit from _default, and the child wins", () => {
    const base = loadTemplate("_default");
    const documentation = loadTemplate("documentation");
    expect(base.phases.verification.enabled).toBe(false);
    expect(documentation).toMatchObject({
      id: "documentation",
      extends: "_default",
      phases: { verification: { enabled: true }, workerExecution: base.phases.workerExecution },
    });
    expect(documentation.prompts.worker.system).toBe(base.prompts.worker.system);
    expect(documentation.prompts.worker.user).not.toBe(base.prompts.worker.user);
  });

  it("reject an unknown id with the known ids", () => {
    expect(() => loadTemplate("none")).toThrow(
      expect.objectContaining({ code: "template_not_found", message: expect.stringContaining("documentation") }),
    );
  });

  it("show in every prompt a block that is not accepted as an answer when it is repeated", () => {
    const { prompts } = loadTemplate("_default");
    const delimiters = prompts.responseFormat;
    const variables = {
      DELIMITER_START: delimiters.delimiterStart,
      DELIMITER_END: delimiters.delimiterEnd,
      TASK_ID: "task_001",
    };
    const phases = {
      analysis: "analysis",
      taskPlanning: "task_list",
      worker: "completion",
      aggregation: "aggregation",
      verification: "verification",
    } as const;
    for (const [name, phase] of Object.entries(phases)) {
      const prompt = substituteVariables(prompts[name as keyof typeof phases]!.system, variables);
      const blocks = scanBlocks(prompt, delimiters);
      expect(blocks.length, name).toBeGreaterThan(0);
      expect(judgeAnswer({ blocks, prompt, delimiters, phase, taskId: "task_001" }).answer, name).toBeNull();
    }
  });
});

describe("placeholders", () => {
  it("are replaced in one pass: the value of a variable is not scanned again", () => {
    expect(substituteVariables("{A} {B_2} {unknown} {UNKNOWN} {} {1X}", { A: "{B_2}", B_2: "b" })).toBe(
      "{B_2} b {unknown} {UNKNOWN} {} {1X}",
    );
  });

  it("leave all other text unchanged, including JSON", () => {
    fc.assert(fc.property(fc.json(), (text) => substituteVariables(text, {}) === text));
    expect(substituteVariables("{__PROTO__}{CONSTRUCTOR}", {})).toBe("{__PROTO__}{CONSTRUCTOR}");
  });
});

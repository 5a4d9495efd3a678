import { describe, expect, it } from "vitest";
import { judgeReport } from "../../../src/protocol/delegation/judge-report.ts";
import { projectPath } from "../../../src/protocol/delegation/project-memory.ts";
import { having, leniently } from "../canonical/member-checks.ts";
import { apiSpecClarification, apiSpecSuccess, apiSpecTask } from "./examples.ts";

type Report = Parameters<typeof judgeReport>[0];

const judge = (changes: Partial<Report>) => judgeReport({ ...apiSpecSuccess, ...changes }, apiSpecTask);

describe("a report", () => {
  it("of the document's example is readable and closes its task", () => {
    const { message, problems } = leniently("delegation", apiSpecSuccess);
    expect(problems.map(({ code }) => code)).toEqual(["stamped"]);
    expect(message).toMatchObject({ outputArtifacts: [{ version: "0.1.0" }], issues_encountered: [] });
    expect(judgeReport(message as unknown as Report, apiSpecTask)).toEqual({ approved: true, reasons: [] });
  });

  it("closes no task if it is about another one, or has a result other than success", () => {
    expect(judge({ taskId: "API-SPEC-002" }).approved).toBe(false);
    for (const result of ["failure", "clarification_needed", "conflict_detected", "completed", "Success"]) {
      expect(judge({ result }).reasons).toEqual([`The result is "${result}".`]);
    }
    expect(judgeReport(apiSpecClarification, apiSpecTask).approved).toBe(false);
  });

  it("closes no task while a question or a conflict is open", () => {
    const issues = (type: string) => judge({ issues_encountered: [{ type, description: "Which flow?" }] });
    expect(issues("clarification_needed").reasons).toEqual(["An issue is open: Which flow?"]);
    expect(issues("conflict").approved).toBe(false);
    expect(issues("technical_issue").approved).toBe(true);
  });

  it("closes no task without every expected output, however its path is written", () => {
    const [artifact] = apiSpecSuccess.outputArtifacts;
    expect(judge({ outputArtifacts: [] }).reasons).toEqual([
      "An expected output is missing: .project-memory/lld/api_specifications/auth_api_spec.md",
    ]);
    expect(judge({ outputArtifacts: [{ ...artifact, path: "./.project-memory/hld/other.md" }] }).approved).toBe(false);
    expect(judge({ outputArtifacts: [{ ...artifact, path: `./${artifact!.path}` }] }).approved).toBe(true);
  });
});

describe("the project memory", () => {
  it("is part of the project, and a path outside the project has a warning", () => {
    for (const path of ["/etc/passwd", "../other/a.md", ".project-memory/../../a.md", "C:\\a.md", "\\\\host\\a.md"]) {
      expect(projectPath(path), path).toBeNull();
      for (const [message, place] of [
        [apiSpecTask, "inputs.0.path"],
        [apiSpecTask, "expectedOutputs.0.path"],
        [apiSpecSuccess, "outputArtifacts.0.path"],
      ] as const) {
        const reading = leniently("delegation", having(message, place, path));
        expect(reading.message).not.toBeNull();
        const problem = { path: place.replace(".0.", "[0]."), severity: "warning", code: "bad_format" };
        expect(reading.problems).toEqual(expect.arrayContaining([expect.objectContaining(problem)]));
      }
    }
    expect(projectPath("docs\\a\\..\\b.md")).toBe("docs/b.md");
  });
});

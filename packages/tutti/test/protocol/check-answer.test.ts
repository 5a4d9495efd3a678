import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checksFile, renderChecks } from "../../../../scripts/generate-checks.mjs";
import { ANSWER_CHECKS } from "../../src/protocol/response/answer-checks.generated.ts";
import { readBlock } from "../../src/protocol/response/block.ts";
import { answerIssues } from "../../src/protocol/response/check-answer.ts";
import { judgeAnswer } from "../../src/protocol/response/judge-answer.ts";
import { readAnswer } from "../../src/protocol/response/read-answer.ts";
import { DEFAULT_DELIMITERS } from "../../src/protocol/response/response-scanner.ts";
import { ENTRIES } from "../../src/protocol/response/phase-schemas.ts";
import { ANSWERS } from "../../src/schema/answer.ts";
import type { BlockPhase } from "../../src/schema/answer.ts";
import { ARBITRARY_MESSAGES } from "./canonical/arbitrary-message.ts";
import { having } from "./canonical/member-checks.ts";
import { damage, damages } from "./canonical/message-damage.ts";
import { fits } from "./canonical/published-validators.ts";
import * as examples from "./examples.ts";

const PHASES = Object.keys(ANSWERS) as BlockPhase[];
type Message = { phase: BlockPhase; data: Record<string, unknown> };

/** The results of the generated code, of its schema, and of an independent validator. */
function verdicts({ phase, data }: Message): boolean[] {
  const published = `response/${phase.replace("_", "-")}`;
  return [
    ANSWER_CHECKS[phase](data),
    ANSWERS[phase].safeParse(data).success,
    fits(published, "strict", "draft-07", { phase, data }),
  ];
}

describe("the generated checks", () => {
  it("match the output of the generator for the current schemas", async () => {
    expect(readFileSync(checksFile, "utf8")).toBe(await renderChecks());
    expect(Object.keys(ANSWER_CHECKS)).toEqual(PHASES);
  });

  it("agree with the schemas on any valid or damaged answer", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(ARBITRARY_MESSAGES.response, damages, (message, harm) => {
        const { phase, data } = message as unknown as Message;
        const damaged = { phase, data: harm.reduce(damage, structuredClone(data)) };
        const [generated, ...others] = verdicts(damaged);
        expect(others).toEqual([generated, generated]);
        seen.set(`${phase} ${generated}`, (seen.get(`${phase} ${generated}`) ?? 0) + 1);
      }),
      { numRuns: 1500 },
    );
    // Every phase was both accepted and rejected.
    expect(seen.size).toBe(2 * PHASES.length);
  });

  it("agree with the schemas on values of every type in every member, including members of list entries", () => {
    for (const phase of PHASES) {
      const { data } = SOUND[phase];
      for (const name of Object.keys(ANSWERS[phase].shape)) agree(phase, (value) => having(data, name, value));
      for (const value of [...VALUES, undefined]) {
        expect(ANSWER_CHECKS[phase](value)).toBe(ANSWERS[phase].safeParse(value).success);
      }
      const { list, members } = ENTRIES[phase] ?? {};
      if (list === undefined || !members) continue;
      for (const name of [...members.required, ...members.optional]) {
        agree(phase, (value) => having(data, `${list}.0.${name}`, value));
      }
    }
  });
});

const WORDS =
  "success partial failed timeout needs_input passed passed_with_warnings error warning info critical high medium normal low";
const NO_WORDS = [null, 0, 100, 100.5, -1, Number.POSITIVE_INFINITY, "", true, [], [""], [0], [[""]], [null], {}];
const VALUES = [...NO_WORDS, ...WORDS.split(" ")];

function agree(phase: BlockPhase, make: (value: unknown) => Record<string, unknown>): void {
  for (const value of [...VALUES, undefined]) {
    const data = make(value);
    const [generated, ...others] = verdicts({ phase, data });
    expect(others, `${phase} ${JSON.stringify(data)}`).toEqual([generated, generated]);
  }
}

describe("an answer", () => {
  it("has no issues if it is valid, and is not copied", () => {
    for (const { phase, data } of Object.values(SOUND)) expect(answerIssues(phase, data)).toEqual([]);
    const { block } = readBlock(JSON.stringify(examples.taskList));
    const { answer } = judgeAnswer({
      blocks: [block],
      prompt: "",
      delimiters: DEFAULT_DELIMITERS,
      phase: "task_list",
    });
    expect(answer?.data).toEqual(examples.taskList.data);
    if (!block.ok || answer?.phase !== "task_list") throw new Error("The example is a plan");
    // The schema would have created new objects.
    expect(answer.data.tasks[0]).toBe((block.data.tasks as unknown[])[0]);
  });

  it("has the issues of its schema if it is not valid", () => {
    fc.assert(
      fc.property(ARBITRARY_MESSAGES.response, damages, (message, harm) => {
        const { phase, data } = message as unknown as Message;
        const damaged = harm.reduce(damage, structuredClone(data));
        expect(answerIssues(phase, damaged)).toEqual(ANSWERS[phase].safeParse(damaged).error?.issues ?? []);
      }),
      { numRuns: 300 },
    );
  });

  it("of a user is copied, without members that could change a prototype", () => {
    const given: unknown = JSON.parse(
      '{"status":"success","summary":"Done","__proto__":{"polluted":1},"conflicts":[{"type":"a","__proto__":{}}]}',
    );
    const { data } = readAnswer("aggregation", given);
    expect(data).toEqual({ status: "success", summary: "Done", conflicts: [{ type: "a" }] });
    expect(JSON.stringify(data)).not.toContain("__proto__");
    (given as { summary: string }).summary = "Changed";
    expect(data).toMatchObject({ summary: "Done" });
  });
});

const SOUND: Record<BlockPhase, Message> = {
  analysis: examples.analysis as Message,
  task_list: examples.taskList as Message,
  progress: examples.progress as Message,
  completion: examples.success as Message,
  aggregation: examples.aggregation as Message,
  verification: { phase: "verification", data: { status: "passed", issues: [{ description: "d" }], auto_fixed: [] } },
  heartbeat: { phase: "heartbeat", data: { timestamp: "2026-01-01T00:00:00Z", alive: true } },
};

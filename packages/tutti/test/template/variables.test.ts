import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findPlaceholders, substituteVariables } from "../../src/template/render.ts";
import { BUILT_IN_VARIABLES, promptVariables } from "../../src/template/variables.ts";
import { TemplateLab, wholeTemplate } from "./template-lab.ts";

const put = (value: unknown): string => substituteVariables("[{A}]", { A: value });

describe("a placeholder", () => {
  it("is a name of capital letters, digits and _ in braces, and is replaced (D4-132, D4-145, D4-389)", () => {
    expect(substituteVariables("{A} {_B} {C_2}", { A: 1, _B: 2, C_2: 3 })).toBe("1 2 3");
    const untouched = "{a} {2A} {A-B} {A B} {} { A } {Ä} $A ${a}";
    expect(substituteVariables(untouched, { a: "x", A: "x", "2A": "x", "": "x" })).toBe(untouched);
    expect(findPlaceholders("{B} {A} {B} {c} {A_1}{_}")).toEqual(["B", "A", "A_1", "_"]);
  });

  it("without a value becomes empty (D4-146)", () => {
    expect([put(null), put(undefined), put("")]).toEqual(["[]", "[]", "[]"]);
  });

  it("with true or false becomes yes or no (D4-147)", () => {
    expect([put(true), put(false)]).toEqual(["[yes]", "[no]"]);
  });

  it("with a list becomes its entries separated by commas (D4-148)", () => {
    expect([put(["a", 1, "b, c"]), put([]), put(["one"])]).toEqual(["[a, 1, b, c]", "[]", "[one]"]);
  });

  it("with an object becomes JSON (D4-149)", () => {
    expect(put({ a: [1, { b: null }] })).toBe('[{"a":[1,{"b":null}]}]');
  });

  it("with any other value becomes its text (D4-150)", () => {
    expect([put(0), put(-1.5), put("text"), put(12n)]).toEqual(["[0]", "[-1.5]", "[text]", "[12]"]);
  });

  it("of an unknown name stays unchanged, so that JSON and code in a prompt survive (E36)", () => {
    expect(substituteVariables('{"A": {UNKNOWN}} {CONSTRUCTOR} {__PROTO__}', { A: 1 })).toBe(
      '{"A": {UNKNOWN}} {CONSTRUCTOR} {__PROTO__}',
    );
  });

  it("has a value that is not scanned again, whatever it contains", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const text = substituteVariables("<{A}|{B}|{A}>", { A: `${a}{B}$&$1`, B: `${b}{A}` });
        expect(text).toBe(`<${a}{B}$&$1|${b}{A}|${a}{B}$&$1>`);
      }),
    );
  });
});

describe("the variables of a prompt", () => {
  it("are the template's, then the user's, then the built-in ones, which cannot be overridden (E38)", () => {
    const variables = promptVariables(
      { A: "template", B: "template", CWD: "template" },
      { B: "person", C: "person", CWD: "person" },
      { CWD: "/here" },
    );
    expect(variables).toEqual({ A: "template", B: "person", C: "person", CWD: "/here", CUSTOM_INSTRUCTIONS: "" });
    expect(promptVariables({ CUSTOM_INSTRUCTIONS: "t" }, {}, {})).toEqual({ CUSTOM_INSTRUCTIONS: "t" });
    expect(promptVariables({ CUSTOM_INSTRUCTIONS: "t" }, { CUSTOM_INSTRUCTIONS: "p" }, {})).toEqual({
      CUSTOM_INSTRUCTIONS: "p",
    });
  });

  it("that a template defines have values of their own types in its prompts (D4-144)", () => {
    const lab = new TemplateLab();
    const variables = { OUTPUT_FORMAT: "markdown", LANGUAGE: "english", VERBOSITY: "detailed", INCLUDE_EXAMPLES: true };
    const raw = wholeTemplate("mine", { variables });
    (raw["prompts"] as Record<string, unknown>)["worker"] = {
      system: "{OUTPUT_FORMAT} {LANGUAGE} {VERBOSITY} {INCLUDE_EXAMPLES}",
    };
    lab.user("mine", raw);
    expect(lab.open().preview("mine").worker!.system).toBe("markdown english detailed yes");
  });

  it.each([
    "USER_REQUEST",
    "CWD",
    "TEMPLATE_NAME",
    "ORCHESTRATOR_ID",
    "ANALYSIS_SUMMARY",
    "RECOMMENDED_SPLITS",
    "KEY_FILES",
    "TASK_COUNT",
    "TASKS_JSON",
    "WORKER_OUTPUTS",
    "MERGED_OUTPUT",
    "ORIGINAL_REQUEST",
    "PROJECT_NAME",
  ])("include %s in every prompt of every template (E37)", (name) => {
    const lab = new TemplateLab();
    const prompt = { system: `[{${name}}] {DELIMITER_START}` };
    const prompts = { analysis: prompt, taskPlanning: prompt, worker: prompt, aggregation: prompt };
    lab.user("mine", { prompts });
    const library = lab.open();
    expect(library.resolve("mine").warnings).toEqual([]);
    for (const { system, unknown } of Object.values(library.preview("mine", { [name]: "a value" }))) {
      expect(system).toMatch(/^\[a value\]/);
      expect(unknown).toEqual([]);
    }
    expect(library.preview("mine").analysis!.system).not.toContain(`{${name}}`);
  });

  it("have a meaning of one sentence each", () => {
    for (const [name, { meaning }] of Object.entries(BUILT_IN_VARIABLES)) {
      expect(name).toMatch(/^[A-Z_][A-Z0-9_]*$/);
      expect(meaning).toMatch(/^[A-Z].+\.$/);
    }
  });
});

import { describe, expect, it } from "vitest";
import { TemplateLibrary } from "../../src/template/files/library.ts";
import { TemplateLab, wholeTemplate } from "./template-lab.ts";

type Raw = Record<string, unknown>;

const library = new TemplateLibrary();
const child = (members: Raw): Raw => ({ id: "x", name: "X", extends: "_default", ...members });
const errorsOf = (raw: unknown): string[] => library.validate(raw).errors;
const configOf = (config: Raw) => library.resolveRaw(child({ config })).template.config;

describe("a template", () => {
  it("may have each of the documented members and no other (D4-121, D4-534)", () => {
    const whole = wholeTemplate("x", {
      $schema: "template.draft-07.json",
      description: "What it does.",
      icon: "🎭",
      version: "1.2.3",
      author: "ada",
      tags: ["a"],
      extends: "_default",
      config: {},
      phases: {},
      variables: {},
      hooks: {},
      ui: {},
    });
    expect(errorsOf(whole)).toEqual([]);
    expect(errorsOf({ ...whole, extra: 1 })).toEqual(['A template has no member "extra".']);
    expect(errorsOf(child({ config: { maxWorker: 1 }, ui: { colour: "red" } }))).toEqual([
      '"config" has no member "maxWorker".',
      '"ui" has no member "colour".',
    ]);
  });

  it("needs an id and a name (D4-165, D4-533)", () => {
    expect(errorsOf({ extends: "_default" })).toEqual([
      '"id" is missing; it must be a string.',
      '"name" is missing; it must be a string.',
    ]);
    expect(errorsOf({ id: "x", extends: "_default" })).toHaveLength(1);
    expect(errorsOf(5)).toEqual(["A template must be a JSON object."]);
  });

  it("has an id of small letters, digits, _ and -, which is safe as a file name (D4-234)", () => {
    for (const id of ["a", "_mine", "my-doc_2", "0"]) expect(errorsOf(child({ id })), id).toEqual([]);
    for (const id of ["", "A", "a b", "../a", "a/b", "a.json", "ä", "a\n", "x".repeat(101), 5])
      expect(errorsOf(child({ id })).join(), String(id)).toContain('"id" must be');
  });

  it("has a non-empty name (D4-235)", () => {
    expect(errorsOf(child({ name: "" }))).toEqual(['"name" must be a non-empty string; it is "".']);
  });

  it("has a version of three numbers (D4-236)", () => {
    for (const version of ["0.0.0", "12.34.56"]) expect(errorsOf(child({ version }))).toEqual([]);
    for (const version of ["1", "1.2", "v1.2.3", "1.2.3-beta", 1]) expect(errorsOf(child({ version }))).toHaveLength(1);
  });

  it("has errors and warnings, and is valid without errors (D4-170, D4-388)", () => {
    expect(library.validate(child({}))).toEqual({ valid: true, errors: [], warnings: [] });
    expect(library.validate(child({ variables: { UNUSED: 1 } }))).toEqual({
      valid: true,
      errors: [],
      warnings: ['"variables.UNUSED" is not used in any prompt.'],
    });
    expect(library.validate(child({ config: 5 }))).toEqual({
      valid: false,
      errors: ['"config" must be an object; it is 5.'],
      warnings: [],
    });
  });

  it("has all its errors reported at once, each with its path, including a wrong parent (D4-166, D4-537)", () => {
    const errors = errorsOf(
      child({
        extends: "none",
        tags: [1],
        config: { maxWorkers: 0, workerTimeout: "5" },
        variables: { lower: 1, LIST: [] },
        hooks: { onError: 7, onWorkerStart: { run: "", extra: 1 } },
        ui: { color: "red" },
      }),
    );
    const paths = ["tags[0]", "config.maxWorkers", "config.workerTimeout", "variables.lower", "variables.LIST"];
    for (const path of [...paths, "hooks.onError", "hooks.onWorkerStart.run", "hooks.onWorkerStart", "ui.color"])
      expect(
        errors.filter((error) => error.startsWith(`"${path}" `)),
        path,
      ).toHaveLength(1);
    expect(errors.join()).toContain("x -> none");
    expect(errors).toHaveLength(10);
  });
});

describe("prompts", () => {
  it("are all required in a template that extends nothing, each with a system text (D4-168, D4-233, D4-241, D4-242, D4-533, D4-542)", () => {
    expect(errorsOf({ id: "x", name: "X" })).toEqual(['"prompts" is missing; it must be an object.']);
    for (const name of ["analysis", "taskPlanning", "worker", "aggregation"]) {
      const raw = wholeTemplate("x");
      delete (raw["prompts"] as Raw)[name];
      expect(errorsOf(raw)).toEqual([`"prompts.${name}" is missing; it must be an object.`]);
      (raw["prompts"] as Raw)[name] = { user: "u" };
      expect(errorsOf(raw)).toEqual([`"prompts.${name}.system" is missing; it must be a string.`]);
    }
    expect(errorsOf(child({ prompts: { worker: { system: "" } } }))).toHaveLength(1);
    expect(errorsOf(child({ prompts: { worker: { user: 5 } } }))).toHaveLength(1);
  });

  it("may be omitted, as a whole or in part, if the template extends another (D4-171, D4-245, D4-535)", () => {
    expect(errorsOf(child({}))).toEqual([]);
    expect(errorsOf(child({ prompts: {} }))).toEqual([]);
    expect(errorsOf(child({ prompts: { worker: { user: "only the user's text" } } }))).toEqual([]);
    const { prompts } = library.resolveRaw(child({ prompts: { worker: { user: "mine" } } })).template;
    expect(prompts.worker).toMatchObject({
      system: library.resolve("_default").template.prompts.worker.system,
      user: "mine",
    });
  });

  it("must be complete after inheritance, whichever template provides them (E39)", () => {
    const lab = new TemplateLab();
    lab.user("bare", { config: { maxWorkers: 2 } });
    expect(lab.open().validate({ id: "x", name: "X", extends: "bare" }).errors).toEqual([
      '"prompts" is missing; it must be an object.',
    ]);
    expect(errorsOf(wholeTemplate("x", { phases: { verification: { enabled: true } } }))).toEqual([
      '"prompts.verification" is not valid: the verification phase is enabled but has no prompt.',
    ]);
  });

  it("may list the required fields of the answer, with the name of the phase and no other (D4-399, D4-542)", () => {
    const format = (name: string, members: Raw) => errorsOf(child({ prompts: { [name]: { format: members } } }));
    const answers = {
      analysis: "analysis",
      taskPlanning: "task_list",
      worker: "completion",
      aggregation: "aggregation",
      verification: "verification",
    };
    for (const [name, phase] of Object.entries(answers)) {
      expect(format(name, { phase, requiredFields: ["notes"], optionalFields: [] })).toEqual([]);
      expect(format(name, { phase: "other" }).join()).toContain(`"prompts.${name}.format.phase" must be "${phase}"`);
    }
    expect(
      format("taskPlanning", { taskSchema: { required: ["id"], optional: ["scope"] }, requiredFields: ["tasks"] }),
    ).toEqual([]);
    expect(format("worker", { progressPhase: "progress", completionPhase: "completion" })).toEqual([]);
    expect(format("worker", { requiredFields: "notes" })).toHaveLength(1);
  });

  it("can be answered in JSON only, and between two different delimiters (D4-394, E42)", () => {
    const responseFormat = (members: Raw) => errorsOf(child({ prompts: { responseFormat: members } }));
    expect(responseFormat({ type: "json", delimiterStart: "<<A>>", delimiterEnd: "<<B>>" })).toEqual([]);
    for (const type of ["yaml", "text"])
      expect(responseFormat({ type })).toEqual([
        `"prompts.responseFormat.type" must be "json"; it is "${type}". Tutti only reads answers in JSON.`,
      ]);
    expect(responseFormat({ delimiterStart: "===", delimiterEnd: "===" }).join()).toContain("two different delimiters");
  });
});

describe("settings", () => {
  it("are inherited if a template omits them, as whole sections or single members (D4-172, D4-173, D4-536)", () => {
    const { template } = library.resolveRaw(child({ config: { maxRetries: 0 } }));
    const parent = library.resolve("_default").template;
    expect(template.config).toEqual({ ...parent.config, maxRetries: 0 });
    expect(template.phases).toEqual(parent.phases);
    expect(template.ui).toEqual(parent.ui);

    const lab = new TemplateLab();
    lab.user("plain", wholeTemplate("plain"));
    lab.user("special", wholeTemplate("special", { config: { maxWorkers: 9, pollInterval: 700 } }));
    const heirOf = (id: string, members: Raw = {}) =>
      lab.open().resolveRaw(child({ extends: id, ...members })).template;
    expect(heirOf("plain").config).toEqual(library.resolveRaw(wholeTemplate("x")).template.config);
    expect(heirOf("special").config).toMatchObject({ maxWorkers: 9, pollInterval: 700 });
    expect(heirOf("special", { config: { maxRetries: 0 } }).config).toMatchObject({
      maxWorkers: 9,
      pollInterval: 700,
      maxRetries: 0,
    });
  });

  it.each([
    ["maxWorkers", 1, 20, 5],
    ["workerTimeout", 10_000, 3_600_000, 300_000],
    ["maxRetries", 0, 5, 2],
    ["pollInterval", 500, 30_000, 2000],
  ] as const)(
    "%s is a whole number from %i to %i, and %i by default (D4-237, D4-238, D4-538, D4-539, D4-540, D4-541)",
    (name, min, max, standard) => {
      const whole = library.resolveRaw(wholeTemplate("x")).template;
      expect(whole.config[name]).toBe(standard);
      for (const value of [min, max]) expect(configOf({ [name]: value })[name]).toBe(value);
      for (const value of [min - 1, max + 1, min + 0.5, String(min), null])
        expect(errorsOf(child({ config: { [name]: value } })).join(), String(value)).toContain(
          `"config.${name}" must be`,
        );
    },
  );

  it("parallelExecution is true unless a template changes it (D4-239)", () => {
    expect(configOf({}).parallelExecution).toBe(true);
    expect(configOf({ parallelExecution: false }).parallelExecution).toBe(false);
    expect(errorsOf(child({ config: { parallelExecution: "no" } }))).toHaveLength(1);
  });

  it("of a run's configuration are all optional (D4-392)", () => {
    const config = {
      maxWorkers: 2,
      workerTimeout: 20_000,
      autoSpawn: true,
      parallelExecution: false,
      retryOnError: false,
      maxRetries: 1,
      sessionPrefix: "mine_",
      pollInterval: 1000,
      hideWorkersFromList: false,
    };
    expect(configOf(config)).toMatchObject(config);
    for (const name of Object.keys(config))
      expect(errorsOf(child({ config: { ...config, [name]: undefined } }))).toEqual([]);
  });

  it("warmSessions is false, and cannot be true with files or messages that a waiting agent would lack", () => {
    expect(configOf({}).warmSessions).toBe(false);
    const warm = (members: Raw): string[] => errorsOf(child({ config: { warmSessions: true }, ...members }));
    expect(warm({ workspace: { copy: [], sparse: false } })).toEqual([]);
    expect(warm({ workspace: { copy: [".env"] } })).toEqual([
      '"config.warmSessions" is not valid: must be false in a template with workspace.copy.',
    ]);
    expect(warm({ workspace: { sparse: true } })[0]).toContain("workspace.sparse");
  });

  it("of a phase enable it and set its timeout and tools, for each of the five (D4-240, D4-393, E41)", () => {
    for (const name of ["analysis", "taskPlanning", "workerExecution", "aggregation", "verification"]) {
      const phase = { enabled: true, timeout: 10_000, tools: { required: ["Read"], subagentType: "Explore" } };
      expect(errorsOf(child({ phases: { [name]: phase } })), name).toEqual([]);
      expect(errorsOf(child({ phases: { [name]: { timeout: 9999 } } })), name).toHaveLength(1);
      expect(errorsOf(child({ phases: { [name]: { tools: { required: "Read" } } } })), name).toHaveLength(1);
      // Agents have types of their own.
      expect(errorsOf(child({ phases: { [name]: { tools: { subagentType: "general-purpose" } } } }))).toEqual([]);
    }
    expect(library.resolveRaw(wholeTemplate("x")).template.phases.analysis.enabled).toBe(true);
    expect(errorsOf(child({ phases: { deployment: {} } }))).toEqual(['"phases" has no member "deployment".']);
  });

  it("of variables are texts, numbers and booleans (D4-396)", () => {
    expect(errorsOf(child({ variables: { A: "a", B_2: 1.5, _C: false } }))).toEqual([]);
    for (const value of [null, [], {}]) expect(errorsOf(child({ variables: { A: value } }))).toHaveLength(1);
    for (const name of ["a", "A-B", "2A", ""]) expect(errorsOf(child({ variables: { [name]: "x" } }))).toHaveLength(1);
  });

  it("of hooks are a name, an object or null, for each of the six moments (D4-397)", () => {
    const names = [
      "onAnalysisComplete",
      "onTasksGenerated",
      "onWorkerStart",
      "onWorkerComplete",
      "onAllWorkersComplete",
      "onError",
    ];
    for (const name of names) {
      for (const hook of ["mine", null, { run: "command:./x", timeout: 500, onFailure: "pause" }])
        expect(errorsOf(child({ hooks: { [name]: hook } }))).toEqual([]);
      for (const hook of ["", 5, [], { run: "x", timeout: 1 }])
        expect(errorsOf(child({ hooks: { [name]: hook } }))).toHaveLength(1);
    }
    expect(errorsOf(child({ hooks: { onLunch: "x" } }))).toHaveLength(1);
    expect(errorsOf(child({ hooks: { onError: { run: 5 } } }))).toEqual([
      '"hooks.onError.run" must be a string; it is 5.',
    ]);
    expect(errorsOf(child({ hooks: { onError: { timeout: 500 } } }))).toEqual([
      '"hooks.onError.run" is missing; it must be a string.',
    ]);
  });

  it("of the ui are a colour, an icon, and display options", () => {
    const ui = {
      color: "#12abEF",
      icon: "book",
      showWorkerDetails: false,
      showTokenEstimate: false,
      showProgressBar: false,
      progressStyle: "compact",
      workerColumns: ["status", "files"],
    };
    expect(library.resolveRaw(child({ ui })).template.ui).toEqual(ui);
    for (const progressStyle of ["minimal", "detailed", "compact", "simple"])
      expect(errorsOf(child({ ui: { progressStyle } }))).toEqual([]);
    for (const wrong of [{ color: "blue" }, { progressStyle: "loud" }, { workerColumns: ["mood"] }, { icon: 5 }])
      expect(errorsOf(child({ ui: wrong }))).toHaveLength(1);
  });
});

describe("a warning", () => {
  const warningsOf = (members: Raw): string => library.validate(child(members)).warnings.join("\n");

  it("reports variables that are unknown, only defined for workers, or without effect", () => {
    const worker = { system: "{DELIMITER_START} {TASK_ID} {MOOD} {MINE}" };
    const analysis = { system: "{DELIMITER_START} {TASK_ID}" };
    const warnings = warningsOf({ prompts: { worker, analysis }, variables: { MINE: 1, CWD: "x", IDLE: 2 } });
    expect(warnings).toContain('"prompts.worker" uses {MOOD}');
    expect(warnings).toContain('"prompts.analysis" uses {TASK_ID}, which only the worker prompt defines');
    expect(warnings).toContain('"variables.CWD" has no effect');
    expect(warnings).toContain('"variables.IDLE" is not used in any prompt');
    expect(warnings.split("\n")).toHaveLength(4);
  });

  it("reports a prompt that does not show how to answer", () => {
    expect(warningsOf({ prompts: { worker: { system: "Work.", user: "Now." } } })).toContain(
      '"prompts.worker" does not show the delimiters',
    );
    const shown = {
      responseFormat: { delimiterStart: "<<A>>", delimiterEnd: "<<B>>" },
      worker: { system: "<<A>> {} <<B>>", user: "" },
    };
    expect(warningsOf({ prompts: shown })).toBe("");
  });

  it.each([
    [{ config: { idleTimeout: 400_000 } }, /idleTimeout.*no effect/],
    [{ phases: { workerExecution: { timeout: 20_000 } } }, /less time/],
    [{ phases: { taskPlanning: { validation: { minTasks: 9, maxTasks: 3 } } } }, /minTasks/],
    [{ config: { autoRetry: true, maxRetries: 0 } }, /autoRetry.*no effect/],
    [{ config: { autoRetry: true, retryOnError: false } }, /autoRetry.*no effect/],
    [{ phases: { workerExecution: { progressInterval: 400_000 } } }, /progressInterval/],
    [{ phases: { workerExecution: { enabled: false } } }, /no task is carried out/],
  ])("reports settings that contradict each other: %j", (members, sentence) => {
    expect(warningsOf(members)).toMatch(sentence);
  });
});

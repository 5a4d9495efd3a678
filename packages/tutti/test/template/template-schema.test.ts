import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TemplateLibrary } from "../../src/template/files/library.ts";
import {
  TEMPLATE_SCHEMA_FILE,
  templateJsonSchema,
  templateSchemaText,
} from "../../src/template/check/template-schema.ts";
import { wholeTemplate } from "./template-lab.ts";

type Raw = Record<string, unknown>;

const schema = templateJsonSchema();
const accepts = new Ajv({ strict: true, allowUnionTypes: true }).compile(schema);
const library = new TemplateLibrary();
const child = (members: Raw): Raw => ({ id: "x", name: "X", extends: "_default", ...members });

/** A value of any kind for many positions in a template. */
const value = fc.oneof(
  fc.constantFrom(null, true, false, 0, 1, 5, 20, 21, 500, 10_000, 30_000, 4_000_000, "", "x", "json", "yaml", "1.2.3"),
  fc.constantFrom("#123456", "minimal", "command:x", "progress", [], ["x"], ["status"], {}, { run: "x" }),
);
const PLACES = [
  "id",
  "name",
  "version",
  "tags",
  "extra",
  "config",
  "config.maxWorkers",
  "config.pollInterval",
  "config.budget.usd",
  "phases.analysis.timeout",
  "phases.taskPlanning.validation.minTasks",
  "phases.workerExecution.tools.required",
  "phases.aggregation.mergeStrategy",
  "prompts.worker",
  "prompts.worker.system",
  "prompts.worker.user",
  "prompts.worker.format.requiredFields",
  "prompts.responseFormat.type",
  "variables.A",
  "variables.lower",
  "hooks.onError",
  "hooks.onError.timeout",
  "hooks.onLunch",
  "ui.color",
  "ui.workerColumns",
];

function set(raw: Raw, path: string, to: unknown): void {
  const names = path.split(".");
  let owner = raw;
  for (const name of names.slice(0, -1)) {
    if (typeof owner[name] !== "object" || owner[name] === null || Array.isArray(owner[name])) owner[name] = {};
    owner = owner[name] as Raw;
  }
  owner[names.at(-1)!] = to;
}

describe("the published JSON Schema of a template", () => {
  it("is draft-07, and the stored file is up to date (D4-232)", () => {
    expect(schema["$schema"]).toBe("http://json-schema.org/draft-07/schema#");
    const stored = readFileSync(join(import.meta.dirname, "../../schemas", TEMPLATE_SCHEMA_FILE), "utf8");
    expect(stored).toBe(templateSchemaText());
  });

  it("accepts every built-in template (D4-164)", () => {
    for (const { id } of library.list()) expect(accepts(library.raw(id)), id).toBe(true);
  });

  it("requires id, name and prompts, and prompts only without extends (D4-233, D4-245, D4-535)", () => {
    expect(accepts(wholeTemplate("x"))).toBe(true);
    for (const name of ["id", "name", "prompts"]) {
      const raw = wholeTemplate("x");
      delete raw[name];
      expect(accepts(raw), name).toBe(false);
      expect(accepts({ ...raw, extends: "_default" }), name).toBe(name === "prompts");
    }
  });

  it("requires four prompts with a system text each, unless they can be inherited (D4-241, D4-242)", () => {
    for (const name of ["analysis", "taskPlanning", "worker", "aggregation"]) {
      const prompts = { ...(wholeTemplate("x")["prompts"] as Raw) };
      delete prompts[name];
      expect(accepts({ id: "x", name: "X", prompts }), name).toBe(false);
      prompts[name] = { user: "u" };
      expect(accepts({ id: "x", name: "X", prompts }), name).toBe(false);
      expect(accepts({ id: "x", name: "X", prompts, extends: "_default" }), name).toBe(true);
    }
    expect(accepts(child({ prompts: { worker: { system: "" } } }))).toBe(false);
  });

  it("contains the default of each setting (D4-237, D4-238, D4-239)", () => {
    expect(schema).toMatchObject({
      properties: {
        config: {
          properties: {
            maxWorkers: { type: "integer", minimum: 1, maximum: 20, default: 5 },
            workerTimeout: { type: "integer", minimum: 10_000, maximum: 3_600_000, default: 300_000 },
            parallelExecution: { type: "boolean", default: true },
          },
        },
      },
    });
  });

  it("agrees with the library on valid and invalid templates when read by Ajv (D4-164, D4-166)", () => {
    const change = fc.tuple(fc.constantFrom(...PLACES), value);
    const counts = { right: 0, wrong: 0 };
    fc.assert(
      fc.property(fc.boolean(), fc.array(change, { maxLength: 3 }), (extending, changes) => {
        const raw = extending ? child({}) : wholeTemplate("x");
        for (const [path, to] of changes) set(raw, path, structuredClone(to));
        const { valid, errors } = library.validate(raw);
        counts[valid ? "right" : "wrong"]++;
        // Errors that only appear after inheritance are outside the schema: a hook needs a parent's command.
        const inherited = extending && errors.every((error) => / is missing;/.test(error));
        if (!inherited) expect(accepts(raw), JSON.stringify([raw, errors])).toBe(valid);
      }),
      { numRuns: 1500 },
    );
    expect(Math.min(counts.right, counts.wrong)).toBeGreaterThan(100);
  });
});

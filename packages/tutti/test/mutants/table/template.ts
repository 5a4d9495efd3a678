import type { Mutant } from "../mutant.ts";

const TAKE_ANSWER = "tutti/src/run/answers/take-answer.ts";
const PROMPT = "tutti/src/engine/sessions/prompt.ts";
const RENDER = "tutti/src/template/render.ts";
const SCHEMA = "tutti/src/schema/template.ts";
const JSON_SCHEMA = "tutti/src/template/check/template-schema.ts";
const CHECK_RAW = "tutti/src/template/check/check-raw.ts";
const VALIDATE = "tutti/src/template/check/validate-template.ts";
const CHAIN = "tutti/src/template/find-chain.ts";
const INHERIT = "tutti/src/template/inherit.ts";
const LIBRARY = "tutti/src/template/files/library.ts";
const EDIT = "tutti/src/template/edit-template.ts";
const PLACE = "tutti/src/template/files/place.ts";
const DEFAULT = "tutti/src/template/built-in/_default.json";

const PROMPTS: readonly Mutant[] = [
  {
    rows: ["D0-087"],
    file: PROMPT,
    find: "const LEAST_PROGRESS_SECONDS = 10;",
    replace: "const LEAST_PROGRESS_SECONDS = 1;",
  },
  {
    rows: ["D4-039"],
    file: PROMPT,
    find: "TASK_DESCRIPTION: task.description,",
    replace: "TASK_DESCRIPTION: task.title,",
  },
  {
    rows: ["D4-079"],
    file: DEFAULT,
    find: String.raw`Scope: {TASK_SCOPE}\n\n`,
    replace: "",
  },
  { rows: ["D4-080"], file: PROMPT, find: "TASK_SCOPE: JSON.stringify(task.scope),", replace: "" },
  {
    rows: ["D4-055"],
    file: PROMPT,
    find: "if (!worker) return [];",
    replace: 'if (worker?.status !== "completed") return [];',
  },
  {
    rows: ["D4-056", "D4-142"],
    file: PROMPT,
    find: "JSON.stringify(collectOutputs(run), null, 2)",
    replace: "JSON.stringify(collectOutputs(run).slice(0, 1), null, 2)",
  },
  {
    rows: ["D4-297"],
    file: PROMPT,
    find: "ORIGINAL_REQUEST: run.userRequest,",
    replace: "",
  },
  {
    rows: ["D4-057", "D4-058"],
    file: TAKE_ANSWER,
    find: "data: { id: run.id, aggregation: answer, head, ...warned, ...doubted }",
    replace: "data: { id: run.id, aggregation: { ...answer, conflicts: [] }, head }",
  },
  {
    rows: ["D4-057"],
    file: DEFAULT,
    find: ", texts that contradict each other",
    replace: "",
  },
  {
    rows: ["D4-069", "D4-143"],
    file: PROMPT,
    find: `run.aggregation?.merged_output ?? run.aggregation?.summary ?? ""`,
    replace: `run.aggregation?.summary ?? ""`,
  },
  {
    rows: ["D4-070"],
    file: DEFAULT,
    find: "against the style and the conventions of the repository, ",
    replace: "",
  },
  {
    rows: ["D4-071"],
    file: TAKE_ANSWER,
    find: "data: { id: run.id, verification: answer, head }",
    replace: "data: { id: run.id, verification: { ...answer, issues: [] }, head }",
  },
  {
    rows: ["D4-072"],
    file: "tutti/src/run/apply.ts",
    find: "verification: event.data.verification, head: event.data.head,",
    replace: "verification: event.data.verification, head: run.head,",
  },
  {
    rows: ["D4-298"],
    file: DEFAULT,
    find: "Go through the reports and look at the files themselves. ",
    replace: "",
  },
  { rows: ["D4-299"], file: DEFAULT, find: "two things with the same name, ", replace: "" },
  { rows: ["D4-300"], file: DEFAULT, find: "the same thing implemented twice, ", replace: "" },
  { rows: ["D4-301"], file: DEFAULT, find: " Make one consistent result of it.", replace: "" },
  {
    rows: ["D4-302"],
    file: DEFAULT,
    find: "needs_input: a decision remains that only the user can make.",
    replace: "needs_input: something remains open.",
  },
  {
    rows: ["D4-309"],
    file: PROMPT,
    find: "STRATEGIES[phases.aggregation.conflictResolution]",
    replace: "STRATEGIES.smart",
  },
  {
    rows: ["D4-316"],
    file: PROMPT,
    find: `smart: "If two results conflict, resolve the conflict in the way that serves the request best.",`,
    replace: `smart: "If two results conflict, list both.",`,
  },
];

const VARIABLES: readonly Mutant[] = [
  {
    rows: ["D4-132"],
    file: PROMPT,
    find: "map((part) => substituteVariables(part, known).trim())",
    replace: "map((part, at) => (at === 0 ? substituteVariables(part, known) : part).trim())",
  },
  {
    rows: ["D4-133"],
    file: PROMPT,
    find: "USER_REQUEST: run.userRequest,\n    ORIGINAL_REQUEST",
    replace: "USER_REQUEST: run.template.description,\n    ORIGINAL_REQUEST",
  },
  { rows: ["D4-134"], file: PROMPT, find: "CWD: cwd,", replace: "CWD: run.cwd," },
  {
    rows: ["D4-135"],
    file: PROMPT,
    find: "TEMPLATE_NAME: run.template.name,",
    replace: "TEMPLATE_NAME: run.template.id,",
  },
  { rows: ["D4-136"], file: PROMPT, find: "ORCHESTRATOR_ID: run.id,", replace: "ORCHESTRATOR_ID: run.templateId," },
  {
    rows: ["D4-137"],
    file: PROMPT,
    find: `ANALYSIS_SUMMARY: run.analysis?.summary ?? "",`,
    replace: `ANALYSIS_SUMMARY: run.analysis?.notes ?? "",`,
  },
  {
    rows: ["D4-138"],
    file: PROMPT,
    find: "RECOMMENDED_SPLITS: run.analysis?.recommendedSplits,",
    replace: "RECOMMENDED_SPLITS: run.template.config.maxWorkers,",
  },
  { rows: ["D4-139"], file: PROMPT, find: "run.analysis?.keyFiles ?? []", replace: "run.analysis?.components ?? []" },
  { rows: ["D4-140"], file: PROMPT, find: "TASK_COUNT: run.tasks.length,", replace: "TASK_COUNT: undefined," },
  {
    rows: ["D4-141"],
    file: PROMPT,
    find: "JSON.stringify(run.tasks)",
    replace: "JSON.stringify(run.tasks.map(({ id }) => id))",
  },
  {
    rows: ["D4-144"],
    file: PROMPT,
    find: "promptVariables(run.template.variables, run.customVariables, builtIn)",
    replace: "promptVariables({}, run.customVariables, builtIn)",
  },
  { rows: ["D4-145"], file: RENDER, find: "([A-Z_][A-Z0-9_]*)", replace: "([A-Z0-9_]+)" },
  { rows: ["D4-389"], file: RENDER, find: "([A-Z_][A-Z0-9_]*)", replace: "([A-Z_]+)" },
  {
    rows: ["D4-146"],
    file: RENDER,
    find: "if (value === null || value === undefined)",
    replace: "if (value === undefined)",
  },
  { rows: ["D4-147"], file: RENDER, find: `value ? "yes" : "no"`, replace: "String(value)" },
  { rows: ["D4-148"], file: RENDER, find: `value.join(", ")`, replace: `value.join(",")` },
  { rows: ["D4-149"], file: RENDER, find: "JSON.stringify(value)", replace: "Object.values(value).join()" },
  {
    rows: ["D4-150"],
    file: RENDER,
    find: "return `${value as string | number | bigint}`;",
    replace: "return value ? `${value as string | number | bigint}` : '';",
  },
];

const INHERITANCE: readonly Mutant[] = [
  {
    rows: ["D4-122"],
    file: CHAIN,
    find: "extendsItself ? child.shelf.outer : child.shelf",
    replace: "child.shelf.outer",
  },
  {
    rows: ["D4-123"],
    file: "tutti/src/template/built-in/subsession-doc.json",
    find: `"extends": "_default"`,
    replace: `"extends": "documentation"`,
  },
  { rows: ["D4-124"], file: INHERIT, find: "chain.toReversed()", replace: "chain" },
  {
    rows: ["D4-125"],
    file: CHAIN,
    find: `if (typeof parentId !== "string")`,
    replace: `if (typeof parentId !== "string" || links.length > 1)`,
  },
  {
    rows: ["D4-126", "D4-173"],
    file: INHERIT,
    find: "putOver(members.get(name), value, from)",
    replace: "putOver(undefined, value, from)",
  },
  {
    rows: ["D4-127", "D4-130", "D4-456"],
    file: INHERIT,
    find: "return { from, leaf: child };",
    replace: "return parent ?? { from, leaf: child };",
  },
  {
    rows: ["D4-128"],
    file: INHERIT,
    find: "return { from, leaf: child };",
    replace: `return { from, leaf: Array.isArray(child) && parent && "leaf" in parent ? [parent.leaf, child].flat() : child };`,
  },
  {
    rows: ["D4-129"],
    file: PLACE,
    find: "if (!changed && outerRevision === this.#outerRevision) return;",
    replace: "",
  },
  {
    rows: ["D4-131"],
    file: CHAIN,
    find: `links.map((link) => link.id), parentId].join(" -> ")`,
    replace: `links.map((link) => link.id)].join(" -> ")`,
  },
  {
    rows: ["D4-169"],
    file: CHAIN,
    find: `if (found === "circular" || (!found && extendsItself)) return`,
    replace: `if (!found && extendsItself) return { links };\n    if (found === "circular") return`,
  },
  {
    rows: ["D4-154", "D4-167"],
    file: CHAIN,
    find: "if (!found) return { error:",
    replace: "if (!found) return { links };\n    if (!found) return { error:",
  },
  {
    rows: ["D4-158", "D4-589"],
    file: PLACE,
    find: "if (!changed && outerRevision === this.#outerRevision) return;",
    replace: "if (!changed) return;",
  },
  {
    rows: ["D4-589"],
    file: "tutti/src/template/files/folder.ts",
    find: "if (previous && previous.stamp === stat.stamp && !previous.young) return false;",
    replace: "if (previous) return false;",
  },
];

const EDITING: readonly Mutant[] = [
  {
    rows: ["D4-151"],
    file: EDIT,
    find: `place.name === "project" && existing.place !== place`,
    replace: "existing.place !== place",
  },
  {
    rows: ["D4-152"],
    file: EDIT,
    find: `existing.place !== place && value["extends"] === id`,
    replace: "existing.place !== place",
  },
  {
    rows: ["D4-153"],
    file: LIBRARY,
    find: "const raw = mustFit(complete, place);",
    replace: "const raw = isObject(complete) ? complete : mustFit(complete, place);",
  },
  {
    rows: ["D4-244"],
    file: "tutti/src/template/check/template-error.ts",
    find: "`Invalid template: ${",
    replace: "`invalid template: ${",
  },
  {
    rows: ["D4-155", "D4-159"],
    file: LIBRARY,
    find: `if (placed.place.name === "system") throw templateProtected(id);`,
    replace: "if (placed.place.outer === null) throw templateProtected(id);",
  },
  {
    rows: ["D4-156"],
    file: EDIT,
    find: `patch["id"] !== undefined && patch["id"] !== id`,
    replace: `patch["id"] !== undefined && typeof patch["id"] !== "string"`,
  },
  {
    rows: ["D4-157"],
    file: EDIT,
    find: "mustFit(merge(file.raw, patch), place)",
    replace: "merge(file.raw, patch)",
  },
  {
    rows: ["D4-160"],
    file: LIBRARY,
    find: "mustNotBeExtended(placed, this.#refreshedPlace(project));",
    replace: "mustNotBeExtended(placed, placed.place);",
  },
  {
    rows: ["D4-161"],
    file: LIBRARY,
    find: "removeFile(placed.file.path);",
    replace: "removeFile(join(placed.place.folder.path, `${id}.json`));",
  },
  {
    rows: ["D4-162"],
    file: PLACE,
    find: "if (!this.#shelved.has(id)) this.#lastGood.delete(id);",
    replace: "if (!this.#shelved.has(id)) continue;",
  },
  {
    rows: ["D4-163"],
    file: LIBRARY,
    find: "name: newName, extends: id };",
    replace: `name: newName, extends: this.raw(id, project)["extends"] };`,
  },
  {
    rows: ["D4-383", "D4-468"],
    file: LIBRARY,
    find: `isObject(value) && value["id"] === undefined &&`,
    replace: `isObject(value) && value["id"] === "" &&`,
  },
  {
    rows: ["D4-391"],
    file: "tutti/src/template/template-id.ts",
    find: "if (!isTaken(id)) return id;",
    replace: 'if (id !== "") return id;',
  },
  {
    rows: ["D4-382"],
    file: "tutti/src/template/summary.ts",
    find: `isInternal: id.startsWith("_"),`,
    replace: `isInternal: place.name === "system",`,
  },
  {
    rows: ["D4-243"],
    file: "tutti/src/template/summary.ts",
    find: "errors: [...errors],",
    replace: "errors: resolution ? [...errors] : [],",
  },
];

const VALIDATION: readonly Mutant[] = [
  {
    rows: ["D4-121"],
    file: SCHEMA,
    find: `author: z.string().default("system"),`,
    replace: `author: z.literal("system").default("system"),`,
  },
  { rows: ["D4-534"], file: SCHEMA, find: "icon: z.string().optional(),", replace: "" },
  { rows: ["D4-164"], file: JSON_SCHEMA, find: "else: mandatory(whole),", replace: "then: mandatory(whole)," },
  { rows: ["D4-232"], file: JSON_SCHEMA, find: "    $schema,\n    $id:", replace: "    $id:" },
  { rows: ["D4-233"], file: JSON_SCHEMA, find: `required: ["id", "name"],`, replace: `required: ["id"],` },
  {
    rows: ["D4-165", "D4-533"],
    file: CHECK_RAW,
    find: `["id", "name"].includes(issue`,
    replace: `["id"].includes(issue`,
  },
  { rows: ["D4-166"], file: CHECK_RAW, find: "...checkShape(value), ", replace: "" },
  { rows: ["D4-168"], file: SCHEMA, find: "worker: Prompt,", replace: "worker: Prompt.optional()," },
  { rows: ["D4-241"], file: SCHEMA, find: "aggregation: Prompt,", replace: "aggregation: Prompt.optional()," },
  { rows: ["D4-242"], file: SCHEMA, find: "system: z.string().min(1),", replace: "system: z.string()," },
  { rows: ["D4-542"], file: SCHEMA, find: "user: z.string().optional(),", replace: "user: z.string()," },
  {
    rows: ["D4-170", "D4-388"],
    file: VALIDATE,
    find: "errors: [], warnings: resolution.warnings }",
    replace: "errors: [], warnings: [] }",
  },
  {
    rows: ["D4-171", "D4-245", "D4-535"],
    file: CHECK_RAW,
    find: `["id", "name"].includes(issue`,
    replace: `["id", "name", "prompts"].includes(issue`,
  },
  { rows: ["D4-172"], file: SCHEMA, find: "config: TemplateConfig.prefault({}),", replace: "config: TemplateConfig," },
  { rows: ["D4-536"], file: SCHEMA, find: "MaxWorkers.default(5)", replace: "MaxWorkers" },
  { rows: ["D4-234"], file: SCHEMA, find: "/^[a-z0-9_-]+$/", replace: "/^[A-Za-z0-9_-]+$/" },
  { rows: ["D4-235"], file: SCHEMA, find: "name: z.string().min(1),", replace: "name: z.string()," },
  { rows: ["D4-236"], file: SCHEMA, find: String.raw`/^\d+\.\d+\.\d+$/`, replace: String.raw`/^\d+\.\d+\.\d+/` },
  { rows: ["D4-237"], file: SCHEMA, find: "MaxWorkers.default(5)", replace: "MaxWorkers.default(4)" },
  {
    rows: ["D4-538"],
    file: SCHEMA,
    find: "MaxWorkers = z.number().int().min(1).max(20)",
    replace: "MaxWorkers = z.number().int().min(1).max(50)",
  },
  {
    rows: ["D4-238", "D4-539"],
    file: SCHEMA,
    find: "workerTimeout: milliseconds(10_000, 3_600_000)",
    replace: "workerTimeout: milliseconds(1000, 3_600_000)",
  },
  {
    rows: ["D4-239"],
    file: SCHEMA,
    find: "parallelExecution: z.boolean().default(true)",
    replace: "parallelExecution: z.boolean().default(false)",
  },
  {
    rows: ["D4-540"],
    file: SCHEMA,
    find: ".min(0).max(5).default(DEFAULT_MAX_RETRIES)",
    replace: ".min(0).max(10).default(DEFAULT_MAX_RETRIES)",
  },
  {
    rows: ["D4-541"],
    file: SCHEMA,
    find: "pollInterval: milliseconds(500, 30_000)",
    replace: "pollInterval: milliseconds(100, 30_000)",
  },
  {
    rows: ["D4-240"],
    file: SCHEMA,
    find: ".min(10_000).default(timeout)",
    replace: ".min(1000).default(timeout)",
  },
  {
    rows: ["D4-240"],
    file: PROMPT,
    find: "if (tools?.subagentType !== undefined)",
    replace: `if (tools?.subagentType !== undefined && phase === "workerExecution")`,
  },
  { rows: ["D4-392"], file: SCHEMA, find: "hideWorkersFromList: z.boolean().default(true),", replace: "" },
  { rows: ["D4-393"], file: SCHEMA, find: "timeout: z.number().int().min(10_000).optional(),", replace: "" },
  {
    rows: ["D4-394"],
    file: SCHEMA,
    find: `z.literal("json", "only json can be read")`,
    replace: `z.enum(["json", "yaml", "text"])`,
  },
  {
    rows: ["D4-396"],
    file: SCHEMA,
    find: "z.union([z.string(), z.number(), z.boolean()])",
    replace: "z.union([z.string(), z.boolean()])",
  },
  { rows: ["D4-397"], file: "tutti/src/schema/hook.ts", find: `  "onAllWorkersComplete",\n`, replace: "" },
  { rows: ["D4-399"], file: SCHEMA, find: `progressPhase: z.literal("progress").optional(),`, replace: "" },
  {
    rows: ["D4-537"],
    file: VALIDATE,
    find: "failed([...checked.errors, ...chainErrors(plain, shelf)])",
    replace: "failed(checked.errors)",
  },
];

export const TEMPLATE_MUTANTS: readonly Mutant[] = [
  ...PROMPTS,
  ...VARIABLES,
  ...INHERITANCE,
  ...EDITING,
  ...VALIDATION,
];

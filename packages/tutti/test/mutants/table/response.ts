import type { Mutant } from "../mutant.ts";

const TAKE_ANSWER = "tutti/src/run/answers/take-answer.ts";
const WORKER_ANSWER = "tutti/src/run/answers/decide-worker-answer.ts";
const CHECKS = "tutti/src/protocol/response/answer-checks.generated.ts";
const SCHEMAS = "tutti/src/protocol/response/phase-schemas.ts";
const PARSER = "tutti/src/protocol/response/response-parser.ts";
const SCANNER = "tutti/src/protocol/response/response-scanner.ts";
const FALLBACK = "tutti/src/protocol/response/fallback.ts";
const JUDGE = "tutti/src/protocol/response/judge-answer.ts";
const FIRST_PARSER = "tutti/src/protocol/response/parse-orchestrator-response.ts";
const NORMALISE = "tutti/src/protocol/response/normalise-answer.ts";
const STATUS = "tutti/src/schema/status.ts";
const TELLER = "tutti/src/engine/sessions/progress-reporter.ts";

export const RESPONSE_MUTANTS: readonly Mutant[] = [
  // The answer of a turn.
  {
    rows: ["D0-001"],
    file: JUDGE,
    find: "} else if (block.phase !== phase) {",
    replace: "} else if (block.phase === phase) {",
  },
  {
    rows: ["D0-003"],
    file: JUDGE,
    find: 'block.phase !== "progress") return null',
    replace: 'block.phase !== "completion") return null',
  },
  {
    rows: ["D0-079"],
    file: NORMALISE,
    find: "if (copy[name] === null) delete",
    replace: "if (copy[name] === undefined) delete",
  },
  { rows: ["D0-080"], file: JUDGE, find: "push(...issues.map(", replace: "push(...issues.slice(0, 1).map(" },

  // The delimited block.
  {
    rows: ["D0-005"],
    file: "tutti/src/protocol/response/open-block.ts",
    find: "return decided([unclosed(this.#withoutMentions(segment), this.#maxRepair)]);",
    replace: "return decided([readBlock(this.#withoutMentions(segment)).block]);",
  },
  {
    rows: ["D0-006"],
    file: "tutti/src/protocol/response/block.ts",
    find: "if (!isRecord(data)) return",
    replace: "if (data === undefined) return",
  },
  {
    rows: ["D0-007", "D0-009", "D4-174"],
    file: SCANNER,
    find: '"<<<ORCHESTRATOR_RESPONSE>>>"',
    replace: '"[ORCHESTRATOR_RESPONSE]"',
  },
  {
    rows: ["D0-008", "D0-011", "D4-174"],
    file: SCANNER,
    find: '"<<<END_ORCHESTRATOR_RESPONSE>>>"',
    replace: '"<<<END>>>"',
  },
  {
    rows: ["D0-010", "D0-011"],
    file: SCANNER,
    find: "if (end !== -1) this.#enter();",
    replace: "if (end === this.#start.length) this.#enter();",
  },
  {
    rows: ["D4-525"],
    file: SCANNER,
    find: "options.delimiterEnd || DEFAULT_DELIMITERS.delimiterEnd",
    replace: "DEFAULT_DELIMITERS.delimiterEnd",
  },
  {
    rows: ["D4-525"],
    file: "tutti/src/engine/sessions/turn-record.ts",
    find: "new ResponseScanner({ ...this.#delimiters, ...BLOCK_LIMITS })",
    replace: "new ResponseScanner()",
  },

  // The function of document 000.
  {
    rows: ["D0-002", "D4-181"],
    file: PARSER,
    find: "? { found: true, phase, data, raw } :",
    replace: "? { found: true, phase, raw } :",
  },
  {
    rows: ["D0-004"],
    file: "tutti/src/protocol/response/block.ts",
    find: "if (!isRecord(value)) return",
    replace: "if (Array.isArray(value)) return",
  },
  {
    rows: ["D0-064", "D0-070"],
    file: FIRST_PARSER,
    find: "return { found, phase, data, beforeText, afterText };",
    replace: "return { found, data, beforeText, afterText };",
  },
  {
    rows: ["D0-070"],
    file: FIRST_PARSER,
    find: "return { found, phase, data, beforeText, afterText };",
    replace: "return { found, phase, data, beforeText };",
  },
  {
    rows: ["D0-065"],
    file: FIRST_PARSER,
    find: "error === undefined ? { found, raw }",
    replace: "error === undefined ? { found }",
  },
  { rows: ["D0-066"], file: FIRST_PARSER, find: ": { found, error, raw };", replace: ": { found, error };" },
  {
    rows: ["D0-066", "D4-176", "D4-183"],
    file: "tutti/src/protocol/response/block.ts",
    find: '"Missing end delimiter"',
    replace: '"No end delimiter"',
  },
  {
    rows: ["D0-067", "D4-177"],
    file: "tutti/src/protocol/response/block.ts",
    find: "const raw = content.trim();",
    replace: "const raw = content;",
  },
  { rows: ["D0-068"], file: FIRST_PARSER, find: '"Missing phase field"', replace: '"Missing required field: phase"' },
  { rows: ["D0-069"], file: FIRST_PARSER, find: 'code === "missing_data"', replace: 'code === "missing_phase"' },
  { rows: ["D0-071"], file: FIRST_PARSER, find: "${jsonError(raw) ?? error}", replace: "${error}" },
  {
    rows: ["D0-076", "D4-184"],
    file: "tutti/src/protocol/json/sound-row.ts",
    find: 'draft.edit("trailing comma", comma, comma + 1, "");',
    replace: 'draft.note("trailing comma");',
  },
  {
    rows: ["D0-076", "D4-178", "D4-185"],
    file: "tutti/src/protocol/json/sound-row.ts",
    find: 'if (!isQuoted) draft.addQuotes("unquoted key", pos, end);',
    replace: 'if (!isQuoted) draft.note("unquoted key");',
  },

  // The class of document 004.
  {
    rows: ["D4-175"],
    file: PARSER,
    find: "if (start === -1) return { found: false, raw: text };",
    replace: "if (start === -1) return { found: true, raw: text };",
  },
  {
    rows: ["D4-176"],
    file: PARSER,
    find: '{ found: false, error: MISSING_END, code: "no_end_delimiter"',
    replace: '{ found: true, error: MISSING_END, code: "no_end_delimiter"',
  },
  {
    rows: ["D4-178"],
    file: "tutti/src/protocol/response/block.ts",
    find: "const isSure = !reading.guessed ||",
    replace: "const isSure = reading.repairs.length === 0 ||",
  },
  {
    rows: ["D4-179"],
    file: "tutti/src/protocol/response/block.ts",
    find: '"Missing required field: phase"',
    replace: '"Missing phase field"',
  },
  {
    rows: ["D4-180"],
    file: "tutti/src/protocol/response/block.ts",
    find: '"Missing required field: data"',
    replace: '"Missing data field"',
  },
  {
    rows: ["D4-181"],
    file: PARSER,
    find: "? { found: true, phase, data, raw } :",
    replace: "? { found: true, data, raw } :",
  },
  {
    rows: ["D4-182"],
    file: PARSER,
    find: "return scanBlocks(text, this).map(resultOf);",
    replace: "return scanBlocks(text, this).slice(0, 1).map(resultOf);",
  },
  {
    rows: ["D4-183"],
    file: PARSER,
    find: "error: MISSING_END, code: block.code, incomplete: true",
    replace: "error: block.message, code: block.code, incomplete: true",
  },
  {
    rows: ["D4-186"],
    file: "tutti/src/protocol/json/json-string.ts",
    find: "draft.makeQuote(end - 1);",
    replace: "draft.makeQuote(end);",
  },
  {
    rows: ["D4-187"],
    file: "tutti/src/protocol/json/bare-value.ts",
    find: '"unquoted value", wordEnds, JSON.stringify(word)',
    replace: '"unquoted value", wordEnds, word',
  },
  {
    rows: ["D4-188"],
    file: "tutti/src/protocol/json/json-gap.ts",
    find: "if (code === 47 && next === 42) {",
    replace: "if (code === 47 && next === 43) {",
  },
  {
    rows: ["D4-188"],
    file: "tutti/src/protocol/json/json-gap.ts",
    find: "if (code === 35 || (code === 47 && next === 47)) {",
    replace: "if (code === 35) {",
  },
  {
    rows: ["D4-189"],
    file: "tutti/src/protocol/json/json-gap.ts",
    find: "if (code === 0xfeff) {",
    replace: "if (code === 0xfffe) {",
  },
  {
    rows: ["D4-189"],
    file: "tutti/src/protocol/json/tolerant-json.ts",
    find: "new RepairDraft(text, start)",
    replace: "new RepairDraft(text, 0)",
  },
  {
    rows: ["D4-190"],
    file: "tutti/src/protocol/json/string-body.ts",
    find: 'this.#put(at, length, "\\\\n", "escaped line break in a string");',
    replace: 'this.#put(at, length, "", "escaped line break in a string");',
  },
  {
    rows: ["D4-191"],
    file: "tutti/src/protocol/json/tolerant-json.ts",
    find: "if (opensObject(text, at) || isQuote(text, peekToken(text, at + 1))) return at;",
    replace: "if (isQuote(text, peekToken(text, at + 1))) return at;",
  },
  {
    rows: ["D4-400"],
    file: PARSER,
    find: "options.delimiterStart || DEFAULT_DELIMITERS.delimiterStart",
    replace: "DEFAULT_DELIMITERS.delimiterStart",
  },
  {
    rows: ["D4-401"],
    file: PARSER,
    find: "afterText: text.slice(first.end).trim()",
    replace: "afterText: text.slice(first.end)",
  },
  {
    rows: ["D4-402"],
    file: PARSER,
    find: "return scanBlocks(text, this).map(resultOf);",
    replace: "return scanBlocks(text, this).filter((block) => block.ok).map(resultOf);",
  },
  { rows: ["D4-405"], file: PARSER, find: "reading.value : null;", replace: "reading.value : {};" },
  { rows: ["D4-406"], file: PARSER, find: "reading.text : jsonString;", replace: 'reading.text : "";' },

  // The guess from key words.
  { rows: ["D0-083"], file: FALLBACK, find: "/(?:analysis|exploration)\\s+", replace: "/(?:analysis)\\s+" },
  {
    rows: ["D0-084"],
    file: FALLBACK,
    find: "/(?:task\\s+list|breakdown)\\s+(?:ready|complete|created)/i",
    replace: "/(?:task\\s+list)\\s+(?:ready|complete|created)/i",
  },
  {
    rows: ["D0-085"],
    file: FALLBACK,
    find: "/(?:task|work)\\s+(?:complete|done|finished)/i",
    replace: "/(?:task|work)\\s+(?:complete|done|finished)/",
  },
  { rows: ["D0-086"], file: FALLBACK, find: "/(?:error|failed|could\\s+not)/i", replace: "/(?:error|failed)/i" },
  { rows: ["D4-197"], file: FALLBACK, find: "(?:found|identified)", replace: "(?:found)" },
  { rows: ["D4-197"], file: FALLBACK, find: "recommend(?:ing|s?)", replace: "recommend(?:ing)?" },
  { rows: ["D4-198"], file: FALLBACK, find: "/created?\\s+", replace: "/created\\s+" },
  {
    rows: ["D4-199"],
    file: FALLBACK,
    find: '"progress", "completion", "error"] as const',
    replace: '"progress", "completion"] as const',
  },
  {
    rows: ["D4-200"],
    file: FALLBACK,
    find: "if (matches > (best?.matches ?? 0))",
    replace: "if (matches >= (best?.matches ?? 1))",
  },
  {
    rows: ["D4-200"],
    file: FALLBACK,
    find: "if (matches > (best?.matches ?? 0))",
    replace: "if (matches > 0 && best === null)",
  },
  {
    rows: ["D4-201"],
    file: FALLBACK,
    find: "{ detected: false, probablePhase: null",
    replace: "{ detected: true, probablePhase: null",
  },
  { rows: ["D4-202"], file: FALLBACK, find: "* 0.9 + 0.1)", replace: "* 0.9)" },
  { rows: ["D4-202"], file: FALLBACK, find: "Math.min(0.9, ", replace: "Math.min(1, " },
  {
    rows: ["D4-203", "D4-404"],
    file: FALLBACK,
    find: "{ detected: true, probablePhase: best.phase, confidence }",
    replace: "{ detected: true, probablePhase: null, confidence }",
  },
  {
    rows: ["D4-404"],
    file: PARSER,
    find: "return detectFallback(text);",
    replace: "return { ...detectFallback(text), confidence: 1 };",
  },
  {
    rows: ["D4-412"],
    file: PARSER,
    find: "static readonly FALLBACK_PATTERNS = FALLBACK_PATTERNS;",
    replace: "static readonly FALLBACK_PATTERNS = { analysis: FALLBACK_PATTERNS.analysis };",
  },

  // The lists of members and their checks.
  { rows: ["D4-192"], file: SCHEMAS, find: 'required: ["tasks"],', replace: "required: []," },
  {
    rows: ["D4-193"],
    file: "tutti/src/protocol/response/validate-phase.ts",
    find: "`Missing required field: ${pathText(issue.path)}`",
    replace: "`Missing field: ${pathText(issue.path)}`",
  },
  {
    rows: ["D4-194"],
    file: "tutti/src/protocol/response/validate-phase.ts",
    find: "warnings: [...warnings, ...normal.warnings",
    replace: "warnings: [...normal.warnings",
  },
  {
    rows: ["D4-195"],
    file: CHECKS,
    find: "if (!isTaskListTasksEntry(each)) return false;",
    replace: "return isTaskListTasksEntry(each);",
  },
  {
    rows: ["D4-403"],
    file: "tutti/src/protocol/response/validate-phase.ts",
    find: "valid: errors.length === 0,",
    replace: "valid: errors.length + warnings.length === 0,",
  },
  { rows: ["D4-407"], file: SCHEMAS, find: '"notes", "warnings", "components"]', replace: '"notes", "warnings"]' },
  {
    rows: ["D4-408", "D4-528"],
    file: SCHEMAS,
    find: '"dependencies", "estimated_tokens"]',
    replace: '"dependencies"]',
  },
  {
    rows: ["D4-528"],
    file: SCHEMAS,
    find: '"parallelizable_groups", "execution_order"]',
    replace: '"parallelizable_groups"]',
  },
  { rows: ["D4-409"], file: SCHEMAS, find: '"files_total", "output_preview"]', replace: '"files_total"]' },
  {
    rows: ["D4-410", "D0-057"],
    file: SCHEMAS,
    find: '"warnings", "metrics", "partial_progress"]',
    replace: '"warnings", "partial_progress"]',
  },
  {
    rows: ["D4-411", "D4-062", "D4-303"],
    file: SCHEMAS,
    find: '"merged_output", "output_files", "error"]',
    replace: '"merged_output", "error"]',
  },
  {
    rows: ["D4-526"],
    file: "tutti/src/protocol/response/validate-phase.ts",
    find: "if (!isBlockPhase(phase)) return { valid: false,",
    replace: "if (!isBlockPhase(phase)) return { valid: true,",
  },

  // Analysis.
  { rows: ["D0-012"], file: STATUS, find: 'analysis: "analysis",', replace: 'analysis: "analyse",' },
  {
    rows: ["D0-013"],
    file: CHECKS,
    find: 'typeof value.summary === "string" &&',
    replace: '(value.summary === undefined || typeof value.summary === "string") &&',
  },
  {
    rows: ["D0-014", "D4-014"],
    file: CHECKS,
    find: "isNumber(value.recommended_splits)",
    replace: "(value.recommended_splits === undefined || isNumber(value.recommended_splits))",
  },
  {
    rows: ["D0-014", "D4-543"],
    file: CHECKS,
    find: "isNumber(value.recommended_splits)",
    replace: '(typeof value.recommended_splits === "string" || isNumber(value.recommended_splits))',
  },
  {
    rows: ["D0-015", "D4-544"],
    file: CHECKS,
    find: "isListOfTexts(value.key_files)",
    replace: '(typeof value.key_files === "string" || isListOfTexts(value.key_files))',
  },
  { rows: ["D0-015"], file: CHECKS, find: "isListOfTexts(value.key_files)", replace: "isList(value.key_files)" },
  {
    rows: ["D0-016"],
    file: "tutti/src/protocol/response/plan-warnings.ts",
    find: '"low", "medium", "high"]',
    replace: '"low", "medium"]',
  },
  {
    rows: ["D4-545"],
    file: CHECKS,
    find: 'typeof value.estimated_complexity === "string"',
    replace: '["string", "number"].includes(typeof value.estimated_complexity)',
  },
  {
    rows: ["D0-017"],
    file: CHECKS,
    find: 'typeof value.notes === "string"',
    replace: '["string", "number"].includes(typeof value.notes)',
  },
  {
    rows: ["D0-018"],
    file: CHECKS,
    find: "isListOfTexts(value.warnings)) &&\n    (value.components",
    replace: "isList(value.warnings)) &&\n    (value.components",
  },
  {
    rows: ["D0-019", "D4-527"],
    file: CHECKS,
    find: "isList(value.components)",
    replace: "(isRecord(value.components) || isList(value.components))",
  },

  // Task list.
  { rows: ["D0-020"], file: STATUS, find: 'taskPlanning: "task_list",', replace: 'taskPlanning: "taskPlanning",' },
  {
    rows: ["D0-021"],
    file: CHECKS,
    find: "isTaskListTasks(value.tasks)",
    replace: "(value.tasks === undefined || isTaskListTasks(value.tasks))",
  },
  {
    rows: ["D4-546"],
    file: CHECKS,
    find: "isTaskListTasks(value.tasks)",
    replace: "(isRecord(value.tasks) || isTaskListTasks(value.tasks))",
  },
  {
    rows: ["D0-022", "D4-547"],
    file: CHECKS,
    find: "isNumber(value.total_tasks)",
    replace: '(typeof value.total_tasks === "string" || isNumber(value.total_tasks))',
  },
  {
    rows: ["D0-022"],
    file: "tutti/src/protocol/response/plan-warnings.ts",
    find: "total === count ? []",
    replace: "total >= count ? []",
  },
  {
    rows: ["D0-023"],
    file: CHECKS,
    find: "isTaskListParallelizableGroups(value.parallelizable_groups)",
    replace: "isList(value.parallelizable_groups)",
  },
  {
    rows: ["D0-023"],
    file: "tutti/src/protocol/response/plan-warnings.ts",
    find: "if (group?.includes(other))",
    replace: "if (!group?.includes(other))",
  },
  {
    rows: ["D0-024"],
    file: CHECKS,
    find: "isListOfTexts(value.execution_order)",
    replace: "isList(value.execution_order)",
  },
  {
    rows: ["D0-024"],
    file: "tutti/src/run/plan/plan.ts",
    find: "soundOrder(tasks, answer.execution_order)",
    replace: "soundOrder(tasks, null)",
  },
  {
    rows: ["D0-025"],
    file: CHECKS,
    find: 'typeof value.id === "string"',
    replace: '(value.id === undefined || typeof value.id === "string")',
  },
  {
    rows: ["D0-025"],
    file: "tutti/src/protocol/response/plan-warnings.ts",
    find: "...repeated(ids).map(",
    replace: "...repeated([]).map(",
  },
  {
    rows: ["D0-026"],
    file: CHECKS,
    find: 'typeof value.title === "string"',
    replace: '(value.title === undefined || typeof value.title === "string")',
  },
  {
    rows: ["D0-027", "D4-548"],
    file: CHECKS,
    find: 'typeof value.description === "string" &&\n    (value.scope',
    replace: '(value.description === undefined || typeof value.description === "string") &&\n    (value.scope',
  },
  {
    rows: ["D4-548"],
    file: CHECKS,
    find: "if (!isTaskListTasksEntry(each)) return false;",
    replace: "if (isRecord(each) && !isTaskListTasksEntry(each)) return false;",
  },
  { rows: ["D0-028"], file: CHECKS, find: "isListOfTexts(value.scope)", replace: "isList(value.scope)" },
  {
    rows: ["D0-028"],
    file: "tutti/src/run/plan/plan.ts",
    find: "scope: task.scope ?? [],",
    replace: 'scope: (task.scope ?? []).map((entry) => entry.split(":")[0]!),',
  },
  {
    rows: ["D0-029"],
    file: "tutti/src/run/plan/plan.ts",
    find: "highestFirst ? 11 - within : within",
    replace: "highestFirst ? within : 11 - within",
  },
  {
    rows: ["D0-029"],
    file: "tutti/src/protocol/response/plan-warnings.ts",
    find: "priority < 1 || priority > 10",
    replace: "priority < 1 || priority > 100",
  },
  { rows: ["D0-030"], file: CHECKS, find: "isListOfTexts(value.dependencies)", replace: "isList(value.dependencies)" },
  {
    rows: ["D0-030"],
    file: "tutti/src/run/plan/plan.ts",
    find: "[...new Set(task.dependencies ?? [])]",
    replace: "[]",
  },
  {
    rows: ["D0-031"],
    file: CHECKS,
    find: "isNumber(value.estimated_tokens)",
    replace: '(typeof value.estimated_tokens === "string" || isNumber(value.estimated_tokens))',
  },
  {
    rows: ["D0-031"],
    file: "tutti/src/run/plan/plan.ts",
    find: "{ estimatedTokens: Math.max(0, task.estimated_tokens) }",
    replace: "{ estimatedTokens: 0 }",
  },
  {
    rows: ["D0-032"],
    file: "tutti/src/run/plan/scopes.ts",
    find: "if (a.length === 0 || b.length === 0) return false;",
    replace: "if (a.length === 0 || b.length === 0) return true;",
  },

  // Progress.
  {
    rows: ["D0-033"],
    file: JUDGE,
    find: 'block.phase !== "progress") return null',
    replace: 'block.phase !== "heartbeat") return null',
  },
  {
    rows: ["D0-034"],
    file: CHECKS,
    find: 'typeof value.task_id === "string" &&\n    typeof value.status',
    replace: '(value.task_id === undefined || typeof value.task_id === "string") &&\n    typeof value.status',
  },
  {
    rows: ["D0-035"],
    file: CHECKS,
    find: 'typeof value.status === "string"',
    replace: '(value.status === undefined || typeof value.status === "string")',
  },
  {
    rows: ["D0-036"],
    file: NORMALISE,
    find: 'new Set(["in_progress", "blocked", "retrying"])',
    replace: 'new Set(["blocked", "retrying"])',
  },
  {
    rows: ["D0-037"],
    file: NORMALISE,
    find: 'new Set(["in_progress", "blocked", "retrying"])',
    replace: 'new Set(["in_progress", "retrying"])',
  },
  {
    rows: ["D0-038"],
    file: NORMALISE,
    find: 'new Set(["in_progress", "blocked", "retrying"])',
    replace: 'new Set(["in_progress", "blocked"])',
  },
  { rows: ["D4-529"], file: NORMALISE, find: '["processing", "in_progress"]', replace: '["busy", "in_progress"]' },
  {
    rows: ["D0-039", "D4-196", "D4-549"],
    file: CHECKS,
    find: "value.progress_percent <= 100",
    replace: "value.progress_percent <= 1000",
  },
  {
    rows: ["D0-040"],
    file: CHECKS,
    find: 'typeof value.current_action === "string"',
    replace: '["string", "number"].includes(typeof value.current_action)',
  },
  {
    rows: ["D0-041"],
    file: CHECKS,
    find: "isNumber(value.files_processed)",
    replace: '(typeof value.files_processed === "string" || isNumber(value.files_processed))',
  },
  {
    rows: ["D0-042"],
    file: CHECKS,
    find: "isNumber(value.files_total)",
    replace: '(typeof value.files_total === "string" || isNumber(value.files_total))',
  },
  {
    rows: ["D0-043"],
    file: CHECKS,
    find: 'typeof value.output_preview === "string"',
    replace: '["string", "number"].includes(typeof value.output_preview)',
  },

  {
    rows: ["D0-003", "D0-039"],
    file: TELLER,
    find: "progress?.progress_percent ?? worker.progress",
    replace: "worker.progress",
  },
  {
    rows: ["D0-037", "D0-038"],
    file: TELLER,
    find: '(progress?.status ?? "in_progress")',
    replace: '"in_progress"',
  },
  { rows: ["D0-036"], file: TELLER, find: '(progress?.status ?? "in_progress")', replace: '"blocked"' },
  {
    rows: ["D0-040"],
    file: TELLER,
    find: "progress?.current_action?.slice(0, MAX_CHARACTERS) ?? worker.currentAction",
    replace: "worker.currentAction",
  },
  {
    rows: ["D0-043"],
    file: TELLER,
    find: "(progress?.output_preview ?? record.lastWords)",
    replace: "record.lastWords",
  },

  // Completion.
  {
    rows: ["D0-044"],
    file: STATUS,
    find: 'workerExecution: "completion",',
    replace: 'workerExecution: "workerExecution",',
  },
  {
    rows: ["D0-045"],
    file: CHECKS,
    find: 'typeof value.task_id === "string" &&\n    (value.status',
    replace: '(value.task_id === undefined || typeof value.task_id === "string") &&\n    (value.status',
  },
  {
    rows: ["D0-046", "D4-550"],
    file: CHECKS,
    find: 'value.status === "timeout")',
    replace: 'typeof value.status === "string")',
  },
  {
    rows: ["D0-047", "D0-048"],
    file: WORKER_ANSWER,
    find: 'report.status === "partial")',
    replace: 'report.status === "success")',
  },
  {
    rows: ["D0-049"],
    file: WORKER_ANSWER,
    find: 'if (report.status === "failed")',
    replace: 'if (report.status === "failed" && report.error === undefined)',
  },
  {
    rows: ["D0-050"],
    file: WORKER_ANSWER,
    find: 'if (report.status === "timeout") {',
    replace: 'if (report.status === "timeout" && report.error === undefined) {',
  },
  {
    rows: ["D0-051"],
    file: CHECKS,
    find: 'value.status === "timeout") &&\n    (value.summary === undefined || typeof value.summary === "string")',
    replace: 'value.status === "timeout")',
  },
  {
    rows: ["D0-052", "D4-551"],
    file: CHECKS,
    find: 'typeof value.summary === "string") &&\n    (value.output_files === undefined || isListOfTexts(value.output_files))',
    replace:
      'typeof value.summary === "string") &&\n    (value.output_files === undefined || typeof value.output_files === "string" || isListOfTexts(value.output_files))',
  },
  {
    rows: ["D0-053", "D4-530"],
    file: WORKER_ANSWER,
    find: "const output = report.output ?? report.summary ?? null;",
    replace: 'const output = typeof report.output === "string" ? report.output : (report.summary ?? null);',
  },
  {
    rows: ["D0-053"],
    file: WORKER_ANSWER,
    find: "const output = report.output ?? report.summary ?? null;",
    replace: "const output = report.summary ?? report.output ?? null;",
  },
  {
    rows: ["D0-054"],
    file: CHECKS,
    find: 'typeof value.error === "string") &&',
    replace: '["string", "number"].includes(typeof value.error)) &&',
  },
  {
    rows: ["D0-055"],
    file: CHECKS,
    find: "isListOfTexts(value.warnings)) &&\n    (value.metrics",
    replace: 'typeof value.warnings === "string" || isListOfTexts(value.warnings)) &&\n    (value.metrics',
  },
  { rows: ["D0-056", "D4-530"], file: CHECKS, find: "return isRecord(value);", replace: "return value !== null;" },

  // Aggregation.
  { rows: ["D0-058"], file: STATUS, find: 'aggregation: "aggregation",', replace: 'aggregation: "merge",' },
  {
    rows: ["D0-059"],
    file: CHECKS,
    find: 'value.status === "needs_input" || value.status === "failed")',
    replace: 'value.status === "needs_input" || value.status === "failed" || value.status === undefined)',
  },
  {
    rows: ["D4-552"],
    file: NORMALISE,
    find: 'new Set(["success", "needs_input", "failed"])',
    replace: 'new Set(["success", "needs_input"])',
  },
  {
    rows: ["D0-060"],
    file: CHECKS,
    find: 'value.status === "failed") &&\n    (value.summary === undefined || typeof value.summary === "string")',
    replace: 'value.status === "failed")',
  },
  {
    rows: ["D0-061"],
    file: CHECKS,
    find: 'typeof value.type === "string"',
    replace: '(value.type === undefined || typeof value.type === "string")',
  },
  {
    rows: ["D0-061"],
    file: CHECKS,
    find: 'typeof value.resolution === "string"',
    replace: '["string", "number"].includes(typeof value.resolution)',
  },
  {
    rows: ["D0-062"],
    file: CHECKS,
    find: 'typeof value.merged_output === "string"',
    replace: '["string", "number"].includes(typeof value.merged_output)',
  },
  {
    rows: ["D0-063", "D4-554"],
    file: CHECKS,
    find: 'typeof value.merged_output === "string") &&\n    (value.output_files === undefined || isListOfTexts',
    replace:
      'typeof value.merged_output === "string") &&\n    (value.output_files === undefined || typeof value.output_files === "string" || isListOfTexts',
  },
  {
    rows: ["D4-531"],
    file: CHECKS,
    find: "isListOfTexts(value.options)",
    replace: '(typeof value.options === "string" || isListOfTexts(value.options))',
  },
  {
    rows: ["D4-553"],
    file: CHECKS,
    find: "isAggregationConflicts(value.conflicts)",
    replace: "(isRecord(value.conflicts) || isAggregationConflicts(value.conflicts))",
  },
  {
    rows: ["D4-062"],
    file: TAKE_ANSWER,
    find: "options: conflict.options ?? found?.options,",
    replace: "options: undefined,",
  },
  {
    rows: ["D4-063", "D4-303", "D4-305", "D4-306", "D4-307"],
    file: TAKE_ANSWER,
    find: "(answer.conflicts ?? []).map(",
    replace: "(answer.conflicts ?? []).filter(({ files }) => files).map(",
  },
  {
    rows: ["D4-304"],
    file: CHECKS,
    find: "isListOfTexts(value.workers)",
    replace: '(typeof value.workers === "string" || isListOfTexts(value.workers))',
  },
  {
    rows: ["D4-304"],
    file: TAKE_ANSWER,
    find: ": conflict,\n    };",
    replace: ": { type: conflict.type, description: conflict.description, options: conflict.options },\n    };",
  },

  // Verification.
  {
    rows: ["D4-075"],
    file: CHECKS,
    find: 'value.severity === "info")',
    replace: 'typeof value.severity === "string")',
  },
  {
    rows: ["D4-532"],
    file: CHECKS,
    find: 'value.status === "passed_with_warnings")',
    replace: 'value.status === "passed_with_warnings" || value.status === undefined)',
  },
  {
    rows: ["D4-075", "D4-532"],
    file: CHECKS,
    find: 'typeof value.suggested_fix === "string"',
    replace: '["string", "number"].includes(typeof value.suggested_fix)',
  },

  // The first phase on a session controller.
  {
    rows: ["D4-006"],
    file: "tutti/src/run/apply.ts",
    find: 'event.data.phase === "analysis" ? "analyzing" : "planning"',
    replace: 'event.data.phase === "analysis" ? "planning" : "analyzing"',
  },
  {
    rows: ["D4-007"],
    file: "tutti/src/module/orchestrator-manager.ts",
    find: "{ ...request, agent, config: settings }",
    replace: '{ ...request, templateId: "_default", agent, config: settings }',
  },
  {
    rows: ["D4-008"],
    file: "tutti/src/engine/sessions/prompt.ts",
    find: '[prompt.system, prompt.user ?? ""].map((part) => substituteVariables(part, known).trim())',
    replace: '[prompt.system, prompt.user ?? ""].map((part) => part.trim())',
  },
  {
    rows: ["D4-009"],
    file: "tutti/src/session/polled/polled-turn.ts",
    find: "`[Orchestrator] ${",
    replace: "`[Main] ${",
  },
  {
    rows: ["D4-010"],
    file: "tutti/src/session/polled/polled-session.ts",
    find: "spec.taskId === null ? `${badge(turn)}",
    replace: "spec.taskId !== null ? `${badge(turn)}",
  },
  {
    rows: ["D4-011"],
    file: "tutti/src/session/polled/polled-session.ts",
    find: "Math.min(LONGEST_BACK_OFF_MS,",
    replace: "Math.max(LONGEST_BACK_OFF_MS,",
  },
  {
    rows: ["D4-019"],
    file: "tutti/src/session/polled/polled-turn.ts",
    find: "`🎭 **ORCHESTRATOR MODE** - ${",
    replace: "`**ORCHESTRATOR MODE** - ${",
  },
  {
    rows: ["D4-013"],
    file: "tutti/src/engine/sessions/turn-record.ts",
    find: "!block.ok || !ACTS_AT_ONCE.has(block.phase)",
    replace: "!block.ok || ACTS_AT_ONCE.has(block.phase)",
  },
  {
    rows: ["D4-015"],
    file: "tutti/src/run/apply.ts",
    find: "analysis: event.data.analysis,",
    replace: "analysis: run.analysis,",
  },
  {
    rows: ["D4-016"],
    file: TAKE_ANSWER,
    find: "if (taskPlanning.enabled) return",
    replace: "if (!taskPlanning.enabled) return",
  },
  { rows: ["D4-017"], file: TAKE_ANSWER, find: "notes: answer.notes ?? null,", replace: "notes: null," },
  {
    rows: ["D4-014"],
    file: CHECKS,
    find: 'typeof value.summary === "string" &&',
    replace: '(value.summary === undefined || typeof value.summary === "string") &&',
  },
  {
    rows: ["D4-020"],
    file: "tutti/src/engine/sessions/judge-turn.ts",
    find: "record.subagents === 0",
    replace: "record.subagents > 0",
  },

  // Names, states and options.
  {
    rows: ["D3-112"],
    file: "tutti/src/protocol/canonical/read-message.ts",
    find: '"./response-message.ts"',
    replace: '"./response-message"',
  },
  {
    rows: ["D4-040"],
    file: "tutti/src/run/rules/decide-report.ts",
    find: "workerSessionId(run.id, taskId, attempt, run.template.config.sessionPrefix)",
    replace: 'workerSessionId(run.id, taskId, attempt, "")',
  },
  { rows: ["D4-048", "D4-077"], file: "tutti/src/schema/ids.ts", find: "_worker_${taskId}", replace: "_${taskId}" },
  {
    rows: ["D4-078"],
    file: "tutti/src/schema/ids.ts",
    find: "`local_${sessionPrefix}${withoutPrefix(runId)}_worker_",
    replace: "`local_${withoutPrefix(runId)}_worker_",
  },
  {
    rows: ["D4-595"],
    file: "tutti/src/schema/ids.ts",
    find: "`local_${sessionPrefix}${withoutPrefix(runId)}_main",
    replace: "`local_${withoutPrefix(runId)}_main",
  },
  {
    rows: ["D4-049"],
    file: "tutti/src/run/fold/apply-session.ts",
    find: 'status: "timeout",',
    replace: 'status: "failed",',
  },
  { rows: ["D4-049"], file: STATUS, find: 'TIMEOUT: "timeout",', replace: 'TIMEOUT: "timed_out",' },
  { rows: ["D4-261", "D4-349"], file: STATUS, find: 'VERIFYING: "verifying",', replace: 'VERIFYING: "verification",' },
  {
    rows: ["D4-262", "D4-350"],
    file: STATUS,
    find: 'TASK_PLANNING: "taskPlanning",',
    replace: 'TASK_PLANNING: "planning",',
  },
  {
    rows: ["D4-452"],
    file: "tutti/src/schema/options.ts",
    find: "pollInterval: z.number().int().min(1).default(3000)",
    replace: "pollInterval: z.number().int().min(1).default(300)",
  },
  {
    rows: ["D4-452"],
    file: "tutti/src/schema/options.ts",
    find: "persistenceEnabled: z.boolean().default(true)",
    replace: "persistenceEnabled: z.boolean().default(false)",
  },
  {
    rows: ["D4-453"],
    file: "tutti/src/schema/options.ts",
    find: "maxWorkers: z.number().int().min(1).default(5)",
    replace: "maxWorkers: z.number().int().min(1).default(10)",
  },
  {
    rows: ["D4-453"],
    file: "tutti/src/module/shared-engine.ts",
    find: "const CONTROLLER_SPAWN_DELAY_MS = 500;",
    replace: "const CONTROLLER_SPAWN_DELAY_MS = 50;",
  },
  {
    rows: ["D4-454"],
    file: "tutti/src/schema/options.ts",
    find: "taskSpawnWindow: 10_000",
    replace: "taskSpawnWindow: 1000",
  },
  {
    rows: ["D4-453", "D4-455"],
    file: "tutti/src/schema/template.ts",
    find: "DEFAULT_MAX_RETRIES = 2",
    replace: "DEFAULT_MAX_RETRIES = 3",
  },
  {
    rows: ["D4-455"],
    file: "tutti/src/schema/template.ts",
    find: "hideWorkersFromList: z.boolean().default(true)",
    replace: "hideWorkersFromList: z.boolean().default(false)",
  },
];

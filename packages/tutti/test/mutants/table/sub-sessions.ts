import type { Mutant } from "../mutant.ts";

const DECIDE = "tutti/src/run/rules/decide-sub-session.ts";
const STATE = "tutti/src/run/fold/sub-sessions.ts";
const MONITOR = "tutti/src/engine/sub-sessions/sub-session-monitor.ts";
const SILENCE = "tutti/src/engine/sessions/silence.ts";
const JUDGE = "tutti/src/engine/sessions/judge-turn.ts";
const RETURN = "tutti/src/engine/sub-sessions/return-result.ts";
const SPAWNS = "tutti/src/engine/sub-sessions/task-spawns.ts";
const INVOCATIONS = "tutti/src/engine/sub-sessions/task-invocations.ts";
const MANAGER = "tutti/src/module/sub-session-manager.ts";
const RELATION = "tutti/src/module/sub-session-relation.ts";
const OPTIONS = "tutti/src/schema/options.ts";
const ROUTES = "tutti/src/server/routes/sub-session-routes.ts";
const TEMPLATES = "tutti/src/module/template-manager.ts";
const LIBRARY = "tutti/src/template/files/library.ts";
const EDIT = "tutti/src/template/edit-template.ts";
const SCHEMA = "tutti/src/schema/template.ts";
const POLLED = "tutti/src/session/polled/polled-session.ts";

export const SUB_SESSIONS_MUTANTS: readonly Mutant[] = [
  // Natural mode.
  {
    rows: ["D4-004", "D4-204"],
    file: JUDGE,
    find: "judged.answer !== null || !isNatural(run) ||",
    replace: "judged.answer !== null || isNatural(run) ||",
  },
  // Settings of sub-sessions.
  {
    rows: ["D4-413"],
    file: MANAGER,
    find: "checkOptions(SubSessionOptions, config)",
    replace: "checkOptions(SubSessionOptions, {})",
  },
  {
    rows: ["D4-209", "D4-231", "D4-414"],
    file: OPTIONS,
    find: "pollInterval: 5000",
    replace: "pollInterval: 10_000",
  },
  {
    rows: ["D4-213", "D4-215", "D4-231", "D4-414", "D4-571"],
    file: OPTIONS,
    find: "inactivityThreshold: 60_000",
    replace: "inactivityThreshold: 30_000",
  },
  {
    rows: ["D4-214", "D4-215", "D4-231", "D4-414", "D4-572"],
    file: OPTIONS,
    find: "confirmationDelay: 30_000",
    replace: "confirmationDelay: 10_000",
  },
  {
    rows: ["D4-219", "D4-231", "D4-414"],
    file: OPTIONS,
    find: "**[Resultat de sous-tache]**\\n\\n",
    replace: "**[Resultat de sous-tache]**\\n",
  },
  {
    rows: ["D4-231", "D4-414"],
    file: OPTIONS,
    find: "maxMessageLength: 50_000",
    replace: "maxMessageLength: 5000",
  },
  { rows: ["D4-231"], file: MONITOR, find: "sleep(settings.pollInterval,", replace: "sleep(5000," },
  {
    rows: ["D4-231"],
    file: SILENCE,
    find: "silentMs < inactivityThreshold",
    replace: "silentMs < 60_000",
  },
  { rows: ["D4-231"], file: SILENCE, find: "since < confirmationDelay", replace: "since < 30_000" },
  { rows: ["D4-231"], file: MONITOR, find: "windowMs: settings.taskSpawnWindow", replace: "windowMs: 10_000" },
  { rows: ["D4-231"], file: RETURN, find: "cut(message, maxMessageLength)", replace: "message" },
  { rows: ["D4-231"], file: RETURN, find: "${resultSuffix}`", replace: "`" },
  { rows: ["D4-231"], file: MONITOR, find: "if (settings.detectTaskSpawn) {", replace: "if (settings) {" },
  { rows: ["D4-437"], file: "tutti/src/schema/status.ts", find: 'ORPHANED: "orphaned"', replace: 'ORPHANED: "lost"' },

  // Relations.
  {
    rows: ["D4-205", "D4-417"],
    file: MANAGER,
    find: "register(childSessionId, parentSessionId, taskToolId)",
    replace: "register(childSessionId, parentSessionId)",
  },
  { rows: ["D4-206"], file: STATE, find: "messageCount: 0,", replace: "messageCount: 1," },
  {
    rows: ["D4-206", "D4-278", "D4-438"],
    file: STATE,
    find: "lastActivityAt: at,\n    since",
    replace: "lastActivityAt: 0,\n    since",
  },
  {
    rows: ["D4-221", "D4-278"],
    file: STATE,
    find: 'status === "returned" ? { returnedAt: at } : {}',
    replace: "{}",
  },
  { rows: ["D4-438"], file: RELATION, find: "{ returnedAt: new Date(returnedAt) }", replace: "{}" },
  {
    rows: ["D4-207"],
    file: MANAGER,
    find: "[relation.childSessionId, subSessionRelation(relation)]",
    replace: "[relation.parentSessionId, subSessionRelation(relation)]",
  },
  {
    rows: ["D4-208"],
    file: MANAGER,
    find: "new Set(children.map((each) => each.childSessionId))",
    replace: "new Set(children.map((each) => each.parentSessionId))",
  },
  {
    rows: ["D4-420"],
    file: MANAGER,
    find: "return relation && subSessionRelation(relation);",
    replace: "return relation ? subSessionRelation(relation) : undefined!;",
  },
  {
    rows: ["D4-421"],
    file: MANAGER,
    find: "childrenOf(this.#log.ahead, parentSessionId).map(subSessionRelation)",
    replace: "childrenOf(this.#log.ahead, parentSessionId).filter(isOpen).map(subSessionRelation)",
  },
  {
    rows: ["D4-422"],
    file: STATE,
    find: 'status === "active" || status === "completing" || status === "completed"',
    replace: 'status === "active" || status === "completing"',
  },
  {
    rows: ["D4-422", "D4-425"],
    file: MANAGER,
    find: "childrenOf(this.#log.ahead, parentSessionId).filter(isOpen)",
    replace: "childrenOf(this.#log.ahead, parentSessionId)",
  },
  {
    rows: ["D4-423"],
    file: MANAGER,
    find: "(relation) => relation.status === status",
    replace: "(relation) => relation.status !== status",
  },
  {
    rows: ["D4-424"],
    file: MANAGER,
    find: "this.#log.get(sessionId) !== null",
    replace: "this.#log.get(sessionId) !== null || this.getChildren(sessionId).length > 0",
  },
  {
    rows: ["D4-425"],
    file: MANAGER,
    find: "this.getActiveChildren(sessionId).length",
    replace: "this.getChildren(sessionId).length",
  },
  { rows: ["D4-426"], file: MANAGER, find: "status: newStatus, ...more }", replace: "status: newStatus }" },
  {
    rows: ["D4-427"],
    file: MANAGER,
    find: '{ type: "active", childSessionId, messageCount }',
    replace: '{ type: "active", childSessionId, messageCount: 0 }',
  },
  {
    rows: ["D4-430"],
    file: MONITOR,
    find: "if (archiveSession) await this.#archive(relation);",
    replace: "await this.#archive(relation);",
  },
  {
    rows: ["D4-431"],
    file: MONITOR,
    find: "this.unregister(childSessionId, options)",
    replace: "this.unregister(childSessionId)",
  },
  { rows: ["D4-432"], file: MONITOR, find: "KEPT_MS = 3_600_000", replace: "KEPT_MS = 1_800_000" },
  {
    rows: ["D4-432"],
    file: MANAGER,
    find: "this.#monitor.cleanup(maxAge)",
    replace: "this.#monitor.cleanup(KEPT_MS)",
  },
  {
    rows: ["D4-230", "D4-432"],
    file: MONITOR,
    find: "!isOpen(relation) && this.#now - relation.since >= maxAge",
    replace: 'relation.status === "returned" && this.#now - relation.since >= maxAge',
  },
  {
    rows: ["D4-230"],
    file: MONITOR,
    find: "await this.cleanup(KEPT_MS, (relation) => !this.#isKept(relation)).catch(() => {});",
    replace: "",
  },
  {
    rows: ["D4-433"],
    file: MONITOR,
    find: "parents: new Set(relations.map(({ parentSessionId }) => parentSessionId)).size",
    replace: "parents: relations.length",
  },
  { rows: ["D4-433", "D4-484"], file: MONITOR, find: "pendingTaskSpawns: this.spawns.pending,", replace: "" },
  {
    rows: ["D4-433", "D4-484"],
    file: STATE,
    find: "for (const { status } of relations) counts[status]++;",
    replace: 'for (const { status } of relations) if (status !== "active") counts[status]++;',
  },

  // Events of sub-sessions.
  {
    rows: ["D4-510"],
    file: DECIDE,
    find: "data: { childSessionId, parentSessionId, taskToolId, timestamp, ...run }",
    replace: "data: { childSessionId, parentSessionId, taskToolId: null, timestamp, ...run }",
  },
  {
    rows: ["D4-511"],
    file: DECIDE,
    find: '"subsession:unregistered", data: { ...both, timestamp }',
    replace: '"subsession:unregistered", data: { childSessionId, timestamp }',
  },
  {
    rows: ["D4-512"],
    file: DECIDE,
    find: "data: { ...both, previousStatus, newStatus,",
    replace: "data: { ...both, previousStatus: newStatus, newStatus,",
  },
  {
    rows: ["D4-513"],
    file: DECIDE,
    find: '"subsession:activity", data: { ...both, messageCount,',
    replace: '"subsession:activity", data: { childSessionId, messageCount,',
  },
  {
    rows: ["D4-514"],
    file: DECIDE,
    find: "data: { ...both, messageLength, timestamp }",
    replace: "data: { ...both, messageLength: 0, timestamp }",
  },
  {
    rows: ["D4-515"],
    file: DECIDE,
    find: '"subsession:orphaned", data: { ...both, timestamp }',
    replace: '"subsession:orphaned", data: { childSessionId, timestamp }',
  },
  {
    rows: ["D4-516"],
    file: DECIDE,
    find: "data: { ...both, error, timestamp }",
    replace: "data: { childSessionId, error, timestamp }",
  },
  {
    rows: ["D4-516"],
    file: DECIDE,
    find: 'relation.error ?? "the result could not be read"',
    replace: '"the result could not be read"',
  },
  {
    rows: ["D4-517"],
    file: DECIDE,
    find: '"subsession:archived", data: { childSessionId, timestamp }',
    replace: '"subsession:archived", data: { childSessionId: parentSessionId, timestamp }',
  },
  {
    rows: ["D4-518"],
    file: MONITOR,
    find: '"subsession:monitoring:started", data: { timestamp: this.#timestamp() }',
    replace: '"subsession:monitoring:started", data: { timestamp: "" }',
  },
  {
    rows: ["D4-519"],
    file: MONITOR,
    find: '"subsession:monitoring:stopped", data: { timestamp: this.#timestamp() }',
    replace: '"subsession:monitoring:stopped", data: { timestamp: "" }',
  },

  // Steps of a sub-session.
  {
    rows: ["D4-204", "D4-217"],
    file: RETURN,
    find: "messages.findLast(",
    replace: "messages.find(",
  },
  {
    rows: ["D4-210"],
    file: SILENCE,
    find: "messages.length !== messageCount || previous.shape !== shape",
    replace: "previous.shape !== shape",
  },
  {
    rows: ["D4-211"],
    file: STATE,
    find: "messageCount: event.data.messageCount, lastActivityAt: at",
    replace: "messageCount: event.data.messageCount",
  },
  {
    rows: ["D4-211", "D4-577"],
    file: DECIDE,
    find: 'relation.status === "completing" ? setStatus(relation, "active"',
    replace: 'relation.status === "completed" ? setStatus(relation, "active"',
  },
  {
    rows: ["D4-212", "D4-213", "D4-571"],
    file: SILENCE,
    find: "!isQuiet || silentMs < inactivityThreshold",
    replace: "!isQuiet",
  },
  {
    rows: ["D4-214", "D4-215", "D4-228", "D4-572"],
    file: SILENCE,
    find: "now - since < confirmationDelay",
    replace: "silentMs < confirmationDelay",
  },
  {
    rows: ["D4-214", "D4-215", "D4-228"],
    file: MONITOR,
    find: 'if (status === "completed") await this.#return(',
    replace: 'if (status === "completing") await this.#return(',
  },
  { rows: ["D4-415"], file: MONITOR, find: "    this.#started = true;\n", replace: "" },
  {
    rows: ["D4-416"],
    file: MONITOR,
    find: "this.#started = false;\n    this.#loop?.abort();\n    this.#loop = null;",
    replace: "this.#started = false;",
  },

  // The result.
  {
    rows: ["D4-216"],
    file: RETURN,
    find: "lastWords(options, childSessionId)",
    replace: "lastWords(options, relation.parentSessionId)",
  },
  {
    rows: ["D4-218"],
    file: RETURN,
    find: 'return { orphaned: true, message: message ?? "" };',
    replace: 'return { success: false, message: message ?? "" };',
  },
  {
    rows: ["D4-218"],
    file: RETURN,
    find: 'status: "orphaned", updates: lastMessage',
    replace: 'status: "error", updates: lastMessage',
  },
  {
    rows: ["D4-219"],
    file: RETURN,
    find: "return `${resultPrefix}${cut(",
    replace: "return `${cut(",
  },
  {
    rows: ["D4-220"],
    file: RETURN,
    find: "      await reach.send(parentSessionId, formatted, childSessionId);\n",
    replace: "",
  },
  {
    rows: ["D4-221", "D4-573"],
    file: RETURN,
    find: '  await log.order({ type: "setStatus", childSessionId, status: "returned", updates });\n',
    replace: "",
  },
  {
    rows: ["D4-222", "D4-574"],
    file: MONITOR,
    find: "result.success && settings.autoArchiveOnReturn && updated",
    replace: "result.orphaned && settings.autoArchiveOnReturn && updated",
  },
  { rows: ["D4-574"], file: STATE, find: "{ ...before, archivedAt: at }", replace: "before" },
  {
    rows: ["D4-223", "D4-428"],
    file: RETURN,
    find: "return { success: true, message, formatted };",
    replace: "return { success: true, message: formatted, formatted };",
  },
  {
    rows: ["D4-428"],
    file: RETURN,
    find: "return { alreadyReturned: true,",
    replace: "return { success: true,",
  },
  { rows: ["D4-429"], file: DECIDE, find: 'error: ["completed"],', replace: "error: []," },
  {
    rows: ["D4-229", "D4-575"],
    file: DECIDE,
    find: 'newStatus === "orphaned" || newStatus === "error"',
    replace: 'newStatus === "error"',
  },
  {
    rows: ["D4-229", "D4-576"],
    file: DECIDE,
    find: 'newStatus === "orphaned" || newStatus === "error"',
    replace: 'newStatus === "orphaned"',
  },
  {
    rows: ["D4-229", "D4-230", "D4-575"],
    file: MONITOR,
    find: "if (!isThere) {",
    replace: 'if (status === "completed" && !(await this.isThere(relation.parentSessionId))) {',
  },
  {
    rows: ["D4-229", "D4-576"],
    file: RETURN,
    find: 'status: "error", updates: { error, ...lastMessage }',
    replace: 'status: "orphaned", updates: { error, ...lastMessage }',
  },
  {
    rows: ["D4-576"],
    file: RETURN,
    find: 'status: "error", updates: { ...updates, error: why }',
    replace: 'status: "orphaned", updates: { ...updates, error: why }',
  },

  // Sessions that a session starts.
  {
    rows: ["D4-224", "D4-418"],
    file: MANAGER,
    find: "register(parentSessionId, taskToolId ?? null)",
    replace: "register(parentSessionId, null)",
  },
  { rows: ["D4-227"], file: SPAWNS, find: "at >= since", replace: "at > since" },
  {
    rows: ["D4-227"],
    file: OPTIONS,
    find: "taskSpawnWindow: 10_000",
    replace: "taskSpawnWindow: 20_000",
  },
  { rows: ["D4-227"], file: SPAWNS, find: "      spawns.shift();\n", replace: "" },
  {
    rows: ["D4-419"],
    file: SPAWNS,
    find: "    if (this.#options.isTaken(sessionId)) return false;\n",
    replace: "",
  },
  {
    rows: ["D4-225"],
    file: INVOCATIONS,
    find: String.raw`<\/(?:antml:)?invoke>/gi`,
    replace: String.raw`<\/invoke>/gi`,
  },
  { rows: ["D4-226"], file: INVOCATIONS, find: '["subagent_type", "Task tool"]', replace: '["Task tool"]' },
  { rows: ["D4-226"], file: INVOCATIONS, find: '["subagent_type", "Task tool"]', replace: '["subagent_type"]' },
  {
    rows: ["D4-434"],
    file: INVOCATIONS,
    find: '{ taskToolId: id, source: "tool",',
    replace: '{ taskToolId: null, source: "tool",',
  },
  { rows: ["D4-434"], file: INVOCATIONS, find: '["Task", "Agent", "new_task"]', replace: '["Task", "new_task"]' },
  {
    rows: ["D4-435"],
    file: SPAWNS,
    find: "fresh.filter(([id]) => this.tryLink(id)).length",
    replace: "fresh.map(([id]) => this.tryLink(id)).length",
  },
  { rows: ["D4-436"], file: SPAWNS, find: "        await this.scan(parent, { onlyTools: true });\n", replace: "" },
  {
    rows: ["D4-436"],
    file: MONITOR,
    find: 'await log.order({ type: "watch", parentSessionId });\n    this.start();',
    replace: 'await log.order({ type: "watch", parentSessionId });',
  },

  // Sub-sessions over HTTP.
  {
    rows: ["D4-479"],
    file: ROUTES,
    find: "register(childSessionId, parentSessionId, taskToolId)",
    replace: "register(childSessionId, parentSessionId)",
  },
  {
    rows: ["D4-480"],
    file: ROUTES,
    find: "      await subSessions.watch(params.parentSessionId);\n",
    replace: "",
  },
  {
    rows: ["D4-481"],
    file: ROUTES,
    find: "const children = subSessionLog.children(parentSessionId);",
    replace: "const children = subSessionLog.children(parentSessionId).slice(1);",
  },
  {
    rows: ["D4-482"],
    file: ROUTES,
    find: "success: success ?? alreadyReturned,",
    replace: "success: success ?? false,",
  },
  {
    rows: ["D4-483"],
    file: ROUTES,
    find: "{ ...definedMembers(query()), ...definedMembers(await body()) }",
    replace: "{ ...definedMembers(query()) }",
  },

  // Sessions that a controller runs.
  {
    rows: ["D0-088"],
    file: POLLED,
    find: "this.#upcoming ??= this.#exclusively",
    replace: "this.#upcoming = this.#exclusively",
  },
  {
    rows: ["D0-089"],
    file: POLLED,
    find: "this.#options.pollMs() * 2 ** this.#failures",
    replace: "2 ** this.#failures",
  },
  {
    rows: ["D4-081"],
    file: POLLED,
    find: "startNewSessionWithMessage(cwd, text,",
    replace: "startNewSessionWithMessage(cwd, title ?? text,",
  },
  {
    rows: ["D4-082"],
    file: "tutti/src/session/polled/polled-turn.ts",
    find: 'variables["TASK_TITLE"] ?? taskId',
    replace: "taskId",
  },
  {
    rows: ["D4-087"],
    file: POLLED,
    find: "const messages = readMessages(await controller.getTranscript(backendId));",
    replace: "const messages = readMessages(await controller.getTranscript(this.sessionId));",
  },
  {
    rows: ["D4-088"],
    file: "tutti/src/session/polled/polled-turn.ts",
    find: "messages.slice(from)",
    replace: "messages.slice(0)",
  },
  {
    rows: ["D4-100"],
    file: "tutti/src/session/drivers/claude/turn.ts",
    find: '    this.#emit({ type: "tool", id, ...call });\n',
    replace: "",
  },
  {
    rows: ["D4-114"],
    file: "tutti/src/session/polled/polled-host.ts",
    find: "journal.backendId !== null && !journal.end.archived",
    replace: "journal.backendId !== null && journal.end.archived",
  },

  // Templates.
  {
    rows: ["D4-119"],
    file: TEMPLATES,
    find: "systemFolder: this.templatesDir",
    replace: 'systemFolder: join(templatesDir, "system")',
  },
  {
    rows: ["D4-120", "D4-377"],
    file: TEMPLATES,
    find: 'join(templatesDir, "custom")',
    replace: 'join(templatesDir, "user")',
  },
  {
    rows: ["D4-376"],
    file: TEMPLATES,
    find: "this.templatesDir = templatesDir;",
    replace: 'this.templatesDir = join(templatesDir, "templates");',
  },
  { rows: ["D4-378"], file: TEMPLATES, find: "    await this.loadAllTemplates();\n", replace: "" },
  { rows: ["D4-379"], file: TEMPLATES, find: "      return valid;\n", replace: "      return true;\n" },
  { rows: ["D4-379"], file: TEMPLATES, find: "valid ? null : errors", replace: "errors" },
  {
    rows: ["D4-380"],
    file: TEMPLATES,
    find: "if (raw) this.templates.set(id, raw);",
    replace: 'if (raw && !id.startsWith("_")) this.templates.set(id, raw);',
  },
  {
    rows: ["D4-243"],
    file: TEMPLATES,
    find: "if (errors.length > 0) console.warn(",
    replace: "if (errors.length > 1) console.warn(",
  },
  {
    rows: ["D4-243"],
    file: TEMPLATES,
    find: "if (raw) this.templates.set(id, raw);",
    replace: "if (raw && errors.length === 0) this.templates.set(id, raw);",
  },
  { rows: ["D4-377"], file: TEMPLATES, find: "    this.resolvedCache.set(id, template);\n", replace: "" },
  {
    rows: ["D4-381"],
    file: TEMPLATES,
    find: "return structuredClone(template);",
    replace: "return this.#library.raw(id) as unknown as Template;",
  },
  {
    rows: ["D4-382"],
    file: "tutti/src/template/summary.ts",
    find: 'extends: textOf(source, "extends") ?? null',
    replace: 'extends: textOf(source, "extends") ?? ""',
  },
  { rows: ["D4-382"], file: TEMPLATES, find: ", errors: _errors, ...row }", replace: ", ...row }" },
  {
    rows: ["D4-383", "D4-384", "D4-386"],
    file: TEMPLATES,
    find: "    return template;\n",
    replace: "    return this.#library.raw(template.id) as unknown as Template;\n",
  },
  {
    rows: ["D4-384"],
    file: EDIT,
    find: "mustFit(merge(file.raw, patch), place)",
    replace: "mustFit({ ...file.raw, ...patch }, place)",
  },
  {
    rows: ["D4-151"],
    file: EDIT,
    find: "if (!existing) return;",
    replace: 'if (!existing || existing.place.name === "system") return;',
  },
  {
    rows: ["D4-152"],
    file: EDIT,
    find: "if (!existing) return;",
    replace: 'if (!existing || existing.place.name === "user") return;',
  },
  {
    rows: ["D4-153", "D4-244"],
    file: LIBRARY,
    find: "const raw = mustFit(complete, place);",
    replace: "const raw = isObject(complete) ? complete : mustFit(complete, place);",
  },
  {
    rows: ["D4-244"],
    file: "tutti/src/template/check/template-error.ts",
    find: "`Invalid template: ${",
    replace: "`The template is not valid: ${",
  },
  {
    rows: ["D4-155", "D4-159"],
    file: LIBRARY,
    // Built-in templates stay protected: the tests would change the files of the copy.
    find: 'if (placed.place.name === "system") throw',
    replace: 'if (placed.place.name === "system" && placed.place.outer === null) throw',
  },
  {
    rows: ["D4-156"],
    file: EDIT,
    find: 'patch["id"] !== undefined && patch["id"] !== id',
    replace: 'patch["id"] !== undefined && typeof patch["id"] !== "string"',
  },
  {
    rows: ["D4-158"],
    file: TEMPLATES,
    find: "this.resolvedCache.clear();\n    this.templates.set(",
    replace: "this.resolvedCache.delete(template.id);\n    this.templates.set(",
  },
  { rows: ["D4-160"], file: EDIT, find: "if (children.length > 0)", replace: "if (children.length > 1)" },
  { rows: ["D4-161"], file: LIBRARY, find: "    removeFile(placed.file.path);\n", replace: "" },
  {
    rows: ["D4-162"],
    file: TEMPLATES,
    find: "this.templates.delete(id);\n    this.resolvedCache.clear();",
    replace: "this.templates.delete(id);",
  },
  { rows: ["D4-385"], file: TEMPLATES, find: "    this.templates.delete(id);\n", replace: "" },
  {
    rows: ["D4-163"],
    file: LIBRARY,
    find: "name: newName, extends: id }",
    replace: 'name: newName, extends: "_default" }',
  },
  {
    rows: ["D4-386"],
    file: LIBRARY,
    find: "name: newName, extends: id }",
    replace: "name: id, extends: id }",
  },
  {
    rows: ["D4-131"],
    file: "tutti/src/template/find-chain.ts",
    find: 'parentId].join(" -> ")',
    replace: 'parentId].join(", ")',
  },
  { rows: ["D4-131"], file: TEMPLATES, find: "[...visited, id].join(", replace: "[...visited].join(" },
  { rows: ["D4-387"], file: TEMPLATES, find: "    visited.add(id);\n", replace: "" },
  {
    rows: ["D4-388"],
    file: "tutti/src/template/check/validate-template.ts",
    find: "warnings: resolution.warnings }",
    replace: "warnings: [] }",
  },
  {
    rows: ["D4-388"],
    file: "tutti/src/template/check/validate-template.ts",
    find: "validation: failed(resolved.errors)",
    replace: "validation: failed([])",
  },
  {
    rows: ["D4-389"],
    file: "tutti/src/template/render.ts",
    find: 'value.join(", ")',
    replace: 'value.join(",")',
  },
  {
    rows: ["D4-390"],
    file: LIBRARY,
    find: "return this.#system.find(id) !== undefined;",
    replace: 'return this.#system.find(id) !== undefined && id.startsWith("_");',
  },
  {
    rows: ["D4-391"],
    file: "tutti/src/template/template-id.ts",
    find: ".replaceAll(/[^a-z0-9]+/g,",
    replace: ".replaceAll(/ +/g,",
  },
  {
    rows: ["D4-391"],
    file: "tutti/src/template/template-id.ts",
    find: "if (!isTaken(id)) return id;",
    replace: "return id;",
  },
  {
    rows: ["D4-392"],
    file: SCHEMA,
    find: "hideWorkersFromList: z.boolean().default(true)",
    replace: "hideWorkersFromList: z.boolean()",
  },
  { rows: ["D4-392"], file: SCHEMA, find: "DEFAULT_MAX_RETRIES = 2", replace: "DEFAULT_MAX_RETRIES = 0" },
  {
    rows: ["D4-393"],
    file: SCHEMA,
    find: "analysis: z.strictObject(timed(120_000)).prefault({})",
    replace: "analysis: z.strictObject(timed(120_000)).optional()",
  },
  { rows: ["D4-395"], file: SCHEMA, find: "  format: AnswerFormat.optional(),\n", replace: "" },
  {
    rows: ["D4-520"],
    file: "tutti/src/template/files/watched-templates.ts",
    find: 'isSystem: place.name === "system"',
    replace: "isSystem: false",
  },
];

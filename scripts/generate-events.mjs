// Renders docs/events.md from the event schemas and the comments beside them. `npm run schemas` writes the page, and
// events-page.test.ts fails if the page is out of date.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAst } from "vitest/node";
import { AggregationAnswer, CompletionAnswer, VerificationAnswer } from "../packages/tutti/src/schema/answer.ts";
import { Budget } from "../packages/tutti/src/schema/budget.ts";
import { Ending } from "../packages/tutti/src/schema/ending.ts";
import { Decision, EVENTS, isInformational } from "../packages/tutti/src/schema/event.ts";
import { InboxItem } from "../packages/tutti/src/schema/inbox.ts";
import { Conflict, Usage } from "../packages/tutti/src/schema/outcome.ts";
import { PHASES, RUN_STATUSES } from "../packages/tutti/src/schema/status.ts";
import { Task } from "../packages/tutti/src/schema/task.ts";
import { Template } from "../packages/tutti/src/schema/template.ts";
import { ToolStats } from "../packages/tutti/src/schema/worker.ts";

/** @typedef {{ type: string; start: number; [field: string]: any }} Node */

export const eventsFile = fileURLToPath(new URL("../docs/events.md", import.meta.url));

/**
 * Schemas that several events share, with the file of each. Templates have their own page.
 *
 * @type {Record<string, [schema: object, file: string]>}
 */
const SHARED = {
  Task: [Task, "task"],
  ToolStats: [ToolStats, "worker"],
  Usage: [Usage, "outcome"],
  Budget: [Budget, "budget"],
  Ending: [Ending, "ending"],
  Conflict: [Conflict, "outcome"],
  Decision: [Decision, "event"],
  InboxItem: [InboxItem, "inbox"],
  CompletionAnswer: [CompletionAnswer, "answer"],
  AggregationAnswer: [AggregationAnswer, "answer"],
  VerificationAnswer: [VerificationAnswer, "answer"],
};

/** @type {Map<object, string>} */
const NAMES = new Map([[Template, "[Template](templates.md)"]]);
for (const [name, [schema]] of Object.entries(SHARED)) NAMES.set(schema, `[${name}](#${name.toLowerCase()})`);

/** Lists that are too long to repeat. */
const LISTS = new Map([
  [PHASES.join(), "phase"],
  [RUN_STATUSES.join(), "status of a run"],
]);

const INTRODUCTION = `# Events

<!-- Written by \`npm run schemas\` from packages/tutti/src/schema/event.ts; to change it, change the schemas. -->

Every change of a run is an event in its log. \`GET /api/runs/:id/events\` returns the log of a run.
\`GET /api/events\` streams all events live, as server-sent events or over a WebSocket: see [api.md](api.md#live-events).

The server sends every event in a frame:

\`\`\`json
{ "seq": 123, "run": "orch_…", "runSeq": 7, "type": "worker:started", "data": {}, "timestamp": "2026-01-31T12:00:00.000Z" }
\`\`\`

\`seq\` counts over the whole server, \`runSeq\` within the run, both from 1, without gaps and without repeats. \`run\` is null
for events that belong to no run. The sections below list the types and the members of \`data\`. Members and types may be
added, so ignore those that you do not know. Times inside \`data\` are milliseconds since 1970 unless they are strings.

A phase is one of ${PHASES.map((phase) => `\`${phase}\``).join(", ")}; the status of a run one of
${RUN_STATUSES.map((status) => `\`${status}\``).join(", ")}.`;

/** @returns {string} */
export function renderEvents() {
  const file = schemaFile("event");
  const table = objectIn(constant(file, "EVENTS"));
  const types = Object.entries(EVENTS).map(([type, schema]) => {
    const property = table.properties.find((/** @type {Node} */ each) => each.key?.value === type);
    const tells = isInformational(/** @type {any} */ (type)) ? ["Informational: no rule reads this event."] : [];
    const about = [commentBefore(file.text, property), ...tells].filter((part) => part !== "");
    return [`## \`${type}\``, ...about, members(schema, file.text, objectIn(property.value))].join("\n\n");
  });
  const shared = Object.entries(SHARED).map(([name, [schema, from]]) => {
    const source = schemaFile(from);
    const node = constant(source, name);
    const about = commentBefore(source.text, node.statement);
    return [`## ${name}`, ...(about === "" ? [] : [about]), members(schema, source.text, objectIn(node))].join("\n\n");
  });
  return `${[INTRODUCTION, ...types, "# Parts of several events", ...shared].join("\n\n")}\n`;
}

/**
 * Returns a table of a schema's members. Their comments precede them in the object literal of the schema.
 *
 * @param {any} schema
 * @param {string} text
 * @param {Node | null} object
 */
function members(schema, text, object) {
  const shape = shapeOf(schema);
  const names = Object.keys(shape);
  if (names.length === 0) return "No members.";
  const rows = names.map((name) => {
    const node = object?.properties.find((/** @type {Node} */ each) => (each.key?.name ?? each.key?.value) === name);
    const { type, optional } = typeOf(shape[name]);
    const meaning = [node ? commentBefore(text, node) : "", optional ? "May be missing." : ""];
    return `| \`${name}\` | ${type.replaceAll("|", "\\|")} | ${meaning.filter((part) => part !== "").join(" ")} |`;
  });
  return ["| member | type | meaning |", "|---|---|---|", ...rows].join("\n");
}

/**
 * @param {any} schema
 * @returns {Record<string, any>}
 */
function shapeOf(schema) {
  if (schema.shape) return schema.shape;
  const inner = schema.def.innerType ?? schema.def.in;
  return inner ? shapeOf(inner) : {};
}

/**
 * @param {any} schema
 * @returns {{ type: string; optional: boolean }}
 */
function typeOf(schema) {
  const name = NAMES.get(schema);
  if (name) return { type: name, optional: false };
  const { def } = schema;
  const inner = () => typeOf(def.innerType).type;
  switch (def.type) {
    case "optional":
      return { type: inner(), optional: true };
    case "default":
    case "prefault":
      return { type: inner(), optional: false };
    case "nullable":
      return { type: `${inner()} or null`, optional: false };
    case "array":
      return { type: `list of ${typeOf(def.element).type}`, optional: false };
    case "record":
      return { type: `${typeOf(def.valueType).type} by name`, optional: false };
    case "enum": {
      const values = Object.values(def.entries);
      return { type: LISTS.get(values.join()) ?? values.map(quoted).join(", "), optional: false };
    }
    case "literal":
      return { type: def.values.map(quoted).join(", "), optional: false };
    case "union":
      return { type: def.options.map((/** @type {any} */ each) => typeOf(each).type).join(" or "), optional: false };
    case "pipe":
      return typeOf(def.out);
    case "object": {
      const parts = Object.entries(shapeOf(schema)).map(([key, each]) => {
        const { type, optional } = typeOf(each);
        return `\`${key}\`${optional ? " (may be missing)" : ""}: ${type}`;
      });
      return { type: `{ ${parts.join("; ")} }`, optional: false };
    }
    case "unknown":
    case "any":
      return { type: "anything", optional: false };
    default:
      return { type: def.type, optional: false };
  }
}

/** @param {unknown} value */
const quoted = (value) => `\`${JSON.stringify(value)}\``;

/** @param {string} name */
function schemaFile(name) {
  const text = readFileSync(new URL(`../packages/tutti/src/schema/${name}.ts`, import.meta.url), "utf8");
  return { text, program: /** @type {any} */ (parseAst(text, { lang: "ts" })) };
}

/**
 * Finds the initialiser of an exported name and its export statement.
 *
 * @param {{ program: any }} file
 * @param {string} name
 */
function constant({ program }, name) {
  for (const statement of program.body) {
    for (const { id, init } of statement.declaration?.declarations ?? []) {
      if (id.name === name) return { ...init, statement };
    }
  }
  throw new Error(`the schema "${name}" is not exported`);
}

/**
 * Finds the object literal inside a schema's calls.
 *
 * @param {Node | null | undefined} node
 * @returns {any}
 */
function objectIn(node) {
  if (!node) return null;
  if (node.type === "ObjectExpression") return node;
  if (node.type === "CallExpression") return objectIn(node["arguments"][0]) ?? objectIn(node["callee"].object);
  return objectIn(node["expression"]);
}

/**
 * Returns the comment directly before a node, as one paragraph.
 *
 * @param {string} text
 * @param {Node} node
 */
function commentBefore(text, { start }) {
  const [, comment = ""] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(text.slice(0, start)) ?? [];
  return comment
    .split("\n")
    .map((line) => line.replace(/^\s*\*?\s?/, "").trim())
    .join(" ")
    .trim();
}

// The description of the API in OpenAPI 3.1, made from the table of routes.
import { z } from "zod";
import { errorsOf, readRouteKey, roleOf, statusOfError, type Route } from "../schema/api/route.ts";
import { aliasOf, API_VERSION, ROUTES } from "../schema/api/routes.ts";
import * as values from "../schema/api/run-values.ts";
import { LaunchedRun } from "../schema/api/schedule-routes.ts";
import { SubSessionRelation } from "../schema/api/sub-session-routes.ts";
import { RawTemplate, TemplateSummary } from "../schema/api/template-routes.ts";
import { Template } from "../schema/template.ts";

type Json = Record<string, unknown>;

export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: { name: string; in: string; required: boolean; description?: string; schema: Json }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Json }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Json }> }>;
  security: Record<string, string[]>[];
}

export interface Description extends Json {
  openapi: "3.1.1";
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json>; securitySchemes: Json };
}

const ErrorAnswer = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() }),
});

/** Answers that have a name of their own in the description. */
const NAMED = {
  Error: ErrorAnswer,
  Template,
  RawTemplate,
  TemplateSummary,
  Done: values.Done,
  RunSummary: values.RunSummary,
  RunState: values.RunState,
  WorkerState: values.WorkerState,
  WaitingItem: values.WaitingItem,
  AggregatedStats: values.AggregatedStats,
  Frame: values.Frame,
  TranscriptEntry: values.TranscriptEntry,
  Outcome: values.Outcome,
  RunGraph: values.RunGraph,
  RunTimeline: values.RunTimeline,
  RunUsage: values.RunUsage,
  LaunchedRun,
  SubSessionRelation,
} satisfies Record<string, z.ZodType>;

const PARAMS: Record<string, string> = {
  id: "The id of the run, or of the template.",
  key: "The name of a session.",
  childSessionId: "The id of a sub-session.",
  parentSessionId: "The id of the session that has started it.",
  itemId: "The id of something in the inbox.",
  name: "The name of a protocol, token, schedule or trigger.",
};

const INTRODUCTION =
  "Orchestrates coding agents. Every request but the one for health carries the token, as a bearer token or as the " +
  "cookie that the printed URL sets; each route names the role that its token must have at least: view, operate or " +
  "admin. Errors have one shape; nothing that failed has changed any state. Lists are bare " +
  "arrays, ascending, at most `limit` long; go on with `after` until one is empty.";

let described: Description | null = null;

/** The same every time: it is made once. */
export function describeApi(): Description {
  return (described ??= make());
}

function make(): Description {
  const answers = answerSchemas();
  const paths: Description["paths"] = {};
  for (const [key, route] of Object.entries<Route>(ROUTES)) {
    for (const address of [key, aliasOf(key) ?? []].flat()) {
      const { method, path } = readRouteKey(address);
      const operations = (paths[path.replaceAll(/:(\w+)/g, "{$1}")] ??= {});
      operations[method.toLowerCase()] = operationOf(address, route, answers(key));
    }
  }
  return {
    openapi: "3.1.1",
    info: { title: "Tutti", version: API_VERSION, description: INTRODUCTION },
    paths,
    components: {
      schemas: Object.fromEntries(Object.keys(NAMED).map((name) => [name, answers(name)])),
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        cookie: { type: "apiKey", in: "cookie", name: "tutti_PORT" },
        signature: { type: "apiKey", in: "header", name: "X-Hub-Signature-256" },
      },
    },
    security: [{ token: [] }, { cookie: [] }],
  };
}

function operationOf(key: string, route: Route, answer: Json): Operation {
  const role = roleOf(key, route);
  const { method, path, params } = readRouteKey(key);
  const { summary, query, body, bodyType, headers = {}, status = 200, repeated, type = "application/json" } = route;
  const content = { [type]: { schema: answer } };
  return {
    operationId: operationId(method, path),
    summary,
    tags: [
      path
        .replace(/^\/(api\/)?/, "")
        .split("/")[0]!
        .replace(".json", ""),
    ],
    parameters: [
      ...params.map((name) => ({
        name,
        in: "path",
        required: true,
        description: PARAMS[name]!,
        schema: { type: "string" },
      })),
      ...Object.entries(query?.shape ?? {}).map(([name, member]) => queryParameter(name, member as z.ZodType)),
      ...Object.entries(headers).map(([name, description]) => ({
        name,
        in: "header",
        required: false,
        description,
        schema: { type: "string" },
      })),
    ],
    ...(body && {
      requestBody: { required: !isOptional(body), content: contentOf(schemaOf(body, "input"), bodyType) },
    }),
    responses: {
      ...(repeated !== undefined && { 200: { description: repeated, content } }),
      [status]: { description: "Done.", content },
      ...refusals(key, route),
    },
    security: securityOf(role, route),
  };
}

function securityOf(role: string | null, { signed }: Route): Operation["security"] {
  if (signed) return [{ signature: [] }];
  // OpenAPI has a place for the names of roles here.
  return role === null ? [] : [{ token: [role] }, { cookie: [role] }];
}

/** What is read from a string is described as what it stands for. */
function queryParameter(name: string, member: z.ZodType): Operation["parameters"][number] {
  const { description, ...schema } = schemaOf(member, "output");
  return {
    name,
    in: "query",
    required: !isOptional(member),
    ...(typeof description === "string" && { description }),
    schema,
  };
}

const isOptional = (schema: z.ZodType): boolean => schema.safeParse(undefined).success;

function refusals(key: string, route: Route): Operation["responses"] {
  const byStatus = Map.groupBy(errorsOf(key, route), (code) => statusOfError(route, code));
  const statuses = [...byStatus.keys()].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: byStatus.get(status)!.join(", "), content: contentOf({ $ref: refTo("Error") }) },
    ]),
  );
}

const contentOf = (schema: Json, type = "application/json"): Record<string, { schema: Json }> => ({
  [type]: { schema },
});
const refTo = (name: string): string => `#/components/schemas/${name}`;

function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

/** The schema of every answer, by its name or its route; what has a name is only pointed to from the others. */
function answerSchemas(): (name: string) => Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id });
  const own: Record<string, Json> = {};
  for (const [key, { response }] of Object.entries<Route>(ROUTES)) {
    const named = registry.get(response);
    if (named) own[key] = { $ref: refTo(named.id) };
    else registry.add(response, { id: key });
  }
  const { schemas } = z.toJSONSchema(registry, { io: "output", unrepresentable: "any", uri: refTo });
  return (name) => {
    const { $schema: _schema, $id: _id, ...schema } = (own[name] ?? schemas[name]) as Json;
    return schema;
  };
}

/** `POST /api/orchestrator/:id/confirm-tasks` is postOrchestratorByIdConfirmTasks. */
function operationId(method: string, path: string): string {
  const words = path
    .replace("/api/", "")
    .replaceAll(":", "by-")
    .split(/[^A-Za-z0-9]+/);
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  return method.toLowerCase() + words.map(capital).join("");
}

// Builds the OpenAPI 3.1 description of the API from `ROUTES`.
import { z } from "zod";
import { errorsOf, readRouteKey, roleOf, statusOfError, type Route } from "../schema/api/route.ts";
import { addressesOf, API_VERSION, ROUTES } from "../schema/api/routes.ts";
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

/** Response schemas that the description lists under `components` and refers to by name. */
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
  id: "The id of the run or template.",
  key: "The id of a session.",
  childSessionId: "The id of a sub-session.",
  parentSessionId: "The id of the session that started it.",
  itemId: "The id of an inbox item.",
  name: "The name of a protocol, token, schedule or trigger.",
};

const INTRODUCTION =
  "Orchestrates coding agents. Every request except the health check carries the token, as a bearer token or as the " +
  "cookie that the printed URL sets. Each route names the role that the token needs: view, operate or admin. A higher " +
  "role includes the lower ones. All errors have the same shape, and a failed request changes no state. Lists are bare " +
  "arrays in ascending order with at most `limit` items. To page, repeat the request with `after` until the list is empty.";

let cached: Description | null = null;

export function describeApi(): Description {
  return (cached ??= buildDescription());
}

function buildDescription(): Description {
  const answers = answerSchemas();
  const paths: Description["paths"] = {};
  for (const [key, route] of Object.entries<Route>(ROUTES)) {
    for (const address of addressesOf(key)) {
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
      [status]: { description: "Success.", content },
      ...errorResponses(key, route),
    },
    security: securityOf(role, route),
  };
}

function securityOf(role: string | null, { signed }: Route): Operation["security"] {
  if (signed) return [{ signature: [] }];
  // OpenAPI 3.1 allows role names in the list of scopes.
  return role === null ? [] : [{ token: [role] }, { cookie: [role] }];
}

/** Describes the `output` type: a query string is text, but `limit` should read as a number. */
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

function errorResponses(key: string, route: Route): Operation["responses"] {
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

/** Returns the schema of every response by its route or its name in `NAMED`. Routes refer to named schemas by `$ref`. */
function answerSchemas(): (name: string) => Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id });
  const references: Record<string, Json> = {};
  for (const [key, { response }] of Object.entries<Route>(ROUTES)) {
    const named = registry.get(response);
    if (named) references[key] = { $ref: refTo(named.id) };
    else registry.add(response, { id: key });
  }
  const { schemas } = z.toJSONSchema(registry, { io: "output", unrepresentable: "any", uri: refTo });
  return (name) => {
    const { $schema: _schema, $id: _id, ...schema } = (references[name] ?? schemas[name]) as Json;
    return schema;
  };
}

/** For example, `operationId` of `POST /api/orchestrator/:id/confirm-tasks` is `postOrchestratorByIdConfirmTasks`. */
function operationId(method: string, path: string): string {
  const words = path
    .replace("/api/", "")
    .replaceAll(":", "by-")
    .split(/[^A-Za-z0-9]+/);
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  return method.toLowerCase() + words.map(capital).join("");
}

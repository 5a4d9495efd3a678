// The OpenAPI description is valid, complete, and matches the server's responses.
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readRouteKey, type Route } from "../../src/schema/api/route.ts";
import { addressesOf, API_VERSION, ROUTES } from "../../src/schema/api/routes.ts";
import { describeApi, type Operation } from "../../src/server/describe-api.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { ServerLab } from "./server-lab.ts";

const description = describeApi();
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: "urn:tutti:api", ...description });

/** Strict schema of the subset of OpenAPI 3.1 that we use. */
const SHAPE = {
  type: "object",
  required: ["openapi", "info", "paths", "components", "security"],
  additionalProperties: false,
  properties: {
    openapi: { pattern: "^3\\.1\\.\\d+$" },
    info: {
      required: ["title", "version"],
      properties: { title: { type: "string" }, version: { pattern: "^\\d+\\.\\d+\\.\\d+$" } },
    },
    paths: {
      propertyNames: { pattern: "^/" },
      additionalProperties: {
        propertyNames: { enum: ["get", "put", "post", "delete"] },
        additionalProperties: { $ref: "#/$defs/operation" },
      },
    },
    components: {
      additionalProperties: false,
      properties: {
        schemas: { propertyNames: { pattern: "^[a-zA-Z0-9._-]+$" }, additionalProperties: { type: "object" } },
        securitySchemes: {
          additionalProperties: { required: ["type"], properties: { type: { enum: ["http", "apiKey"] } } },
        },
      },
    },
    security: { $ref: "#/$defs/security" },
  },
  $defs: {
    security: { type: "array", items: { additionalProperties: { type: "array" } } },
    operation: {
      type: "object",
      required: ["operationId", "summary", "responses"],
      additionalProperties: false,
      properties: {
        operationId: { pattern: "^[a-z][A-Za-z0-9]+$" },
        summary: { type: "string", minLength: 5 },
        tags: { type: "array", items: { type: "string" } },
        parameters: {
          type: "array",
          items: {
            required: ["name", "in", "schema"],
            additionalProperties: false,
            properties: {
              name: { type: "string" },
              in: { enum: ["path", "query", "header"] },
              required: { type: "boolean" },
              description: { type: "string" },
              schema: { type: "object" },
            },
            if: { properties: { in: { const: "path" } } },
            then: { properties: { required: { const: true } }, required: ["required"] },
          },
        },
        requestBody: {
          required: ["content"],
          additionalProperties: false,
          properties: { required: { type: "boolean" }, content: { $ref: "#/$defs/content" } },
        },
        responses: {
          minProperties: 1,
          propertyNames: { pattern: "^[1-5]\\d\\d$" },
          additionalProperties: {
            required: ["description"],
            additionalProperties: false,
            properties: { description: { type: "string" }, content: { $ref: "#/$defs/content" } },
          },
        },
        security: { $ref: "#/$defs/security" },
      },
    },
    content: {
      type: "object",
      propertyNames: { pattern: "^[a-z]+/[a-z-]+$" },
      additionalProperties: { required: ["schema"], properties: { schema: { type: "object" } } },
    },
  },
};

describe("the description", () => {
  it("is valid OpenAPI 3.1 with its own version", () => {
    const check = ajv.compile(SHAPE);
    expect([check(description), check.errors]).toEqual([true, null]);
    expect(description.info.version).toBe(API_VERSION);
    const broken = structuredClone(description) as { openapi: string };
    broken.openapi = "2.0";
    expect(check(broken)).toBe(false);
  });

  it("lists every route of the table under every address, and no other route", () => {
    const wanted = Object.keys(ROUTES)
      .flatMap((key) => addressesOf(key))
      .map((key) => key.replaceAll(/:(\w+)/g, "{$1}"));
    const found = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(found.toSorted()).toEqual(wanted.toSorted());
  });

  it("gives every operation a unique id and every path parameter an entry", () => {
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const described = operation.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
      expect([path, described]).toEqual([path, inPath]);
    }
  });

  it("has no dangling reference and no invalid schema", () => {
    const refs = [...JSON.stringify(description).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref!);
    expect(refs.length).toBeGreaterThan(50);
    for (const ref of new Set(refs)) {
      expect(ref).toMatch(/^#\/components\/schemas\/\w+$/);
      expect(Object.keys(description.components.schemas)).toContain(ref.split("/").at(-1));
    }
    for (const { path, method, operation } of operations) {
      for (const where of schemasOf(operation)) {
        const pointer = `/paths/${path.replaceAll("~", "~0").replaceAll("/", "~1")}/${method}/${where}`;
        expect(() => ajv.compile({ $ref: `urn:tutti:api#${encodeURI(pointer)}` }), pointer).not.toThrow();
      }
    }
  });

  it("lists errors by status and code, all in the same shape (E66)", () => {
    const { responses } = description.paths["/api/orchestrator/{id}/retry"]!["post"]!;
    expect(Object.keys(responses)).toEqual(["200", "400", "401", "403", "404", "409", "413", "429", "500"]);
    expect(responses["404"]!.description).toBe("run_not_found, task_not_found");
    const { responses: creating } = description.paths["/api/orchestrator"]!["post"]!;
    expect(Object.keys(creating).slice(0, 2)).toEqual(["200", "201"]);
    expect(creating["422"]!.description).toContain("idempotency_mismatch");
    const template = description.paths["/api/templates/{id}"]!["get"]!.responses;
    expect(template["404"]!.description).toContain("template_not_found");
    expect(description.paths["/api/health"]!["get"]!.responses).not.toHaveProperty("401");
  });
});

/** JSON pointers of the schemas in an operation. */
function schemasOf({ parameters, requestBody, responses }: Operation): string[] {
  const type = (name: string) => name.replaceAll("/", "~1");
  return [
    ...parameters.map((_, place) => `parameters/${place}/schema`),
    ...Object.keys(requestBody?.content ?? {}).map((name) => `requestBody/content/${type(name)}/schema`),
    ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.keys(content).map((name) => `responses/${status}/content/${type(name)}/schema`),
    ),
  ];
}

describe("the served description", () => {
  let lab: ServerLab;
  let id: string;
  beforeAll(async () => {
    lab = await ServerLab.open();
    const agent = lab.lab.scenario([...mainSession([{ id: "a" }, { id: "b", dependencies: ["a"] }]), goodWorker]);
    id = await lab.create(agent, { autoStart: true, config: { autoSpawn: true } });
    await lab.until(id, ({ released }) => released);
  });
  afterAll(() => lab.tearDown());

  it("is JSON and needs the token", async () => {
    const { status, json } = await lab.api("/api/openapi.json");
    expect([status, json]).toEqual([200, JSON.parse(JSON.stringify(description))]);
    expect((await lab.ask("/api/openapi.json")).status).toBe(401);
  });

  it("matches the server's responses about a run", async () => {
    const paths = Object.entries<Route>(ROUTES)
      .map(([key, route]) => ({ ...readRouteKey(key), route }))
      .filter(({ method, path, route }) => method === "GET" && /:id(\/\w+)?$/.test(path) && route.type === undefined)
      .filter(({ path }) => !path.includes("templates"));
    expect(paths.length).toBeGreaterThan(6);
    for (const { path } of paths) {
      const { json } = await lab.api(path.replace(":id", id));
      const place = path.replace(":id", "{id}").replaceAll("/", "~1");
      const pointer = `/paths/${place}/get/responses/200/content/application~1json/schema`;
      const check = ajv.compile({ $ref: `urn:tutti:api#${encodeURI(pointer)}` });
      expect([path, check(json), check.errors]).toEqual([path, true, null]);
    }
  });

  it("is also an HTML page that loads no external resource and runs no script", async () => {
    const { status, headers, text } = await lab.api("/api/docs");
    expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=UTF-8"]);
    expect(headers["content-security-policy"]).toContain("default-src 'self'");
    expect(text).not.toMatch(/<script|<style|style=|src=|on\w+=|https?:\/\/(?!json-schema)/);
    for (const { path, method, operation } of operations) {
      expect(text).toContain(`<code>${method.toUpperCase()} ${path}</code>`);
      expect(text).toContain(`id="${operation.operationId}"`);
    }
    for (const [, name] of text.matchAll(/href="#([\w-]+)"/g)) expect(text).toContain(`id="${name}"`);
  });
});

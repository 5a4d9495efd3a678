// Every route behaves as `ROUTES` declares. A route without cases in route-cases.ts fails here.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { errorsOf, readRouteKey, type Route } from "../../src/schema/api/route.ts";
import { addressesOf, inRoutingOrder, ROUTES, type RouteKey } from "../../src/schema/api/routes.ts";
import { ERRORS } from "../../src/schema/error.ts";
import { CASES, dependsOnState, missingCases, Scene, takesInput, type Call } from "./route-cases.ts";
import { ServerLab } from "./server-lab.ts";

const TABLE = Object.entries<Route>(ROUTES) as [RouteKey, Route][];
const NO_CASE = () => ({});

let lab: ServerLab;
let scene: Scene;
beforeAll(async () => {
  lab = await ServerLab.open();
  scene = new Scene(lab);
  await scene.setUp();
});
afterAll(() => lab.tearDown());

async function ask(key: string, { params = {}, query = {}, body, headers = {} }: Call, token = lab.bearer) {
  const { method, path } = readRouteKey(key);
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? "x"));
  const search = new URLSearchParams(query).toString();
  const request = { method, body, headers: { ...token, ...headers } };
  const response = await lab.open(`${filled}${search === "" ? "" : `?${search}`}`, request);
  const type = response.headers["content-type"] ?? "";
  if (type.startsWith("text/event-stream")) {
    response.destroy();
    return { status: response.statusCode, type, json: null, text: "" };
  }
  const text = (await response.toArray()).join("");
  return {
    status: response.statusCode,
    type,
    text,
    json: type.startsWith("application/json") ? JSON.parse(text) : null,
  };
}

describe("the table of routes", () => {
  it("has cases for a success, an invalid input and, for stateful routes, a conflict", () => {
    expect(missingCases(ROUTES, CASES)).toEqual([]);
  });

  it("reports a route without cases", () => {
    const odd: Route = { summary: "", body: z.string(), response: z.string(), errors: ["wrong_state"] };
    const key = "POST /api/odd";
    expect(missingCases({ [key]: odd }, {})).toEqual([`${key}: success`, `${key}: wrong input`, `${key}: conflict`]);
    expect(missingCases({ [key]: odd }, { [key]: { success: NO_CASE, wrong: NO_CASE } })).toEqual([`${key}: conflict`]);
    const plain = { "GET /api/odd": { summary: "", response: z.string(), errors: [] } };
    expect(missingCases(plain, { "GET /api/odd": { success: NO_CASE } })).toEqual([]);
  });

  it("matches fixed path segments before parameters (E63)", () => {
    const order = inRoutingOrder(Object.keys(ROUTES) as RouteKey[]);
    const place = (key: RouteKey) => order.indexOf(key);
    expect(place("GET /api/orchestrator/templates")).toBeLessThan(place("GET /api/orchestrator/:id"));
    expect(place("GET /api/orchestrator/:id/workers/stats")).toBeLessThan(
      place("GET /api/orchestrator/:id/workers/:key"),
    );
  });

  it("lists only errors with a documented status", () => {
    const documented = [400, 401, 403, 404, 409, 413, 422, 429, 500];
    for (const [key, route] of TABLE) {
      for (const code of errorsOf(key, route)) expect(documented, `${key} ${code}`).toContain(ERRORS[code].status);
    }
  });
});

describe("a body that is too large to validate", () => {
  const bodies = TABLE.filter(([, { body, bodyType, signed }]) => body && bodyType === undefined && !signed);
  const deep = '{"a":'.repeat(5000) + "1" + "}".repeat(5000);
  const wide = `{"a":[${"1,".repeat(100_000)}1]}`;

  it.each(bodies)("to %s gets 400, by depth and by count, and the server continues", async (key) => {
    // Only these calls name something that exists and create nothing.
    const { success, wrong } = CASES[key];
    const { params = {} } = await (key.startsWith("POST /api/protocols") ? success : wrong!)(scene);
    for (const [body, why] of [
      [deep, /nested more than 64 levels/],
      [wide, /more than 50000 values/],
    ] as const) {
      const { status, json } = await ask(key, { params, body });
      expect([status, json.error.code, json.error.message]).toEqual([400, "invalid_input", expect.stringMatching(why)]);
    }
    expect((await lab.api("/api/inbox")).status).toBe(200);
  });

  it("lists at most 20 problems of a long list", async () => {
    const decisions = Array.from({ length: 10_000 }, () => ({}));
    const params = { id: scene.busy };
    const { status, json } = await ask("POST /api/orchestrator/:id/decisions", { params, body: { decisions } });
    expect([status, json.error.details.length]).toEqual([400, 20]);
    expect(json.error.message).toMatch(/and \d+ more problems/);
  });
});

describe("a valid request", () => {
  it.each(TABLE)("to %s gets the response that the table declares (E66)", async (key, route) => {
    const answered = await ask(key, await CASES[key].success(scene));
    expect([answered.status, answered.text]).toEqual([route.status ?? 200, answered.text]);
    expect(answered.type).toContain(route.type ?? "application/json");
    // Parsing drops unknown members, so equality shows that the response has no undocumented ones.
    if (route.type === undefined) expect(route.response.parse(answered.json)).toEqual(answered.json);
  });
});

describe("an invalid request", () => {
  const taking = TABLE.filter(([key, route]) => takesInput(key, route));
  it.each(taking)("to %s is rejected with a code that the table lists", async (key, route) => {
    const { status, json } = await ask(key, await CASES[key].wrong!(scene));
    expect([400, 404, 422]).toContain(status);
    expect(Object.keys(json.error).filter((name) => name !== "details")).toEqual(["code", "message"]);
    expect(errorsOf(key, route)).toContain(json.error.code);
  });

  const aliases = taking.flatMap(([key]): [string, RouteKey][] =>
    addressesOf(key)
      .slice(1)
      .map((alias) => [alias, key]),
  );
  it.each(aliases)("to %s is rejected like one to its address in document 004", async (alias, key) => {
    const call = await CASES[key].wrong!(scene);
    const [short, long] = [await ask(alias, call), await ask(key, call)];
    expect([short.status, short.json]).toEqual([long.status, long.json]);
  });
});

describe("a request without a token", () => {
  it.each(TABLE)("to %s returns 401 unless the table marks the route as open", async (key, { open }) => {
    const { status, json } = await ask(key, {}, {});
    expect([status, json?.error?.code]).toEqual(open ? [200, undefined] : [401, "unauthorized"]);
  });
});

describe("a request that conflicts with the state", () => {
  const stateful = TABLE.filter(([, route]) => dependsOnState(route));
  it.each(stateful)("to %s returns 409", async (key, route) => {
    const { status, json } = await ask(key, await CASES[key].conflict!(scene));
    expect([status, json]).toEqual([409, json]);
    expect(route.errors).toContain(json.error.code);
  });
});

// Every route that returns a list: a bare array with at most `limit` items that continues with `after`.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { readRouteKey, type Route } from "../../src/schema/api/route.ts";
import { ROUTES, type RouteKey } from "../../src/schema/api/routes.ts";
import { CASES, Scene, type Call } from "./route-cases.ts";
import { ServerLab } from "./server-lab.ts";
import { teamScenario } from "../team/team-scenario.ts";

type Item = Record<string, unknown>;

interface List {
  /** Returns the value for `after` from the last item. */
  name: string;
  /** The sort key. Without it the items are in the order of the plan or of a file. */
  order?: string;
  /** A call to use instead of the one in route-cases.ts. */
  call?: (scene: Scene) => Call | Promise<Call>;
}

const LISTS: Partial<Record<RouteKey, List>> = {
  "GET /api/orchestrator": { name: "id", order: "createdAt" },
  "GET /api/orchestrator/:id/events": { name: "seq", order: "seq" },
  "GET /api/orchestrator/:id/workers": {
    name: "sessionId",
    call: ({ busy }) => ({ params: { id: busy } }),
  },
  "GET /api/orchestrator/:id/workers/:key/transcript": { name: "n", order: "n" },
  "GET /api/orchestrator/:id/messages": { name: "id", call: () => ({ params: { id: teamRun } }) },
  "GET /api/orchestrator/:id/gate": { name: "environment", call: () => ({ params: { id: teamRun } }) },
  "GET /api/hosts": { name: "id" },
  "GET /api/inbox": { name: "id", order: "createdAt" },
  "GET /api/usage": { name: "key", order: "key", call: () => ({ query: { by: "run" } }) },
  "GET /api/orchestrator/templates": { name: "id" },
  "GET /api/tokens": { name: "name", order: "name" },
  "GET /api/schedules": { name: "name" },
  "GET /api/triggers": { name: "name" },
  "GET /api/protocols": { name: "name" },
  "GET /api/subsession/parent/:parentSessionId": {
    name: "childSessionId",
    order: "createdAt",
    call: async ({ lab: { engine } }) => {
      for (const child of ["first", "second", "third"]) await engine.subSessions.register(child, "of-many");
      return { params: { parentSessionId: "of-many" } };
    },
  },
};

let lab: ServerLab;
let scene: Scene;
/** A run with messages between roles and with two environments. */
let teamRun: string;
beforeAll(async () => {
  lab = await ServerLab.open();
  scene = new Scene(lab);
  await scene.setUp();
  teamRun = await runTeam();
  for (let i = 0; i < 2; i++) await scene.waiting();
  for (const name of ["one", "two", "three"]) {
    scene.automate(name);
    scene.storeToken(name);
  }
});
afterAll(() => lab.tearDown());

async function runTeam(): Promise<string> {
  const environments = { staging: {}, live: {} };
  lab.local.templates.create({ id: "own", name: "own", extends: "hotfix", gate: { environments } });
  const agent = lab.lab.scenario(teamScenario());
  const id = await lab.create(agent, { templateId: "own", autoStart: true, config: { autoSpawn: true } });
  await lab.until(id, ({ released }) => released);
  return id;
}

async function read(key: RouteKey, { params = {}, query: caseQuery = {} }: Call, query: object = {}): Promise<Item[]> {
  const path = readRouteKey(key).path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name]!));
  const search = new URLSearchParams({ ...caseQuery, ...query });
  const { status, json } = await lab.api(`${path}?${search.toString()}`);
  expect([key, status, Array.isArray(json)]).toEqual([key, 200, true]);
  // Live sessions report progress meanwhile, which changes only these times.
  const changing = { updatedAt: null, lastActivityAt: null, lastPollAt: null };
  return (json as Item[]).map((item) => ({ ...item, ...changing }));
}

async function walk(key: RouteKey, call: Call, limit: number, { name }: List): Promise<Item[]> {
  const all: Item[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await read(key, call, { limit, ...(last && { after: String(last[name]) }) });
    expect(page.length).toBeLessThanOrEqual(limit);
    if (page.length === 0) return all;
    all.push(...page);
  }
}

describe("a list", () => {
  it("is every GET route that returns an array", () => {
    const arrays = Object.entries<Route>(ROUTES).filter(
      ([key, { response }]) => key.startsWith("GET ") && response instanceof z.ZodArray,
    );
    expect(arrays.map(([key]) => key).toSorted()).toEqual(Object.keys(LISTS).toSorted());
    for (const [key, { query }] of arrays) {
      expect([key, Object.keys(query?.shape ?? {})]).toEqual([key, expect.arrayContaining(["after", "limit"])]);
      expect([key, query!.parse({})["limit"]]).toEqual([key, 1000]);
    }
  });

  it.each(Object.entries(LISTS) as [RouteKey, List][])(
    "at %s is ascending and can be read page by page",
    async (key, list) => {
      const call = await (list.call ?? CASES[key].success)(scene);
      const whole = await read(key, call);
      expect(whole.length).toBeGreaterThan(1);
      expect(await walk(key, call, 1, list)).toEqual(whole);
      expect(await walk(key, call, 2, list)).toEqual(whole);
      if (list.order === undefined) return;
      const order = whole.map((item) => item[list.order!] as string | number);
      expect(order).toEqual(order.toSorted((a, b) => (a < b ? -1 : Number(a > b))));
    },
  );

  it("of runs with a status, or of whole templates, has no empty page before its end", async () => {
    const runs = await read("GET /api/orchestrator", {}, { status: "confirming" });
    expect(runs).toHaveLength(2);
    const query = { status: "confirming" };
    expect(await walk("GET /api/orchestrator", { query }, 1, { name: "id" })).toEqual(runs);
    lab.lab.write(".tutti/templates/broken.json", "{}");
    const project = { project: lab.lab.repo };
    const key = "GET /api/orchestrator/templates";
    expect((await read(key, { query: project })).some(({ valid }) => valid === false)).toBe(true);
    const full = { ...project, full: "1" };
    expect(await walk(key, { query: full }, 1, { name: "id" })).toEqual(await read(key, { query: full }));
  });
});

// For every route: a request that succeeds, an invalid one, and one that conflicts with the state. `missingCases` lists the
// gaps. The table is typed by `ROUTES`, so a new route without cases does not compile.
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ScriptedTask } from "../lab/scenarios.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { readRouteKey, type Route, type RouteTable } from "../../src/schema/api/route.ts";
import type { RouteKey } from "../../src/schema/api/routes.ts";
import { ERRORS } from "../../src/schema/error.ts";
import type { ServerLab } from "./server-lab.ts";

export interface Call {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
}

type Make = (scene: Scene) => Call | Promise<Call>;

export interface Cases {
  success: Make;
  /** Required if the request has input that can be invalid. */
  wrong?: Make;
  /** Required if the table lists a 409 for the route. */
  conflict?: Make;
}

/** Whether a valid request can fail with 409. */
export const dependsOnState = ({ errors, absent = [] }: Route): boolean =>
  errors.some((code) => ERRORS[code].status === 409 && !absent.includes(code));

export const takesInput = (key: string, { query, body }: Route): boolean =>
  query !== undefined || body !== undefined || readRouteKey(key).params.length > 0;

export function missingCases(routes: RouteTable, cases: Partial<Record<string, Partial<Cases>>>): string[] {
  return Object.entries(routes).flatMap(([key, route]) => {
    const { success, wrong, conflict } = cases[key] ?? {};
    return [
      ...(success ? [] : [`${key}: success`]),
      ...(wrong || !takesInput(key, route) ? [] : [`${key}: wrong input`]),
      ...(conflict || !dependsOnState(route) ? [] : [`${key}: conflict`]),
    ];
  });
}

/** Fixtures of the requests: an ended run, a created one, a running one, and more on demand. */
export class Scene {
  readonly lab: ServerLab;
  ended = "";
  created = "";
  busy = "";
  #scenarios = 0;
  readonly #automated: Record<string, object> = {};

  constructor(lab: ServerLab) {
    this.lab = lab;
  }

  async setUp(): Promise<void> {
    this.created = await this.run([{ id: "a" }], []);
    this.ended = await this.run([{ id: "a" }], [goodWorker], { autoStart: true, config: { autoSpawn: true } });
    const hangs = { match: { role: "worker", task: "a" }, turns: [{ say: "hm", then: "hang" }] };
    const failure = { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } };
    const fails = { match: { role: "worker", task: "b" }, turns: [{ block: failure }] };
    const settings = { autoStart: true, config: { autoSpawn: true } };
    this.busy = await this.run([{ id: "a" }, { id: "b" }], [hangs, fails], settings);
    await this.lab.until(this.ended, ({ released }) => released);
    await this.lab.until(this.busy, ({ workers }) => workers["b"]?.status === "failed");
    await this.lab.until(this.busy, ({ workers }) => workers["a"]?.session.turn != null);
  }

  run(tasks: ScriptedTask[], sessions: object[], more: object = {}): Promise<string> {
    return this.lab.create(this.scenario(tasks, sessions), more);
  }

  /** A scripted agent that plans these tasks and plays these sessions. */
  scenario(tasks: ScriptedTask[], sessions: object[]): string {
    return this.lab.lab.scenario([...mainSession(tasks), ...sessions], `route-${++this.#scenarios}.json`);
  }

  /** A run whose plan waits for confirmation. */
  async waiting(): Promise<string> {
    const id = await this.run([{ id: "a" }], [goodWorker], { autoStart: true });
    await this.lab.until(id, ({ status }) => status === "confirming");
    return id;
  }

  /** A run of a team whose gate an admin may override. */
  async gated(): Promise<string> {
    const gate = { environments: { staging: { override: true } } };
    const templateId = this.storeTemplate("gated", { extends: "hotfix", gate });
    const id = await this.run([{ id: "a" }], [goodWorker], { templateId, autoStart: true });
    await this.lab.until(id, ({ status }) => status === "confirming");
    return id;
  }

  /** A run that waits for a decision. */
  async undecided(): Promise<string> {
    const conflicts = [{ type: "naming", description: "Which style?", options: ["camel", "snake"] }];
    const needs = { status: "needs_input", summary: "two styles", conflicts };
    const agent = this.lab.lab.scenario(
      [...mainSession([{ id: "a" }, { id: "b" }], needs), goodWorker],
      "undecided.json",
    );
    const id = await this.lab.create(agent, { templateId: "_default", autoStart: true, config: { autoSpawn: true } });
    await this.lab.until(id, ({ status }) => status === "paused");
    return id;
  }

  newRun(more: object = {}): Call {
    const { repo } = this.lab.lab;
    return { body: { templateId: "documentation", cwd: repo, message: "write", agent: "local", ...more } };
  }

  /** The export of an ended run under another id. It names no program. */
  copy(id: string): string {
    return this.lab.engine
      .export(this.ended)
      .replaceAll(this.ended, id)
      .replaceAll(/"script:[^"]*"/g, '"local"');
  }

  key(run: string, task: string): string {
    return this.lab.engine.get(run)!.workers[task]!.sessionId;
  }

  main(run: string): string {
    return this.lab.engine.get(run)!.mainSessionId!;
  }

  subSession(child: string, parent: string): { child: string; parent: string } {
    void this.lab.engine.subSessions.register(child, parent);
    return { child, parent };
  }

  template(id: string, more: object = {}): Record<string, unknown> {
    return { id, name: id, extends: "documentation", ...more };
  }

  /** A schedule and a trigger with this name. Their runs wait for confirmation. */
  automate(name: string): { params: { name: string } } {
    const agent = this.lab.lab.scenario(mainSession([{ id: "a" }]), "automated.json");
    const { repo, data } = this.lab.lab;
    this.#automated[name] = { template: "documentation", cwd: repo, message: "write", agent };
    const all = (more: object) =>
      Object.fromEntries(Object.entries(this.#automated).map(([each, run]) => [each, { ...run, ...more }]));
    const config = { schedules: all({ cron: "0 3 * * *" }), triggers: all({ secretFile: "secret" }) };
    writeFileSync(join(data, "secret"), SECRET);
    writeFileSync(join(data, "tutti.config.json"), JSON.stringify(config));
    return { params: { name } };
  }

  storeToken(name: string): string {
    return this.lab.tokens.create({ name, role: "view" }).name;
  }

  storeTemplate(id: string, more: object = {}): string {
    this.lab.local.templates.create(this.template(id, more));
    return id;
  }
}

const SECRET = "the secret of the triggers";
const signed = (body: string) => ({
  body,
  headers: { "x-hub-signature-256": `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}` },
});
const unknownRun: Make = () => ({ params: { id: "orch_nobody" } });
const unknownWorker: Make = ({ ended }) => ({ params: { id: ended, key: "nobody" } });
const ofEnded: Make = ({ ended }) => ({ params: { id: ended } });
const ofCreated: Make = ({ created }) => ({ params: { id: created } });
const ofWaiting: Make = async (scene) => ({ params: { id: await scene.waiting() } });
const workerOfEnded: Make = (scene) => ({ params: { id: scene.ended, key: scene.key(scene.ended, "a") } });
const busyWorker = (scene: Scene) => ({ params: { id: scene.busy, key: scene.key(scene.busy, "a") } });
const noTemplate: Make = () => ({ params: { id: "nobody" } });
const unknownAfter: Make = () => ({ query: { after: "nobody" } });
const oddProject: Make = () => ({ query: { project: "not/absolute" } });
const RESPONSE = { phase: "completion", data: { task_id: "a", status: "success" } };

export const CASES: Record<RouteKey, Cases> = {
  "GET /api/health": { success: () => ({}) },
  "GET /api/openapi.json": { success: () => ({}) },
  "GET /api/docs": { success: () => ({}) },
  "GET /metrics": { success: () => ({}) },
  "GET /api/events": {
    success: () => ({ headers: { accept: "text/event-stream" } }),
    wrong: () => ({ headers: { accept: "text/event-stream" }, query: { after: "yesterday" } }),
  },
  "GET /api/access": { success: () => ({}) },
  "GET /api/tokens": { success: () => ({}), wrong: unknownAfter },
  "POST /api/tokens": {
    success: () => ({ body: { name: "new", role: "view", expiresInDays: 1 } }),
    wrong: () => ({ body: { name: "New_One", role: "view" } }),
    conflict: (scene) => ({ body: { name: scene.storeToken("there"), role: "view" } }),
  },
  "DELETE /api/tokens/:name": {
    success: (scene) => ({ params: { name: scene.storeToken("gone") } }),
    wrong: () => ({ params: { name: "nobody" } }),
  },
  "GET /api/doctor": { success: () => ({}) },
  "GET /api/settings": { success: () => ({}) },
  "GET /api/hosts": { success: () => ({}), wrong: unknownAfter },
  "POST /api/hosts/:id/drain": {
    success: () => ({ params: { id: "host_1" } }),
    wrong: () => ({ params: { id: "nobody" } }),
  },
  "DELETE /api/hosts/:id/drain": {
    success: () => ({ params: { id: "host_1" } }),
    wrong: () => ({ params: { id: "nobody" } }),
  },
  "DELETE /api/hosts/:id": {
    success: () => ({ params: { id: "host_1" } }),
    wrong: () => ({ params: { id: "nobody" } }),
  },
  "POST /api/notify/test": { success: () => ({}) },
  "GET /api/usage": { success: () => ({ query: { by: "model" } }), wrong: () => ({ query: { by: "weather" } }) },
  "POST /api/orchestrator": {
    success: (scene) => scene.newRun(),
    wrong: (scene) => scene.newRun({ cwd: "relative" }),
    conflict: (scene) => scene.newRun({ after: scene.created }),
  },
  "GET /api/orchestrator": { success: () => ({}), wrong: unknownAfter },
  "GET /api/orchestrator/:id": { success: ofEnded, wrong: unknownRun },
  "GET /api/orchestrator/:id/snapshot": { success: ofEnded, wrong: unknownRun },
  "GET /api/orchestrator/:id/events": { success: ofEnded, wrong: unknownRun },
  "GET /api/orchestrator/:id/result": { success: ofEnded, wrong: unknownRun },
  "GET /api/orchestrator/:id/diff": {
    success: ofEnded,
    wrong: ({ ended }) => ({ params: { id: ended }, query: { stat: "2" } }),
    conflict: ({ created }) => ({ params: { id: created } }),
  },
  "POST /api/orchestrator/:id/merge": {
    success: ofEnded,
    wrong: ({ ended }) => ({ params: { id: ended }, body: { noFf: "yes" } }),
    conflict: ({ created }) => ({ params: { id: created } }),
  },
  "POST /api/orchestrator/:id/drop": {
    success: ofEnded,
    wrong: unknownRun,
    conflict: ({ created }) => ({ params: { id: created } }),
  },
  "GET /api/orchestrator/:id/messages": { success: ofEnded, wrong: unknownRun },
  "GET /api/orchestrator/:id/gate": { success: ofEnded, wrong: unknownRun },
  "POST /api/orchestrator/:id/gate/override": {
    success: async (scene) => ({
      params: { id: await scene.gated() },
      body: { environment: "staging", reason: "outage" },
    }),
    wrong: ({ ended }) => ({ params: { id: ended }, body: { environment: "staging", reason: "" } }),
    conflict: ({ ended }) => ({ params: { id: ended }, body: { environment: "staging", reason: "outage" } }),
  },
  "GET /api/orchestrator/:id/graph": { success: ofEnded, wrong: unknownRun },
  "GET /api/orchestrator/:id/timeline": { success: ofEnded, wrong: unknownRun },
  "GET /api/orchestrator/:id/usage": { success: ofEnded, wrong: unknownRun },
  "POST /api/orchestrator/import": {
    success: (scene) => ({ body: scene.copy("orch_copyofanothe") }),
    wrong: () => ({ body: '{"tutti":"run","format":99}' }),
    conflict: (scene) => ({ body: scene.copy(scene.ended) }),
  },
  "GET /api/orchestrator/:id/export": { success: ofEnded, wrong: unknownRun },
  "GET /api/orchestrator/:id/replay": {
    success: ({ ended }) => ({ params: { id: ended }, query: { until: "3" } }),
    wrong: ({ ended }) => ({ params: { id: ended }, query: { until: "9999" } }),
  },
  "POST /api/orchestrator/:id/fork": {
    success: ({ ended }) => ({ params: { id: ended }, body: { at: 3, fresh: true } }),
    wrong: ({ ended }) => ({ params: { id: ended }, body: { at: 9999 } }),
  },
  "POST /api/orchestrator/:id/start": {
    success: async (scene) => ({ params: { id: await scene.run([{ id: "a" }], [goodWorker]) } }),
    wrong: unknownRun,
    conflict: ofEnded,
  },
  "POST /api/orchestrator/:id/activate": { success: ofEnded, wrong: unknownRun },
  "POST /api/orchestrator/:id/pause": { success: ofWaiting, wrong: unknownRun, conflict: ofEnded },
  "POST /api/orchestrator/:id/resume": {
    success: async (scene) => {
      const id = await scene.waiting();
      await scene.lab.engine.order(id, "pause");
      return { params: { id } };
    },
    wrong: unknownRun,
    conflict: ofCreated,
  },
  "POST /api/orchestrator/:id/cancel": { success: ofWaiting, wrong: unknownRun, conflict: ofEnded },
  "POST /api/orchestrator/:id/confirm-tasks": {
    success: ofWaiting,
    wrong: ({ created }) => ({ params: { id: created }, body: { modifications: [] } }),
    conflict: ofCreated,
  },
  "POST /api/orchestrator/:id/edit-plan": {
    success: async (scene) => ({
      params: { id: await scene.waiting() },
      body: { added: [{ id: "more", title: "More", description: "Do more" }] },
    }),
    wrong: ({ created }) => ({ params: { id: created }, body: { modifications: { a: { skip: true } } } }),
    conflict: ({ created }) => ({ params: { id: created }, body: {} }),
  },
  "POST /api/orchestrator/:id/confirm-ahead": { success: ofWaiting, wrong: unknownRun },
  "POST /api/orchestrator/:id/request-changes": {
    success: async (scene) => ({ params: { id: await scene.waiting() }, body: { text: "shorter" } }),
    wrong: ({ created }) => ({ params: { id: created }, body: { text: "" } }),
    conflict: ({ created }) => ({ params: { id: created }, body: { text: "shorter" } }),
  },
  "POST /api/orchestrator/:id/decisions": {
    success: async (scene) => ({
      params: { id: await scene.undecided() },
      body: { decisions: [{ index: 0, option: 1 }] },
    }),
    wrong: ({ created }) => ({ params: { id: created }, body: { decisions: [{ index: 0 }] } }),
    conflict: ({ created }) => ({ params: { id: created }, body: { decisions: [{ index: 0, option: 0 }] } }),
  },
  "POST /api/orchestrator/:id/message": {
    success: ({ created }) => ({ params: { id: created }, body: { text: "be brief" } }),
    wrong: ({ created }) => ({ params: { id: created }, body: { text: "be brief", taskId: "nobody" } }),
    conflict: ({ ended }) => ({ params: { id: ended }, body: { text: "too late" } }),
  },
  "POST /api/orchestrator/:id/retry": {
    success: ({ busy }) => ({ params: { id: busy }, body: { taskId: "b" } }),
    wrong: ({ ended }) => ({ params: { id: ended }, body: { taskId: "nobody" } }),
    conflict: ({ ended }) => ({ params: { id: ended }, body: { taskId: "a" } }),
  },
  "DELETE /api/orchestrator/:id": {
    success: async (scene) => ({ params: { id: await scene.run([{ id: "a" }], []) } }),
    wrong: ({ created }) => ({ params: { id: created }, query: { removeState: "maybe" } }),
    conflict: ({ created }) => ({ params: { id: created }, query: { onlyEnded: "true" } }),
  },
  "GET /api/orchestrator/:id/workers": { success: ofEnded, wrong: unknownRun },
  "GET /api/orchestrator/:id/workers/stats": { success: ofEnded, wrong: unknownRun },
  "GET /api/orchestrator/:id/workers/:key": { success: workerOfEnded, wrong: unknownWorker },
  "GET /api/orchestrator/:id/workers/:key/transcript": { success: workerOfEnded, wrong: unknownWorker },
  "GET /api/orchestrator/:id/workers/:key/transcript/export": { success: workerOfEnded, wrong: unknownWorker },
  "POST /api/orchestrator/:id/workers/:key/pause": {
    success: busyWorker,
    wrong: unknownWorker,
    conflict: workerOfEnded,
  },
  "POST /api/orchestrator/:id/workers/:key/resume": {
    success: async (scene) => {
      const { params } = busyWorker(scene);
      if (scene.lab.engine.get(params.id)!.workers["a"]!.status !== "paused") {
        await scene.lab.engine.pauseWorker(params.id, params.key);
      }
      return { params };
    },
    wrong: unknownWorker,
    conflict: workerOfEnded,
  },
  "POST /api/orchestrator/:id/workers/:key/cancel": {
    success: busyWorker,
    wrong: unknownWorker,
    conflict: workerOfEnded,
  },
  "POST /api/orchestrator/:id/workers/:key/retry": {
    success: async (scene) => {
      const { lab, busy } = scene;
      const { status, sessionId } = lab.engine.get(busy)!.workers["a"]!;
      if (status !== "cancelled") await lab.engine.cancelWorker(busy, sessionId);
      return busyWorker(scene);
    },
    wrong: unknownWorker,
    conflict: workerOfEnded,
  },
  "GET /api/inbox": { success: () => ({}), wrong: () => ({ query: { after: "nothing" } }) },
  "POST /api/inbox/:itemId": {
    success: async (scene) => ({
      params: { itemId: await planItem(scene) },
      body: { approve: true },
    }),
    wrong: () => ({ params: { itemId: "nothing" }, body: { approve: "yes" } }),
    conflict: async (scene) => ({
      params: { itemId: await planItem(scene) },
      body: { approve: true, hash: "of another plan" },
    }),
  },
  "GET /api/schedules": {
    success: (scene) => {
      scene.automate("listed");
      return {};
    },
    wrong: unknownAfter,
  },
  "POST /api/schedules/:name/run": {
    success: (scene) => scene.automate("by-hand"),
    wrong: () => ({ params: { name: "nobody" } }),
    conflict: async (scene) => {
      const call = scene.automate("once-at-a-time");
      await scene.lab.automation.schedules.runNow(call.params.name);
      return call;
    },
  },
  "GET /api/triggers": {
    success: (scene) => {
      scene.automate("listed");
      return {};
    },
    wrong: unknownAfter,
  },
  "POST /api/triggers/:name": {
    success: (scene) => ({ ...scene.automate("pushed"), ...signed('{"ref":"main"}') }),
    wrong: (scene) => ({ ...scene.automate("misunderstood"), ...signed("{ half") }),
    conflict: async (scene) => {
      const call = scene.automate("pushed-twice");
      const { body, headers } = signed("1");
      const signatures = { hub: headers["x-hub-signature-256"], tutti: undefined };
      await scene.lab.automation.triggers.deliver(call.params.name, signatures, Buffer.from(body));
      return { ...call, ...signed("2") };
    },
  },
  "POST /api/subsession/register": {
    success: (scene) => ({ body: { childSessionId: "of-busy", parentSessionId: scene.main(scene.busy) } }),
    wrong: () => ({ body: { childSessionId: "", parentSessionId: "p" } }),
    conflict: (scene) => {
      scene.subSession("taken", "one-parent");
      return { body: { childSessionId: "taken", parentSessionId: "another-parent" } };
    },
  },
  "POST /api/subsession/watch/:parentSessionId": {
    success: (scene) => ({ params: { parentSessionId: scene.main(scene.busy) } }),
    wrong: () => ({ params: { parentSessionId: "nobody" } }),
  },
  "GET /api/subsession/parent/:parentSessionId": {
    success: (scene) => ({ params: { parentSessionId: scene.subSession("listed", "lists").parent } }),
    wrong: () => ({ params: { parentSessionId: "nobody" } }),
  },
  "GET /api/subsession/stats": { success: () => ({}) },
  "POST /api/subsession/:childSessionId/force-return": {
    success: (scene) => {
      const worker = scene.key(scene.busy, "b");
      scene.subSession(worker, scene.main(scene.busy));
      return { params: { childSessionId: worker } };
    },
    wrong: () => ({ params: { childSessionId: "nobody" } }),
    conflict: (scene) => {
      scene.subSession("unseen", scene.main(scene.busy));
      return { params: { childSessionId: "unseen" } };
    },
  },
  "DELETE /api/subsession/:childSessionId": {
    success: (scene) => ({ params: { childSessionId: scene.subSession("left", "somebody").child } }),
    wrong: () => ({ params: { childSessionId: "nobody" } }),
    conflict: (scene) => {
      scene.subSession("nobodys", "somebody");
      return { params: { childSessionId: "nobodys" }, body: { archiveSession: true } };
    },
  },
  "GET /api/orchestrator/templates": { success: () => ({}), wrong: oddProject },
  "POST /api/orchestrator/templates": {
    success: (scene) => ({ body: scene.template("new") }),
    wrong: (scene) => ({ body: scene.template("odd", { colour: "red" }) }),
    conflict: (scene) => ({ body: scene.template(scene.storeTemplate("there")) }),
  },
  "POST /api/orchestrator/templates/import": {
    success: (scene) => ({ body: scene.template("imported") }),
    wrong: () => ({ body: "{ half" }),
    conflict: (scene) => ({ body: scene.template(scene.storeTemplate("imported-before")) }),
  },
  "POST /api/orchestrator/templates/validate": {
    success: (scene) => ({ body: scene.template("checked") }),
    wrong: () => ({}),
  },
  "GET /api/orchestrator/templates/:id": {
    success: () => ({ params: { id: "documentation" } }),
    wrong: noTemplate,
  },
  "PUT /api/orchestrator/templates/:id": {
    success: (scene) => ({ params: { id: scene.storeTemplate("changed") }, body: { name: "Changed" } }),
    wrong: () => ({ params: { id: "nobody" }, body: { name: "Changed" } }),
  },
  "DELETE /api/orchestrator/templates/:id": {
    success: (scene) => ({ params: { id: scene.storeTemplate("gone") } }),
    wrong: noTemplate,
    conflict: (scene) => {
      const parent = scene.storeTemplate("parent");
      scene.storeTemplate("child", { extends: parent });
      return { params: { id: parent } };
    },
  },
  "POST /api/orchestrator/templates/:id/duplicate": {
    success: () => ({ params: { id: "documentation" }, body: { newName: "A copy" } }),
    wrong: () => ({ params: { id: "documentation" }, body: { newName: " " } }),
  },
  "GET /api/orchestrator/templates/:id/export": {
    success: () => ({ params: { id: "documentation" } }),
    wrong: noTemplate,
  },
  "POST /api/orchestrator/templates/:id/preview": {
    success: () => ({ params: { id: "documentation" } }),
    wrong: () => ({ params: { id: "documentation" }, body: { variables: "all" } }),
  },
  "POST /api/orchestrator/templates/:id/rehearse": {
    success: () => ({ params: { id: "documentation" }, body: { tasks: 1 } }),
    wrong: () => ({ params: { id: "documentation" }, body: { tasks: 0 } }),
  },
  "GET /api/protocols": { success: () => ({}), wrong: unknownAfter },
  "GET /api/protocols/:name/schema.json": {
    success: () => ({ params: { name: "mailbox" } }),
    wrong: () => ({ params: { name: "telegraph" } }),
  },
  "POST /api/protocols/:name/validate": {
    success: () => ({ params: { name: "response" }, body: RESPONSE }),
    wrong: () => ({ params: { name: "telegraph" }, body: RESPONSE }),
  },
};

async function planItem(scene: Scene): Promise<string> {
  const id = await scene.waiting();
  return Object.keys(scene.lab.engine.get(id)!.inbox)[0]!;
}

// The metrics of a real server with real runs.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseMetrics, type Family } from "./parse-metrics.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { ServerLab, VERSION } from "../server/server-lab.ts";
import { engineMetrics } from "../../src/telemetry/engine-metrics.ts";
import { counter, histogram, observed, renderMetrics } from "../../src/telemetry/metric.ts";

let lab: ServerLab;
let page: Map<string, Family>;

async function look(): Promise<Map<string, Family>> {
  const { status, headers, text } = await lab.api("/metrics");
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  return parseMetrics(text);
}

function value(name: string, labels: Record<string, string> = {}): number | undefined {
  const samples = page.get(name.replace(/_(count|sum|bucket)$/, ""))?.samples ?? page.get(name)?.samples ?? [];
  const fits = (found: Record<string, string>) => Object.entries(labels).every(([key, each]) => found[key] === each);
  return samples.find((sample) => sample.name === name && fits(sample.labels))?.value;
}

beforeAll(async () => {
  lab = await ServerLab.open();
  const agent = lab.lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), goodWorker]);
  const ended = await lab.create(agent, { autoStart: true, config: { autoSpawn: true } });
  await lab.until(ended, ({ released }) => released);
  const waiting = await lab.create(agent, { autoStart: true });
  await lab.until(waiting, ({ status }) => status === "confirming");
});
afterAll(() => lab.tearDown());

describe("/metrics", () => {
  it("counts runs, workers, turns, tokens, tool calls and cost", async () => {
    page = await look();
    expect(value("tutti_runs", { status: "completed" })).toBe(1);
    expect(value("tutti_runs", { status: "confirming" })).toBe(1);
    expect(value("tutti_runs", { status: "running" })).toBe(0);
    expect(value("tutti_runs_ended_total", { outcome: "success" })).toBe(1);
    expect(value("tutti_inbox_items")).toBe(1);
    expect(value("tutti_workers_active")).toBe(0);
    expect(value("tutti_workers_ended_total", { ending: "completed" })).toBe(2);
    const turns = lab.engine.events({}).filter(({ type }) => type === "turn:ended");
    expect(value("tutti_turns_ended_total", { ending: "ended" })).toBe(turns.length);
    expect(value("tutti_turns_total", { phase: "workerExecution" })).toBe(2);
    expect(value("tutti_tokens_total", { direction: "input" })).toBe(200);
    expect(value("tutti_tokens_total", { direction: "output" })).toBe(40);
    expect(value("tutti_cost_usd_total")).toBeCloseTo(0.02);
    expect(value("tutti_tool_calls_total")).toBe(4);
    expect(value("tutti_log_last_seq")).toBe(lab.engine.lastSeq());
    expect(value("tutti_events_total", { type: "orchestrator:created" })).toBe(2);
  });

  it("counts requests by route pattern, never by an invented path", async () => {
    const { id } = lab.engine.summaries()[0]!;
    await lab.api(`/api/orchestrator/${id}`);
    await lab.api("/api/orchestrator/orch_nobody");
    for (const path of ["/nothing/1", "/nothing/2", "/api/nothing"]) await lab.api(path, { method: "PUT" });
    await lab.ask("/api/orchestrator");
    page = await look();
    const ofRun = { method: "GET", route: "/api/orchestrator/:id" };
    expect(value("tutti_http_requests_total", { ...ofRun, status: "200" })).toBe(1);
    expect(value("tutti_http_requests_total", { ...ofRun, status: "404" })).toBe(1);
    expect(value("tutti_http_request_duration_seconds_count", ofRun)).toBe(2);
    expect(value("tutti_http_requests_total", { method: "PUT", route: "none", status: "404" })).toBe(3);
    expect(value("tutti_http_requests_total", { route: "/api/orchestrator", status: "401" })).toBe(1);
  });

  it("has metrics of live clients, version and process", async () => {
    const socket = await lab.socket();
    const stream = await lab.stream();
    page = await look();
    expect(value("tutti_live_clients")).toBe(2);
    expect(value("tutti_live_clients_cut_off_total")).toBe(0);
    expect(value("tutti_http_requests_total", { route: "/api/events", status: "101" })).toBe(1);
    expect(value("tutti_build_info", { version: VERSION, node: process.versions.node })).toBe(1);
    for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes", "nodejs_heap_size_used_bytes"]) {
      expect(value(name), name).toBeGreaterThan(0);
    }
    expect(value("process_start_time_seconds")).toBeLessThan(Date.now() / 1000);
    expect(value("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThanOrEqual(0);
    socket.leave();
    stream.leave();
  });

  it("is readable with every token, and without one returns the usual error", async () => {
    const { token } = lab.tokens.create({ name: "prometheus", role: "view" });
    expect((await lab.ask("/metrics", { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    expect(await lab.ask("/metrics")).toMatchObject({ status: 401, json: { error: { code: "unauthorized" } } });
  });

  it("drops removed runs, includes runs from before its start, and does not count copied work", async () => {
    const { engine } = lab;
    const { id } = engine.summaries()[0]!;
    const later = engineMetrics(engine);
    await engine.fork(id);
    const read = (name: string, labels: Record<string, string>) => {
      page = parseMetrics(renderMetrics(later.metrics));
      return value(name, labels);
    };
    expect(read("tutti_runs", { status: "completed" })).toBe(2);
    expect(read("tutti_turns_total", {})).toBeUndefined();
    await engine.cleanup(id);
    expect(read("tutti_runs", { status: "completed" })).toBe(1);
    later.close();
  });

  it("keeps at most one removed run in memory while it is not read", async () => {
    const { engine } = lab;
    const { id } = engine.summaries()[0]!;
    const asked: string[] = [];
    const watched: Parameters<typeof engineMetrics>[0] = {
      subscribe: (listener) => engine.subscribe(listener),
      summaries: () => engine.summaries(),
      lastSeq: () => engine.lastSeq(),
      get: (run) => {
        asked.push(run);
        return engine.get(run);
      },
    };
    const later = engineMetrics(watched);
    const removed: string[] = [];
    for (let i = 0; i < 4; i++) removed.push((await engine.fork(id)).id);
    for (const each of removed) await engine.cleanup(each);
    asked.length = 0;
    renderMetrics(later.metrics);
    // Every removed run that is still known is looked up.
    expect(removed.filter((each) => asked.includes(each))).toEqual(removed.slice(-1));
    later.close();
  });
});

describe("the text format", () => {
  it("escapes label values and accumulates histogram buckets", () => {
    const odd = counter("odd_total", "A sentence\nin two lines.");
    odd.add({ name: 'a "quoted"\\\nvalue' }, 2);
    const times = histogram("time_seconds", "Time.", [0.1, 1]);
    for (const each of [0.05, 0.1, 0.5, 7]) times.observe({ route: "/a" }, each);
    const text = renderMetrics([odd, times, observed("gauge", "now", "Now.", () => 3)]);
    const families = parseMetrics(text);
    expect(families.get("odd_total")).toMatchObject({
      help: "A sentence\\nin two lines.",
      samples: [{ labels: { name: 'a "quoted"\\\nvalue' }, value: 2 }],
    });
    expect(families.get("time_seconds")!.samples.map(({ labels, value: each }) => [labels["le"], each])).toEqual([
      ["0.1", 2],
      ["1", 3],
      ["+Inf", 4],
      [undefined, 7.65],
      [undefined, 4],
    ]);
    expect(families.get("now")!.samples).toEqual([{ name: "now", labels: {}, value: 3 }]);
  });
});

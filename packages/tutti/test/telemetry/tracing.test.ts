// Spans of real runs as an OpenTelemetry collector receives them.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Collector, valuesOf, type CollectedSpan } from "./collector.ts";
import { Lab } from "../lab/lab.ts";
import { done, mainSession, worker } from "../lab/scenarios.ts";
import { openLocalEngine, type LocalEngine } from "../../src/main/local-engine.ts";
import { SILENT, type Members } from "../../src/telemetry/log.ts";
import { OtlpExporter } from "../../src/telemetry/otlp-exporter.ts";
import { readTraceSettings, type TraceSettings } from "../../src/telemetry/otlp-settings.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { RunTrace } from "../../src/telemetry/run-trace.ts";
import { spanIdOf, traceIdOf } from "../../src/telemetry/span.ts";
import { realWorld } from "../../src/world.ts";

const named = (spans: readonly CollectedSpan[], name: string) => spans.filter((span) => span.name === name);
const about = (span: CollectedSpan) => valuesOf(span.attributes);

/** Checks that span ids are unique, parents exist, and each span lies within its parent's time. */
function checkTree(spans: readonly CollectedSpan[]): void {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  expect(byId.size).toBe(spans.length);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  for (const span of spans) {
    expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
    const [start, end] = [BigInt(span.startTimeUnixNano), BigInt(span.endTimeUnixNano)];
    expect(start).toBeLessThanOrEqual(end);
    if (span.parentSpanId === undefined) continue;
    const parent = byId.get(span.parentSpanId);
    expect(parent, `the parent of ${span.name}`).toBeDefined();
    expect(start).toBeGreaterThanOrEqual(BigInt(parent!.startTimeUnixNano));
    expect(end).toBeLessThanOrEqual(BigInt(parent!.endTimeUnixNano));
  }
}

describe("a run", () => {
  let lab: Lab;
  let collector: Collector;
  let local: LocalEngine | null = null;
  const warnings: string[] = [];
  beforeEach(async () => {
    lab = new Lab();
    collector = await Collector.open();
    warnings.length = 0;
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await local?.close();
    local = null;
    await collector.close();
    lab.tearDown();
  });

  const open = () => (local = openLocalEngine({ dataDir: lab.data, warn: (problem) => warnings.push(problem) }));
  const close = async (leaveRunning = false) => {
    await local!.close({ leaveRunning });
    local = null;
  };
  /** The engine drops its last spans after a second, which this process may need itself on a busy machine. */
  const closePatiently = async (leaveRunning = false) => {
    const sleep = realWorld.sleep.bind(realWorld);
    const patient = vi
      .spyOn(realWorld, "sleep")
      .mockImplementation((ms, ...rest) => sleep(ms === 1000 ? 600_000 : ms, ...rest));
    await close(leaveRunning).finally(() => patient.mockRestore());
  };
  async function begin(agent: string): Promise<string> {
    const { engine } = open();
    const { id } = await engine.create({ templateId: "_default", cwd: lab.repo, message: "x", agent });
    await engine.order(id, "start");
    await engine.until(id, ({ status }) => status === "confirming");
    await engine.order(id, "confirm");
    return id;
  }
  const usage = { inputTokens: 100, outputTokens: 20, usd: 0.01 };

  it("becomes a workflow span with phases, turns and tool calls, under the GenAI names", async () => {
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=tutti%20team");
    vi.stubEnv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test");
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }, { id: "two" }]),
      worker("one", { tools: ["Read", "Write"], write: { "a.md": "a" }, block: done({}), usage }),
      worker("two", { then: "exit:3" }),
    ]);
    const id = await begin(agent);
    const { workers } = await local!.engine.until(id, ({ released }) => released);
    await closePatiently();
    const { spans } = collector;
    checkTree(spans);
    expect(collector.resource).toMatchObject({ "service.name": "tutti", "deployment.environment.name": "test" });
    expect(collector.requests[0]).toMatchObject({ url: "/v1/traces", headers: { "x-team": "tutti team" } });
    const [root] = named(spans, "invoke_workflow _default");
    expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined)).toEqual([root]);
    expect(about(root!)).toEqual({
      "tutti.run.id": id,
      "gen_ai.operation.name": "invoke_workflow",
      "gen_ai.workflow.name": "_default",
      "tutti.run.outcome": "degraded",
    });
    const phases = spans.filter(({ name }) => name.startsWith("phase "));
    expect(phases.map(({ name }) => name)).toEqual([
      "phase analysis",
      "phase taskPlanning",
      "phase workerExecution",
      "phase aggregation",
    ]);
    expect(phases.every(({ parentSpanId }) => parentSpanId === root!.spanId)).toBe(true);
    const turns = spans.filter((span) => about(span)["gen_ai.operation.name"] === "invoke_agent");
    const ofTask = (task: string) => turns.filter((span) => about(span)["tutti.task.id"] === task);
    const [good] = ofTask("one");
    expect(good).toMatchObject({ name: "invoke_agent script:scenario.json", kind: 3, status: { code: 0 } });
    expect(good!.parentSpanId).toBe(phases[2]!.spanId);
    expect(about(good!)).toMatchObject({
      "gen_ai.agent.name": "script:scenario.json",
      "gen_ai.provider.name": "script:scenario.json",
      "gen_ai.conversation.id": workers["one"]!.sessionId,
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 20,
      "tutti.role": "worker",
      "tutti.phase": "workerExecution",
      "tutti.turn": 1,
    });
    expect(ofTask("two").every(({ status }) => status.code === 2 && status.message !== "")).toBe(true);
    expect(ofTask("two").length).toBeGreaterThan(0);
    const tools = spans.filter(({ parentSpanId }) => parentSpanId === good!.spanId);
    expect(tools.map(({ name }) => name)).toEqual(["execute_tool Read", "execute_tool Write"]);
    expect(about(tools[1]!)).toMatchObject({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Write" });
    expect(warnings).toEqual([]);
  });

  it("that another engine resumes stays one trace without missing or repeated spans", async () => {
    const gate = lab.gate();
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }]),
      worker("one", { waitForFile: gate.file, tools: ["Write"], write: { "a.md": "a" }, block: done({}) }),
    ]);
    const id = await begin(agent);
    await local!.engine.until(id, ({ workers }) => workers["one"]?.session.turn != null);
    await closePatiently(true);
    gate.open();
    const countBefore = collector.spans.length;
    expect(countBefore).toBeGreaterThan(2);
    const { engine } = open();
    await engine.activate(id);
    await engine.until(id, ({ released }) => released);
    await closePatiently();
    expect(collector.spans.length).toBeGreaterThan(countBefore);
    checkTree(collector.spans);
    expect(named(collector.spans, "invoke_workflow _default")).toHaveLength(1);
    expect(named(collector.spans, "execute_tool Write")).toHaveLength(1);
  });

  it("is not affected by a collector that never responds, and the user gets one warning", async () => {
    collector.status = null;
    // A request that times out while the run is still going would be one more warning.
    vi.stubEnv("OTEL_EXPORTER_OTLP_TIMEOUT", "3600000");
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }]),
      worker("one", { write: { "a.md": "a" }, block: done({}) }),
    ]);
    const id = await begin(agent);
    const { outcome } = await local!.engine.until(id, ({ released }) => released);
    expect(outcome).toBe("success");
    await expect.poll(() => collector.requests.length).toBeGreaterThan(0);
    await close();
    expect(warnings).toEqual(["spans dropped"]);
  });
});

describe("a turn", () => {
  const run = "orch_000000000000";
  const session = { id: run, sessionId: "s", taskId: "one" };
  const worker = { sessionId: "s", orchestratorId: run, taskId: "one" };
  const past = [
    { type: "worker:spawning", data: { ...worker, attempt: 2, agent: "claude" } },
    { type: "turn:started", data: { ...session, turn: 1, phase: "workerExecution", try: 1 } },
    { type: "worker:timeout", data: { ...worker, error: "too long", code: "worker_timeout" } },
  ];
  const spent = { inputTokens: 5, outputTokens: 1, usd: 0 };

  it.each([
    ["with its usage, if that is reported", { type: "turn:abandoned", data: { ...session, usage: spent } }, 5],
    ["without usage, when the workspace is released", { type: "workspace:released", data: { id: run } }, undefined],
  ])("that was interrupted ends with its session: %s", (_, last, tokens) => {
    const trace = new RunTrace(run);
    const ended = [...past, last].flatMap((event, i) =>
      trace.take({ ...event, seq: i + 1, run, runSeq: i + 1, timestamp: 100 * i } as StoredEvent),
    );
    expect(ended).toMatchObject([{ span: { startMs: 100, endMs: 200, error: "too long" }, turn: { number: 1 } }]);
    expect(ended[0]!.span.attributes).toMatchObject({ "gen_ai.provider.name": "anthropic", "tutti.attempt": 2 });
    expect(ended[0]!.span.attributes["gen_ai.usage.input_tokens"]).toBe(tokens);
  });
});

describe("a run that is reopened or forked", () => {
  const id = "orch_000000000000";
  const spansOf = (...events: [type: string, data?: object][]) => {
    const trace = new RunTrace(id);
    const take = ([type, data = {}]: [string, object?], i: number) =>
      trace.take({
        type,
        data: { id, ...data },
        seq: i + 1,
        run: id,
        runSeq: i + 1,
        timestamp: 100 * i,
      } as StoredEvent);
    return events.flatMap(take).map(({ span: { name, spanId, parentId, startMs, endMs } }) => {
      return { name, spanId, parentId, startMs, endMs };
    });
  };
  const begin: [string, object?][] = [
    ["orchestrator:created", { agent: "local", templateId: "t" }],
    ["orchestrator:started", { phase: "analysis" }],
  ];
  const end: [string, object?] = ["orchestrator:completed", { outcome: "success" }];

  it("continues in the same trace, below its previous span", () => {
    const spans = spansOf(...begin, end, ["orchestrator:reopened", { phase: "workerExecution" }], end);
    const [, first, , second] = spans;
    expect(spans.map(({ name }) => name)).toEqual([
      "phase analysis",
      "invoke_workflow t",
      "phase workerExecution",
      "invoke_workflow t",
    ]);
    expect(second).toMatchObject({ parentId: first!.spanId, startMs: 300, endMs: 400 });
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4);
  });

  it("starts its trace at the fork, without the copied events", () => {
    const spans = spansOf(...begin, ["orchestrator:forked", { from: "orch_other", at: 2 }], end);
    expect(spans.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([
      [200, 300],
      [200, 300],
    ]);
  });
});

describe("queued spans", () => {
  let collector: Collector;
  let exporter: OtlpExporter;
  const logged: string[] = [];
  beforeEach(async () => {
    collector = await Collector.open();
    logged.length = 0;
    const settings = readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, "1") as TraceSettings;
    const tell = (message: string, { dropped }: Members = {}) =>
      logged.push(`${message} ${dropped === undefined ? "" : JSON.stringify(dropped)}`.trim());
    exporter = new OtlpExporter({ settings, log: { ...SILENT, warn: tell, info: tell }, world: realWorld });
  });
  afterEach(async () => {
    await exporter.close(0);
    await collector.close();
  });
  const add = (count: number) => {
    for (let i = 0; i < count; i++) {
      const ids = { traceId: traceIdOf("r"), spanId: spanIdOf("r", i), parentId: null };
      exporter.add({ ...ids, name: "n", kind: "internal", startMs: 1, endMs: 2, attributes: {}, error: null });
    }
  };

  it("are kept while the collector fails and sent once it recovers; only the changes are logged", async () => {
    collector.status = 503;
    add(512);
    while (collector.requests.length < 2) await sleep(20);
    collector.status = 200;
    while (collector.spans.length < 512) await sleep(20);
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(512);
    await expect.poll(() => logged).toEqual(["span export failed", "span export recovered 0"]);
  });

  it("are dropped if the collector rejects them permanently or if the queue is full", async () => {
    collector.status = 400;
    add(9000);
    await exporter.close(600_000);
    expect(collector.requests.length).toBe(Math.ceil(8192 / 512));
    expect(logged).toEqual(["span export failed", "spans dropped 9000"]);
  });

  it("delay the close by the given time at most", async () => {
    collector.status = null;
    add(3);
    await exporter.close(100);
    expect(logged).toEqual(["spans dropped 3"]);
  });
});

describe("the settings of OpenTelemetry", () => {
  const read = (env: Record<string, string>) => readTraceSettings(env, "1");
  const base = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318/" };

  it("configure URL and headers; those for traces take precedence, and their endpoint is the full URL", () => {
    expect(read(base)).toEqual({
      url: "http://c:4318/v1/traces",
      headers: {},
      timeoutMs: 10_000,
      resource: { "service.name": "tutti", "service.version": "1" },
    });
    expect(
      read({
        ...base,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://d/x",
        OTEL_EXPORTER_OTLP_HEADERS: "a=1, b=%3D",
        OTEL_EXPORTER_OTLP_TIMEOUT: "500",
        OTEL_SERVICE_NAME: "mine",
        OTEL_RESOURCE_ATTRIBUTES: "service.name=other,team=x",
      }),
    ).toEqual({
      url: "https://d/x",
      headers: { a: "1", b: "=" },
      timeoutMs: 500,
      resource: { "service.name": "mine", "service.version": "1", team: "x" },
    });
  });

  it.each([
    [{}, null],
    [{ ...base, OTEL_SDK_DISABLED: "true" }, null],
    [{ ...base, OTEL_TRACES_EXPORTER: "none" }, null],
    [{ ...base, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, /PROTOCOL is "grpc"\. Set it to http\/json\./],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "c:4318" }, /the endpoint is not an HTTP URL/],
    [{ ...base, OTEL_EXPORTER_OTLP_HEADERS: "secret" }, /HEADERS is invalid\. Use the form/],
    [{ ...base, OTEL_RESOURCE_ATTRIBUTES: "a=%zz" }, /ATTRIBUTES is invalid\. Use the form/],
  ])("%j disable tracing", (env, why) => {
    const found = read(env);
    if (why === null) expect(found).toBeNull();
    else expect(found).toMatch(why);
  });
});

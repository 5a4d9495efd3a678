// `tutti export`, `import`, `replay`, `logs` and `fork` without a server.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InProcessLab } from "./in-process.ts";
import { agentOf } from "../lab/lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { openTranscripts } from "../../src/main/transcripts.ts";

let lab: InProcessLab;
beforeEach(() => {
  lab = new InProcessLab();
});
afterEach(() => lab.tearDown());

const run = async (agent: string, ...more: string[]) =>
  lab.json(["run", "do it", "--cwd", lab.repo, "--agent", agent, "--yes", ...more]);
const good = () => lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), goodWorker]);

describe("a run's log", () => {
  it("can be exported, and imported into another data folder once, as the same run", async () => {
    lab.playsAgents = false;
    const { last } = await run(good());
    const file = join(lab.folder, "run.jsonl");
    expect((await lab.json(["export", last.id!, file])).code).toBe(0);
    expect((await lab.tutti(["export", last.id!])).stdout).toBe(readFileSync(file, "utf8"));
    expect((await lab.json(["export", last.id!, file])).last).toMatchObject({ error: { code: "wrong_state" } });
    for (const beyond of [
      ["fork", last.id!, "--at", "9999"],
      ["replay", last.id!, "--until", "9999"],
    ]) {
      expect(await lab.json(beyond)).toMatchObject({ code: 3, last: { error: { code: "event_not_found" } } });
    }
    const there = ["--data-dir", join(lab.folder, "elsewhere")];
    const refused = await lab.tutti([...there, "import", file]);
    expect([refused.code, refused.stderr]).toEqual([
      4,
      expect.stringContaining("This run needs your consent to agent: "),
    ]);
    const [, hash] = /repeat with --trust ([0-9a-f]{64})/.exec(refused.stderr)!;
    const { stdout } = await lab.tutti([...there, "--json", "import", file, "--trust", hash!]);
    expect(JSON.parse(stdout)).toEqual([{ id: last.id, status: "completed" }]);
    const shown = JSON.parse((await lab.tutti([...there, "--json", "status", last.id!])).stdout);
    expect(shown).toMatchObject({ id: last.id, outcome: "success", workers: { one: { status: "completed" } } });
    expect((await lab.tutti([...there, "import", file])).code).toBe(4);
  });

  it("with damage is refused with the line number, and nothing is imported", async () => {
    const { last } = await run(good());
    const whole = (await lab.tutti(["export", last.id!])).stdout.split("\n");
    const file = join(lab.folder, "damaged.jsonl");
    const there = ["--data-dir", join(lab.folder, "elsewhere")];
    for (const [lines, message] of [
      [[...whole.slice(0, 3), ...whole.slice(4)], "Line 4 cannot be imported. Event 3 is missing."],
      [[...whole.slice(0, 2), "{", ...whole.slice(3)], "Line 3 cannot be imported. The line is not a JSON object."],
      [["{}", ...whole.slice(1)], "Line 1 cannot be imported. This is not a run"],
      [
        [whole[0], whole[1]!.replace("orchestrator:created", "something:else")],
        'Line 2 cannot be imported. The event type "something:else" does not exist.',
      ],
    ] as const) {
      writeFileSync(file, lines.join("\n"));
      const { code, stderr } = await lab.tutti([...there, "import", file]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
    expect((await lab.tutti([...there, "--json", "list"])).stdout.trim()).toBe("[]");
  });

  it("is replayed event by event without problems", async () => {
    const { last } = await run(good());
    const { code, stdout } = await lab.tutti(["replay", last.id!.slice(5, 12)]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/ 1 {2}\S+ {2}run orch_/);
    expect(stdout.trim().split("\n").at(-1)).toMatch(/^\d+ events, completed, no problems$/);
    const { lines } = await lab.json(["replay", last.id!, "--until", "3"]);
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toMatchObject({ events: 3, status: "analyzing", problems: [] });
  });

  it("comes with transcripts, of which no part is read twice", async () => {
    lab.playsAgents = false;
    const { last } = await run(good());
    const { sessionId } = lab.events().flatMap((event) => (event.type === "worker:spawning" ? [event.data] : []))[0]!;
    const read = openTranscripts(lab.data);
    const whole = await read(last.id!, sessionId, 0);
    expect(whole.at(-1)).toMatchObject({ n: whole.length, type: "turnOver" });
    // A second read of the blanked file would find no entries.
    const output = join(lab.data, "sessions", last.id!, sessionId, "output.log");
    writeFileSync(output, " ".repeat(statSync(output).size));
    expect(await read(last.id!, sessionId, whole.length - 1)).toEqual(whole.slice(-1));
    expect(await read(last.id!, sessionId, whole.length)).toEqual([]);
  });

  it("shows the warnings of its start, the tasks of its plan, and its outcome as the last line", async () => {
    lab.write("README.md", "# Not committed\n");
    const { last } = await run(
      lab.scenario([...mainSession([{ id: "a" }, { id: "b", dependencies: ["a"] }]), goodWorker]),
    );
    const lines = (await lab.tutti(["logs", last.id!])).stdout.trimEnd().split("\n");
    expect(lines.filter((line) => !/^\d{4}-/.test(line))).toEqual([
      "  warning: The folder has uncommitted changes. The run starts from the last commit and does not include them.",
      "  a  Title of a",
      "  b  Title of b  (after a)",
    ]);
    expect(lines.at(-1)).toMatch(/the run succeeded: 2 planned, 2 completed;/);
  });

  it("shows the sub-agents of a worker, and in its transcript their tools below them", async () => {
    lab.playsAgents = false;
    const go = join(lab.folder, "go");
    writeFileSync(go, "");
    const { last } = await run(agentOf("command", "delegating.ts"), "--agent-env", `GO=${go}`);
    const { stdout } = await lab.tutti(["logs", last.id!]);
    expect(stdout).toMatch(/ {2}one started a sub-agent: look around\n/);
    expect(stdout).toMatch(/ {2}one ended a sub-agent: look around\n/);
    const { stdout: transcript } = await lab.tutti(["logs", last.id!, "--task", "one"]);
    expect(transcript).toContain(
      '[Agent] {}\n[subagent 1 started] look around\n  look around: [Read] {"file_path":"a.md"}\n',
    );
    expect(transcript).not.toContain("ORCHESTRATOR_RESPONSE");
  });

  it("can be imported from an old orchestrators.json, and its runs do not start by themselves", async () => {
    const file = join(lab.folder, "orchestrators.json");
    const state = {
      id: "orch_abc123def456",
      templateId: "documentation",
      template: { id: "documentation", name: "Documentation", strange: true },
      cwd: "C:\\Projects\\old",
      userRequest: "document everything",
      status: "analyzing",
      currentPhase: "analysis",
      analysis: { summary: "large", recommendedSplits: 3 },
      tasks: [{ id: "task_001", title: "A", description: "a" }, { id: 7 }],
      workers: {},
      createdAt: "2025-01-01T10:00:00.000Z",
      updatedAt: "2025-01-01T11:00:00.000Z",
      errors: [],
    };
    writeFileSync(file, JSON.stringify({ orchestrators: [state, { ...state, id: "local-7" }] }));
    const { code, last } = await lab.json(["import", file]);
    expect(code).toBe(0);
    expect(last).toMatchObject([
      { id: "orch_abc123def456", status: "cancelled" },
      { id: expect.stringMatching(/^orch_[a-z0-9]{12}$/), status: "cancelled" },
    ]);
    const { last: shown } = await lab.json(["status", "orch_abc123def456"]);
    expect(shown).toMatchObject({
      userRequest: "document everything",
      analysis: { summary: "large" },
      tasks: [{ id: "task_001" }],
      createdAt: Date.parse("2025-01-01T10:00:00.000Z"),
    });
  });
});

describe("a fork", () => {
  it("continues from an event of another run, and reuses work from before and after that event", async () => {
    lab.playsAgents = false;
    const writer = (id: string) =>
      worker(id, { tools: ["Bash"], write: { [`docs/${id}.md`]: id }, block: done({ summary: id }) });
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }, { id: "two", dependencies: ["one"] }]),
      writer("one"),
      writer("two"),
    ]);
    const { last } = await run(agent);
    const events = lab.events().filter((event) => event.run === last.id);
    const at = events.find((event) => event.type === "worker:completed")!.runSeq;
    const { code, last: forked } = await lab.json(["fork", last.id!, "--at", String(at)]);
    expect([code, forked]).toMatchObject([0, { from: last.id, status: "paused" }]);
    const { last: outcome } = await lab.json(["resume", forked.id!]);
    expect(outcome).toMatchObject({ id: forked.id, outcome: "success", outputFiles: ["docs/one.md", "docs/two.md"] });
    const mine = lab.events().filter((event) => event.run === forked.id);
    const of = (type: string) =>
      mine.filter((event) => event.type === type).map(({ data }) => (data as { taskId: string }).taskId);
    expect(of("worker:spawning").filter((task) => task === "one")).toHaveLength(1);
    expect(of("worker:completed")).toEqual(["one", "two"]);
    // The second task completed after that event, and its result is reused too.
    expect(of("worker:spawned")).toEqual(["one"]);
    const fresh = await lab.json(["fork", last.id!, "--at", String(at), "--fresh"]);
    const forkedAt = lab.events().find(({ run: id, type }) => id === fresh.last.id && type === "orchestrator:forked")!;
    expect(forkedAt.data).toMatchObject({ from: last.id, fresh: true });
    expect(existsSync(join(lab.data, "sessions", forked.id!))).toBe(true);
    expect(lab.git("rev-parse", `tutti/${last.id}`)).toBe(last["commit" as never]);
    expect(lab.leftovers()).toEqual([]);
  });
});

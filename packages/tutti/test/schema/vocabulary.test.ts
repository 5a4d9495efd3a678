import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AggregationAnswer, CompletionAnswer, TaskListAnswer } from "../../src/schema/answer.ts";
import { asTuttiError, ERRORS, TuttiError } from "../../src/schema/error.ts";
import { EVENTS } from "../../src/schema/event.ts";
import { mainSessionId, pathName, RUN_ID, workerSessionId } from "../../src/schema/ids.ts";
import { TaskId } from "../../src/schema/task.ts";
import { OrchestratorOptions, SubSessionOptions, WorkerOptions } from "../../src/schema/options.ts";
import { ORCHESTRATOR_PHASE, ORCHESTRATOR_STATUS, RUN_STATUSES, WORKER_STATUS } from "../../src/schema/status.ts";
import { TemplateConfig } from "../../src/schema/template.ts";
import { ModuleLab } from "../module/module-lab.ts";
import { Story } from "../run/make-run.ts";
import { FakeController } from "../session/fake-controller.ts";

describe("Ids", () => {
  it("of worker sessions consist of local_, the template's prefix, the run without its orch_, and the task (D4-040, D4-048, D4-077, D4-078/E03, E04)", () => {
    expect(workerSessionId("orch_abc123def456", "task_001", 1, "__orch_")).toBe(
      "local___orch_abc123def456_worker_task_001",
    );
    expect(workerSessionId("abc123", "task_001", 1, "__orch_")).toBe("local___orch_abc123_worker_task_001");
    expect(workerSessionId("orch_abc123def456", "task_001", 3, "mine_")).toBe(
      "local_mine_abc123def456_worker_task_001_r2",
    );
    expect(mainSessionId("orch_abc123def456", 2, "__orch_")).toBe("local___orch_abc123def456_main_r1");
  });

  it("of the sessions that a run spawns follow this convention (D4-040, D4-595)", () => {
    const story = new Story().execute([{ id: "task_001" }]);
    story.spawn("task_001");
    expect(story.run.main?.sessionId).toBe("local___orch_000000000000_main");
    expect(story.run.workers["task_001"]?.sessionId).toBe("local___orch_000000000000_worker_task_001");
  });

  it("of sessions differ from the user's own sessions by their prefix and contain run and task (D4-595)", () => {
    const ours = [mainSessionId("orch_a1", 1, "__orch_"), workerSessionId("orch_a1", "task_001", 1, "__orch_")];
    const theirs = ["local_3f2b8c1e-7d1a-4c55-9a0e-1f6f0c2d9b11", "local_worker_notes", "__orch_plans"];
    const found = [...theirs, ...ours].filter((id) => id.startsWith("local___orch_"));
    expect(found).toEqual(ours);
    expect(ours[1]!.split("_worker_")).toEqual(["local___orch_a1", "task_001"]);
    expect(ours[0]!.split("_main")[0]).toBe("local___orch_a1");
  });

  it("of sessions are unique per attempt for any task id", () => {
    const task = fc.stringMatching(/^[ab](_r[0-2]){0,2}$/);
    const one = fc.tuple(task, fc.integer({ min: 1, max: 4 }));
    fc.assert(
      fc.property(one, one, ([a, m], [b, n]) => {
        const same = workerSessionId("orch_x", a, m, "__orch_") === workerSessionId("orch_x", b, n, "__orch_");
        expect(same).toBe(a === b && m === n);
      }),
      { numRuns: 1000 },
    );
  });

  it("of tasks may follow any of the protocols (X04)", () => {
    for (const id of ["task_001", "task-001", "API-SPEC-001", "dev_chat_msg_001"])
      expect(TaskId.safeParse(id).success).toBe(true);
    for (const id of ["", ".hidden", "a/b", "a\nb", "x".repeat(101)]) expect(TaskId.safeParse(id).success).toBe(false);
  });

  it("of runs are orch_ and twelve characters", () => {
    expect(RUN_ID.test("orch_abc123def456")).toBe(true);
    for (const id of ["orch_abc", "abc123def456", "orch_ABC123DEF456", "orch_abc123def4567"])
      expect(RUN_ID.test(id)).toBe(false);
  });

  it("in paths are safe everywhere and unique, also on file systems that ignore case", () => {
    expect(pathName("task_001")).toBe("task_001");
    for (const id of ["a.lock", "a..b", "A", "a.", "CON", "x".repeat(100)])
      expect(pathName(id)).toMatch(/^[a-z0-9_-]+--[a-z0-9]+$/);
    const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,30}$/);
    fc.assert(
      fc.property(id, id, (a, b) => {
        expect(pathName(a)).toMatch(/^[a-z0-9][a-z0-9_-]*$/);
        if (a !== b) expect(pathName(a)).not.toBe(pathName(b));
      }),
      { numRuns: 2000 },
    );
  });
});

describe("Statuses", () => {
  it("of a run include created and confirming, and confirming is no phase (D4-049, D4-261, D4-262, D4-349, D4-350/E20, E21)", () => {
    expect(RUN_STATUSES).toEqual([
      "created",
      "analyzing",
      "planning",
      "confirming",
      "spawning",
      "running",
      "aggregating",
      "verifying",
      "completed",
      "error",
      "cancelled",
      "paused",
    ]);
    expect(Object.values(ORCHESTRATOR_PHASE)).toEqual([
      "analysis",
      "taskPlanning",
      "workerExecution",
      "aggregation",
      "verification",
    ]);
    expect(ORCHESTRATOR_STATUS.CONFIRMING).toBe("confirming");
    expect(Object.values(WORKER_STATUS)).toEqual([
      "pending",
      "spawning",
      "running",
      "paused",
      "completed",
      "failed",
      "timeout",
      "cancelled",
    ]);
  });
});

describe("A worker", () => {
  it("is pending, spawning, running, paused, completed, failed, timed out or cancelled (D4-049)", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }, { id: "c" }, { id: "d" }]);
    const worker = (id: string) => story.run.workers[id]!;
    story.do({ type: "spawn", taskId: "a" });
    expect(worker("a").status).toBe("spawning");
    story.do({ type: "ready", sessionId: worker("a").sessionId, start: "base" });
    expect(worker("a").status).toBe("running");
    story.do({ type: "pauseWorker", sessionId: worker("a").sessionId });
    expect(worker("a").status).toBe("paused");
    story.do({ type: "resumeWorker", sessionId: worker("a").sessionId });
    for (const id of ["b", "c", "d"]) story.spawn(id);
    story.succeed("a");
    story.answerWorker("b", { phase: "completion", data: { task_id: "b", status: "failed" } });
    story.do({ type: "cancelWorker", sessionId: worker("c").sessionId });
    story.do({ type: "expired", sessionId: worker("d").sessionId }, 300_000);
    expect(["a", "b", "c", "d"].map((id) => worker(id).status)).toEqual([
      "completed",
      "failed",
      "cancelled",
      "timeout",
    ]);
    story.do({ type: "retry", taskId: "b" });
    expect(worker("b").status).toBe("pending");
  });
});

describe("Errors", () => {
  it("have an HTTP status, an exit code and a retryability in one table", () => {
    for (const [code, kind] of Object.entries(ERRORS)) {
      expect([400, 401, 403, 404, 409, 413, 422, 429, 500], code).toContain(kind.status);
      expect([1, 2, 3, 4, 5], code).toContain(kind.exit);
      expect(typeof kind.retryable).toBe("boolean");
    }
  });

  it("are encoded in the documented form", () => {
    expect(new TuttiError("wrong_state", "no", { details: { a: 1 } }).toJSON()).toEqual({
      error: { code: "wrong_state", message: "no", details: { a: 1 } },
    });
    expect(asTuttiError(new Error("boom"))).toMatchObject({ code: "internal", message: "boom" });
    expect(asTuttiError(Object.assign(new Error("write"), { code: "ENOSPC" }))).toMatchObject({ code: "disk_full" });
    const own = new TuttiError("usage", "x");
    expect(asTuttiError(own)).toBe(own);
  });
});

describe("The options", () => {
  it("of the orchestrators have their documented defaults and an absolute path (D4-452/E77, E78)", () => {
    // Every event is durable before it takes effect, so `saveDebounceMs` is accepted and delays nothing.
    expect(OrchestratorOptions.parse({})).toEqual({
      persistenceEnabled: true,
      saveDebounceMs: 1000,
      pollInterval: 3000,
    });
    expect(OrchestratorOptions.safeParse({ persistencePath: "./data" }).success).toBe(false);
    expect(OrchestratorOptions.parse({ persistencePath: "/var/lib/tutti" }).persistencePath).toBe("/var/lib/tutti");
  });

  it("of the workers have their documented defaults (D4-453)", () => {
    expect(WorkerOptions.parse({})).toEqual({
      maxWorkers: 5,
      pollInterval: 2000,
      workerTimeout: 300_000,
      retryLimit: 2,
      spawnDelay: 500,
      progressDetectionInterval: 30_000,
    });
  });

  it("of the sub-sessions have their documented defaults (D4-454)", () => {
    expect(SubSessionOptions.parse({})).toEqual({
      pollInterval: 5000,
      inactivityThreshold: 60_000,
      confirmationDelay: 30_000,
      resultPrefix: "**[Resultat de sous-tache]**\n\n",
      resultSuffix: "",
      maxMessageLength: 50_000,
      autoArchiveOnReturn: false,
      detectTaskSpawn: true,
      taskSpawnWindow: 10_000,
    });
  });

  it("of a template have their documented defaults (D4-455)", () => {
    expect(TemplateConfig.parse({})).toMatchObject({
      maxWorkers: 5,
      workerTimeout: 300_000,
      autoSpawn: false,
      parallelExecution: true,
      retryOnError: true,
      maxRetries: 2,
      sessionPrefix: "__orch_",
      pollInterval: 2000,
      hideWorkersFromList: true,
    });
  });

  it("apply to a run if neither a template nor a program sets them (D4-453, D4-455)", async () => {
    const lab = new ModuleLab();
    try {
      const { orchestrators, workers } = lab.managers(new FakeController(() => null));
      expect(workers.sharedEngine.maxWorkers).toBe(5);
      const { id } = await orchestrators.create({ templateId: "_default", cwd: lab.repo, message: "do it" });
      expect(orchestrators.sharedEngine.run(id).template.config).toMatchObject({
        maxWorkers: 5,
        workerTimeout: 300_000,
        autoSpawn: false,
        parallelExecution: true,
        retryOnError: true,
        maxRetries: 2,
        sessionPrefix: "__orch_",
        pollInterval: 2000,
        hideWorkersFromList: true,
        spawnDelay: 500,
        progressDetectionInterval: 30_000,
      });
    } finally {
      await lab.close();
    }
  });
});

describe("Answers of agents", () => {
  it("keep their snake_case names and unknown members (X18)", () => {
    const completion = { task_id: "a", status: "success", output_files: ["x"], mood: "good" };
    expect(CompletionAnswer.parse(completion)).toEqual(completion);
    expect(TaskListAnswer.safeParse({ tasks: [{ id: "a", title: "t" }] }).success).toBe(false);
    expect(AggregationAnswer.safeParse({ status: "needs_input" }).success).toBe(true);
  });
});

describe("The events of document 004 in a run of the five phases", () => {
  it("have the documented members first, then Tutti's own", () => {
    const documented: Record<string, string[]> = {
      "orchestrator:created": ["id", "templateId", "cwd", "status"],
      "orchestrator:started": ["id", "mainSessionId", "phase"],
      "orchestrator:phaseChanged": ["id", "previousPhase", "currentPhase", "status"],
      "orchestrator:analysisComplete": ["id", "analysis"],
      "orchestrator:tasksReady": ["id", "taskCount", "parallelGroups", "tasks"],
      "orchestrator:completed": ["id", "status", "aggregation", "stats"],
      "orchestrator:error": ["id", "operation", "error", "timestamp"],
      "orchestrator:cancelled": ["id", "phase"],
      "orchestrator:progress": ["id", "stats"],
      "worker:spawning": ["sessionId", "orchestratorId", "taskId"],
      "worker:spawned": ["sessionId", "orchestratorId", "taskId", "task"],
      "worker:started": ["sessionId", "orchestratorId", "taskId"],
      "worker:progress": ["sessionId", "orchestratorId", "taskId", "progress", "status", "currentAction", "toolStats"],
      "worker:completed": ["sessionId", "orchestratorId", "taskId", "output", "outputFiles"],
      "worker:failed": ["sessionId", "orchestratorId", "taskId", "error"],
      "worker:timeout": ["sessionId", "orchestratorId", "taskId"],
      "worker:cancelled": ["sessionId", "orchestratorId", "taskId"],
      "worker:paused": ["sessionId", "orchestratorId", "taskId"],
      "worker:resumed": ["sessionId", "orchestratorId", "taskId"],
      "worker:retrying": ["sessionId", "orchestratorId", "taskId", "retryCount"],
      "workers:archived": ["orchestratorId", "count", "errors"],
      "workers:deleted": ["orchestratorId", "count"],
      "orchestrator:paused": ["id", "previousStatus"],
      "orchestrator:resumed": ["id", "status", "phase"],
      "orchestrator:cleanup": ["id", "archived", "deleted", "removed"],
    };
    for (const [type, members] of Object.entries(documented)) {
      expect(Object.keys(EVENTS[type as keyof typeof EVENTS].shape).slice(0, members.length), type).toEqual(members);
    }
  });
});

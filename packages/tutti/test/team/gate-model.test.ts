// The gate as a state machine. A second, simple model says when a deployment may start: all states up to a depth are
// visited, then random sequences. No command may start a deployment, or a turn of one, that the model does not allow.
import { describe, expect, it } from "vitest";
import { approvalOf, gatedTemplate } from "./gate-story.ts";
import { approval, completion, rejection } from "./team-scenario.ts";
import { randomFrom } from "../lab/random.ts";
import { repetitions } from "../lab/repetitions.ts";
import { apply } from "../../src/run/apply.ts";
import type { Command, ReadMessage } from "../../src/run/command.ts";
import { decide } from "../../src/run/decide.ts";
import { deployableCommit } from "../../src/run/team/gate.ts";
import { turnOver } from "../run/make-run.ts";
import { TuttiError } from "../../src/schema/error.ts";
import type { RunEvent } from "../../src/schema/event.ts";
import type { Run } from "../../src/schema/run.ts";

const TTL = 1_000_000;
const DEPTH = repetitions(6, 8);
const SEQUENCES = repetitions(1500, 5000);
const LENGTH = 14;

const TEMPLATE = gatedTemplate({
  team: { rejectionLimit: 1 },
  gate: { environments: { staging: { override: true, approvalTtl: TTL } } },
});

interface World {
  run: Run;
  now: number;
  /** The approval in the model: the commit that may be deployed, until when, and for which work. */
  permit: { commit: string; until: number; work: string } | null;
}

/** The accepted work of everything but the deployment, and the moved refs: a change of it ends a permit. */
const workOf = (run: Run): string =>
  JSON.stringify([
    run.tasks
      .filter(({ role }) => role === "DEVELOPER")
      .map(({ id }) => run.workers[id])
      .map((worker) => (worker?.status === "completed" ? worker.commit : null)),
    run.movedRefs?.length ?? 0,
  ]);

function create(): World {
  const request = { templateId: "t", cwd: "/repo", message: "do it", customVariables: {}, agent: "command:x" };
  const [created] = decide(null, { type: "create", id: "orch_000000000000", template: TEMPLATE, ...request }, 0);
  let world: World = { run: apply(null, { ...created!, runSeq: 1, timestamp: 0 }), now: 0, permit: null };
  const commands: Command[] = [{ type: "start", base: "base", warnings: [] }, { type: "confirm" }];
  for (const command of commands) world = step(world, command)!;
  return world;
}

/** Applies a command and checks every event against the model. Returns null if the command was refused. */
function step(world: World, command: Command, review: "approves" | "refuses" | null = null): World | null {
  const now = world.now + 10;
  let events: RunEvent[];
  try {
    events = decide(world.run, command, now);
  } catch (error) {
    if (error instanceof TuttiError) return null;
    throw error;
  }
  return follow({ ...world, now }, events, review);
}

function follow(world: World, events: readonly RunEvent[], review: "approves" | "refuses" | null): World {
  let { run, permit } = world;
  for (const event of events) {
    const before = run;
    run = apply(run, { ...event, runSeq: run.runSeq + 1, timestamp: world.now });
    if (event.type === "worker:completed" && before.workers[event.data.taskId]?.task.role === "SECURITY_AUDITOR") {
      const commit = before.workers[event.data.taskId]!.session.start!;
      permit = review === "approves" ? { commit, until: world.now + TTL, work: workOf(run) } : null;
    }
    if (event.type === "gate:overridden")
      permit = { commit: event.data.commit, until: Number.POSITIVE_INFINITY, work: workOf(run) };
    if (event.type === "orchestrator:forked") permit = null;
    if (permit && (permit.work !== workOf(run) || world.now >= permit.until)) permit = null;
    const isStart = event.type === "worker:spawning" || event.type === "turn:started";
    const task = isStart && event.data.taskId !== null ? run.workers[event.data.taskId] : undefined;
    if (task?.task.role === "DEPLOYMENT" && task.session.start !== permit?.commit)
      throw new Error(`${event.type} of ${task.taskId} at ${task.session.start} with ${JSON.stringify(permit)}`);
  }
  return { run, now: world.now, permit };
}

const read = (body: Record<string, unknown>, more: Partial<ReadMessage> = {}): ReadMessage => ({
  type: "TASK_COMPLETION",
  body,
  exact: true,
  reasons: [],
  faults: [],
  ...more,
});

type Move = (world: World) => World | null;

/** The active worker of a role that has an open turn. */
const speaking = ({ run }: World, role: string) =>
  Object.values(run.workers).find(({ task, session }) => task.role === role && session.turn !== null);

function answer(
  world: World,
  role: string,
  messages: (id: string) => ReadMessage[],
  review: "approves" | "refuses" | null,
): World | null {
  const worker = speaking(world, role);
  if (!worker) return null;
  const { taskId, sessionId, session } = worker;
  const data = { task_id: taskId, status: "success" as const };
  const commit = role === "SECURITY_AUDITOR" ? session.start! : `work-of-${taskId}-${worker.attempt}`;
  const over = turnOver(
    { phase: "completion", data },
    { work: { commit, files: [], head: null }, messages: messages(taskId) },
  );
  const answered = step(world, { type: "turnOver", sessionId, turn: session.turn!.number, over }, review);
  return answered && approveByLead(answered);
}

/** The main session approves what waits for its verdict. */
function approveByLead(world: World): World {
  const { duty } = world.run;
  if (!duty) return world;
  let lead = step(world, { type: "spawnMain" }) ?? world;
  const { sessionId } = lead.run.main!;
  if (lead.run.main!.state === "spawning") lead = step(lead, { type: "ready", sessionId, start: "base" })!;
  const { turn } = lead.run.main!;
  if (!turn) return world;
  const over = turnOver(null, { messages: [approvalOf(duty.taskId)] });
  return step(lead, { type: "turnOver", sessionId, turn: turn.number, over }) ?? world;
}

const start = (world: World): World | null => {
  for (const { id } of world.run.tasks) {
    const spawned = step(world, { type: "spawn", taskId: id });
    const worker = spawned?.run.workers[id];
    if (!spawned || worker?.status !== "spawning" || world.run.workers[id]?.sessionId === worker.sessionId) continue;
    const base = worker.task.dependencies.map((need) => spawned.run.workers[need]?.commit).join("+") || "base";
    return step(spawned, { type: "ready", sessionId: worker.sessionId, start: worker.session.start ?? base });
  }
  return null;
};

/** Tries to start the deployment directly, whatever its state. */
const spawnDeployment: Move = (world) => step(world, { type: "spawn", taskId: "deployment" });

const lose = (world: World, role: string): World | null => {
  const worker = speaking(world, role);
  return worker ? step(world, { type: "lost", sessionId: worker.sessionId, reason: "gone", counted: false }) : null;
};

const fail = (world: World, role: string): World | null => {
  const worker = speaking(world, role);
  if (!worker) return null;
  const over = turnOver({ phase: "completion", data: { task_id: worker.taskId, status: "failed", error: "x" } });
  return step(world, { type: "turnOver", sessionId: worker.sessionId, turn: worker.session.turn!.number, over });
};

const MOVES: Record<string, Move> = {
  start,
  spawnDeployment,
  develop: (world) => answer(world, "DEVELOPER", (id) => [read(completion("DEVELOPER", { task_id: id }))], null),
  approve: (world) => answer(world, "SECURITY_AUDITOR", (id) => [read(approval({ task_id: id }))], "approves"),
  reject: (world) => answer(world, "SECURITY_AUDITOR", (id) => [read({ ...rejection("x"), task_id: id })], "refuses"),
  forge: (world) => {
    const inexact = (id: string): ReadMessage[] => [read(approval({ task_id: id }), { exact: false })];
    return answer(world, "SECURITY_AUDITOR", inexact, "refuses");
  },
  claim: (world) =>
    answer(world, "DEVELOPER", (id) => [read(approval({ task_id: id, from_agent: "DEVELOPER" }))], null),
  deploy: (world) => answer(world, "DEPLOYMENT", (id) => [read(completion("DEPLOYMENT", { task_id: id }))], null),
  failDeveloper: (world) => fail(world, "DEVELOPER"),
  failReview: (world) => fail(world, "SECURITY_AUDITOR"),
  failDeployment: (world) => fail(world, "DEPLOYMENT"),
  loseDeployment: (world) => lose(world, "DEPLOYMENT"),
  retryDeployment: (world) => step(world, { type: "retry", taskId: "deployment" }),
  retryReview: (world) => step(world, { type: "retry", taskId: "review" }),
  retryDeveloper: (world) => step(world, { type: "retry", taskId: "developer" }),
  override: (world) => step(world, { type: "overrideGate", environment: "staging", by: "ann", reason: "outage" }),
  overrideOther: (world) =>
    step(world, { type: "overrideGate", environment: "production", by: "ann", reason: "outage" }),
  pause: (world) => step(world, { type: "pause" }),
  resume: (world) => step(world, { type: "resume" }),
  wait: (world) => step({ ...world, now: world.now + TTL }, { type: "tick" }),
  moveRef: (world) => step(world, { type: "refMoved", moved: { ref: "r", recorded: "a", found: "b" } as never }),
  fork: (world) => {
    const data = { id: world.run.id, from: "orch_000000000001", at: 1, fresh: true };
    return follow(world, [{ type: "orchestrator:forked", data }], null);
  },
};

/** Records of the past that no rule reads again, and times, which count only as far as the model reads them. */
const PAST =
  /^(?:runSeq|teamMessages|decisions|usage|toolStats|endedTools|template|prompts|items|answers|number|since|deadline|reason|error|\w+At)$/;

/** Two worlds with the same key allow the same futures. */
const keyOf = ({ run, now, permit }: World): string =>
  JSON.stringify([run, permit && [permit.commit, permit.until > now]], (name, value: unknown) => {
    if (PAST.test(name)) return undefined;
    return name === "notBefore" && value !== null ? (value as number) > now : value;
  });

describe("the gate as a state machine", () => {
  it(`starts no deployment without a valid approval in any state up to depth ${DEPTH}`, () => {
    let frontier = [create()];
    const seen = new Set(frontier.map(keyOf));
    let deployments = 0;
    for (let depth = 0; depth < DEPTH; depth++) {
      const next: World[] = [];
      for (const world of frontier) {
        for (const move of Object.values(MOVES)) {
          const after = move(world);
          if (after === null || seen.has(keyOf(after))) continue;
          seen.add(keyOf(after));
          if (after.run.workers["deployment"]) deployments++;
          next.push(after);
        }
      }
      frontier = next;
    }
    expect(seen.size).toBeGreaterThan(repetitions(3000, 80_000));
    // The search reaches deployments, so the check is not empty.
    expect(deployments).toBeGreaterThan(0);
  });

  it(`starts no deployment without a valid approval in ${SEQUENCES} random sequences`, () => {
    const random = randomFrom(21);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const names = Object.keys(MOVES);
    const first = create();
    let deployments = 0;
    let disagreements = 0;
    for (let sequence = 0; sequence < SEQUENCES; sequence++) {
      let world = first;
      for (let move = 0; move < LENGTH; move++) {
        // Half of the moves advance the work, so that sequences reach the deployment.
        const name = random() < 0.5 ? pick(["start", "develop", "approve", "retryDeployment"]) : pick(names);
        world = MOVES[name]!(world) ?? world;
        const commit = deployableCommit(world.run, world.now);
        if (commit !== (world.permit?.commit ?? null)) disagreements++;
      }
      if (world.run.workers["deployment"]) deployments++;
    }
    expect(deployments).toBeGreaterThan(SEQUENCES / 50);
    expect(disagreements).toBe(0);
  });
});

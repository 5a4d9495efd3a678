// A fleet in virtual time: many hosts take attempts, die, come back late and report late, while the real rules (`decide`,
// `schedule`) decide for every run. Only hosts, queue and clock are simulated.
import { makeTemplate, Story, turnOver } from "../run/make-run.ts";
import { Random } from "../sim/random.ts";
import { schedule } from "../../src/run/schedule.ts";
import { isRunOver } from "../../src/schema/status.ts";

export interface FleetPlan {
  hosts: number;
  capacity: number;
  runs: number;
  tasksPerRun: number;
  leaseMs: number;
  /** The mean duration of a session. */
  taskMs: number;
  /** The mean time until a host dies or is cut off. */
  hostLifeMs: number;
  seed: string;
}

export interface FleetFigures {
  tookMs: number;
  completed: number;
  doubled: number;
  attempts: number;
  lost: number;
  /** Results of hosts that had lost their attempt. */
  late: number;
  mostAtOnce: number;
  events: number;
  /** In the busiest minute. */
  eventsPerSecond: number;
  /** From a decision to start an attempt to its host, in the 99th percentile. */
  placedP99Ms: number;
}

interface VirtualHost {
  isAlive: boolean;
  held: Set<VirtualAttempt>;
}

interface VirtualAttempt {
  story: Story;
  taskId: string;
  sessionId: string;
  since: number;
}

/** The most that a template allows. */
const MAX_WORKERS = 20;
const PREPARE_MS = 2000;
const MERGE_MS = 200;
const REPAIR_MS = 300_000;
const MINUTE = 60_000;

export class VirtualFleet {
  readonly #plan: FleetPlan;
  readonly #random: Random;
  readonly #hosts: VirtualHost[];
  readonly #stories: Story[];
  readonly #waiting: VirtualAttempt[] = [];
  readonly #due = new Map<number, (() => void)[]>();
  readonly #merging = new Set<string>();
  readonly #placed: number[] = [];
  readonly #perMinute = new Map<number, number>();
  #times: number[] = [];
  #now = 0;
  #attempts = 0;
  #lost = 0;
  #late = 0;
  #atOnce = 0;
  #mostAtOnce = 0;
  #open: number;

  constructor(plan: FleetPlan) {
    this.#plan = plan;
    this.#random = new Random(plan.seed);
    this.#hosts = Array.from({ length: plan.hosts }, () => ({ isAlive: true, held: new Set() }));
    this.#open = plan.runs;
    const disabled = { enabled: false };
    const template = makeTemplate({
      config: { maxWorkers: MAX_WORKERS, spawnDelay: 0 },
      phases: { aggregation: disabled, verification: disabled },
    });
    const tasks = Array.from({ length: plan.tasksPerRun }, (_, i) => ({ id: `t${i}` }));
    this.#stories = Array.from({ length: plan.runs }, () => new Story(template).execute(tasks));
  }

  run(): FleetFigures {
    for (const host of this.#hosts) this.#after(this.#lifetime(), () => this.#die(host));
    for (const story of this.#stories) this.#follow(story);
    while (this.#open > 0 && this.#times.length > 0) {
      this.#now = this.#times.shift()!;
      for (const act of this.#due.get(this.#now)!) act();
      this.#due.delete(this.#now);
    }
    return this.#figures();
  }

  #lifetime(): number {
    return Math.round(-Math.log(1 - this.#random.next()) * this.#plan.hostLifeMs);
  }

  #after(ms: number, act: () => void): void {
    const at = this.#now + Math.max(1, ms);
    const acts = this.#due.get(at);
    if (acts) return void acts.push(act);
    this.#due.set(at, [act]);
    // The list is sorted; a binary search keeps an insertion cheap.
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#times[middle]! < at) low = middle + 1;
      else high = middle;
    }
    this.#times.splice(low, 0, at);
  }

  #do(story: Story, command: Parameters<Story["do"]>[0]): void {
    story.now = this.#now;
    const wasOver = isRunOver(story.run.status);
    const events = story.do(command, 0);
    const minute = Math.floor(this.#now / MINUTE);
    this.#perMinute.set(minute, (this.#perMinute.get(minute) ?? 0) + events.length);
    if (!wasOver && isRunOver(story.run.status)) this.#open--;
  }

  /** Does what the engine would do after every change: merges work and starts attempts. */
  #follow(story: Story): void {
    const { spawn, merges } = schedule(story.run, { freeSlots: Number.POSITIVE_INFINITY }, this.#now);
    for (const taskId of merges) {
      const name = `${this.#stories.indexOf(story)} ${taskId}`;
      if (this.#merging.has(name)) continue;
      this.#merging.add(name);
      this.#after(MERGE_MS, () => {
        const commit = story.run.workers[taskId]!.commit!;
        this.#do(story, { type: "merged", taskId, commit, head: `head-${taskId}` });
        this.#follow(story);
      });
    }
    for (const taskId of spawn) {
      this.#do(story, { type: "spawn", taskId });
      const { sessionId } = story.run.workers[taskId]!;
      this.#waiting.push({ story, taskId, sessionId, since: this.#now });
      this.#attempts++;
    }
    this.#place();
  }

  #place(): void {
    while (this.#waiting.length > 0) {
      const host = this.#findRoom();
      if (!host) return;
      const attempt = this.#waiting.shift()!;
      host.held.add(attempt);
      this.#placed.push(this.#now - attempt.since);
      this.#mostAtOnce = Math.max(this.#mostAtOnce, ++this.#atOnce);
      this.#after(PREPARE_MS, () => this.#begin(host, attempt));
    }
  }

  /** Any host with room may claim the next job. */
  #findRoom(): VirtualHost | undefined {
    const from = this.#random.int(0, this.#hosts.length - 1);
    const hasRoom = ({ isAlive, held }: VirtualHost) => isAlive && held.size < this.#plan.capacity;
    for (let i = 0; i < this.#hosts.length; i++) {
      const host = this.#hosts[(from + i) % this.#hosts.length]!;
      if (hasRoom(host)) return host;
    }
    return undefined;
  }

  #begin(host: VirtualHost, attempt: VirtualAttempt): void {
    if (!host.isAlive || !host.held.has(attempt)) return;
    const { story, sessionId } = attempt;
    this.#do(story, { type: "ready", sessionId, start: "base" });
    const duration = this.#plan.taskMs * (0.5 + this.#random.next());
    this.#after(Math.round(duration), () => this.#report(host, attempt));
  }

  #report(host: VirtualHost, attempt: VirtualAttempt): void {
    const { story, taskId, sessionId } = attempt;
    // A host that is only cut off reports when it is back.
    if (!host.isAlive) return this.#after(REPAIR_MS, () => this.#report(host, attempt));
    const isHeld = host.held.delete(attempt);
    if (isHeld) this.#atOnce--;
    else this.#late++;
    const answer = { phase: "completion" as const, data: { task_id: taskId, status: "success" as const } };
    const work = { commit: `commit-${sessionId}`, files: [`${taskId}.md`], head: null };
    this.#do(story, { type: "turnOver", sessionId, turn: 1, over: turnOver(answer, { work }) });
    this.#follow(story);
  }

  #die(host: VirtualHost): void {
    host.isAlive = false;
    this.#after(this.#plan.leaseMs, () => {
      for (const attempt of host.held) {
        host.held.delete(attempt);
        this.#atOnce--;
        this.#lost++;
        const { story, sessionId } = attempt;
        this.#do(story, { type: "lost", sessionId, reason: "its host was lost", counted: false });
        this.#follow(story);
      }
    });
    this.#after(REPAIR_MS, () => {
      host.isAlive = true;
      this.#after(this.#lifetime(), () => this.#die(host));
      this.#place();
    });
  }

  #figures(): FleetFigures {
    const completions = this.#stories.map(
      (story) => story.types().filter((type) => type === "worker:completed").length,
    );
    const completed = this.#stories.flatMap(({ run }) => Object.values(run.workers)).filter(isCompleted).length;
    return {
      tookMs: this.#now,
      completed,
      doubled: completions.reduce((sum, each) => sum + each, 0) - completed,
      attempts: this.#attempts,
      lost: this.#lost,
      late: this.#late,
      mostAtOnce: this.#mostAtOnce,
      events: this.#stories.reduce((sum, { log }) => sum + log.length, 0),
      eventsPerSecond: Math.max(...this.#perMinute.values()) / 60,
      placedP99Ms: this.#placed.toSorted((a, b) => a - b)[Math.ceil(0.99 * this.#placed.length) - 1]!,
    };
  }
}

const isCompleted = ({ status }: { status: string }): boolean => status === "completed";

// Hooks that work, fail or hang. Each may run at most once per cause, and only after the log records its start.
import type { Owner } from "./loop.ts";
import type { Stage } from "./stage.ts";
import type { CommandRunner, HookFunction } from "../../src/engine/hooks.ts";
import type { StoredEvent } from "../../src/schema/event.ts";

export class SimHooks {
  readonly #stage: Stage;
  readonly #seen = new Set<string>();
  readonly #isRecorded: (run: string, cause: number) => boolean;

  constructor(stage: Stage, isRecorded: (run: string, cause: number) => boolean) {
    this.#stage = stage;
    this.#isRecorded = isRecorded;
  }

  #recordCall(event: Pick<StoredEvent, "run" | "runSeq">): string {
    const key = `${event.run} ${event.runSeq}`;
    this.#stage.require(!this.#seen.has(key), "I18", () => `the hook for ${key} ran twice`);
    this.#stage.require(this.#isRecorded(event.run!, event.runSeq), "I18", () => `the hook for ${key} is not recorded`);
    this.#seen.add(key);
    return this.#stage.random.fork(`hook ${key}`).weighted({ well: 5, fail: 2, hang: 1 });
  }

  readonly run: HookFunction = (event) => {
    const how = this.#recordCall(event);
    if (this.#stage.has("hook-run-twice")) this.#recordCall(event);
    this.#stage.count(`hooks: ${how}`);
    if (how === "fail") throw new Error("the simulated hook fails");
    return how === "hang" ? new Promise<void>(() => {}) : undefined;
  };

  /** The runner ends a command at its timeout. */
  commandFor(owner: Owner): CommandRunner {
    return (_, { stdin, timeoutMs }) => {
      const how = this.#recordCall(JSON.parse(stdin) as StoredEvent);
      this.#stage.count(`hooks: ${how}`);
      return new Promise((resolve) => {
        const ms = how === "hang" ? timeoutMs : Math.min(20, timeoutMs);
        this.#stage.loop.at(ms, owner, "hook command", () => resolve({ ok: how === "well", detail: how }));
      });
    };
  }
}

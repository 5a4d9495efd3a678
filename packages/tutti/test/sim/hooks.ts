// Hooks that work, fail or hang, and that remember how often they were called: at most once for each cause, and never
// before the log says that they are about to run.
import type { Owner } from "./loop.ts";
import type { Stage } from "./stage.ts";
import type { CommandRunner, HookFunction } from "../../src/engine/hooks.ts";
import type { StoredEvent } from "../../src/schema/event.ts";

export class SimHooks {
  readonly #stage: Stage;
  readonly #called = new Set<string>();
  /** Whether the log holds the start of a hook for this event. */
  readonly #isRecorded: (run: string, cause: number) => boolean;

  constructor(stage: Stage, isRecorded: (run: string, cause: number) => boolean) {
    this.#stage = stage;
    this.#isRecorded = isRecorded;
  }

  #heard(event: Pick<StoredEvent, "run" | "runSeq">): string {
    const key = `${event.run} ${event.runSeq}`;
    this.#stage.require(!this.#called.has(key), "I18", () => `the hook for ${key} ran twice`);
    this.#stage.require(this.#isRecorded(event.run!, event.runSeq), "I18", () => `the hook for ${key} is not recorded`);
    this.#called.add(key);
    return this.#stage.random.fork(`hook ${key}`).weighted({ well: 5, fail: 2, hang: 1 });
  }

  readonly run: HookFunction = (event) => {
    const how = this.#heard(event);
    if (this.#stage.has("hook-run-twice")) this.#heard(event);
    this.#stage.count(`hooks: ${how}`);
    if (how === "fail") throw new Error("the hook does not feel like it");
    return how === "hang" ? new Promise<void>(() => {}) : undefined;
  };

  /** A command is ended by its runner when its time is up. */
  commandFor(owner: Owner): CommandRunner {
    return (_, { stdin, timeoutMs }) => {
      const how = this.#heard(JSON.parse(stdin) as StoredEvent);
      this.#stage.count(`hooks: ${how}`);
      return new Promise((resolve) => {
        const ms = how === "hang" ? timeoutMs : Math.min(20, timeoutMs);
        this.#stage.loop.at(ms, owner, "hook command", () => resolve({ ok: how === "well", detail: how }));
      });
    };
  }
}

// Work in progress, saved now and then: an attempt whose machine dies before its turn is over has not worked for nothing.
// It only keeps; nothing is decided by it, and what cannot be saved this time is saved the next.
import type { World } from "../world.ts";

export interface WorkSaverOptions {
  world: World;
  /** How long a session may work until what it has made is saved again; 0 for never. */
  everyMs: number;
  save: () => Promise<void>;
}

export class WorkSaver {
  readonly #options: WorkSaverOptions;
  #lastAt: number;
  #saving: Promise<void> | null = null;

  constructor(options: WorkSaverOptions) {
    this.#options = options;
    this.#lastAt = options.world.mono();
  }

  /** The agent has done something. */
  worked(): void {
    const { world, everyMs, save } = this.#options;
    if (everyMs === 0 || this.#saving || world.mono() - this.#lastAt < everyMs) return;
    this.#saving = save()
      .catch(() => {})
      .finally(() => {
        this.#lastAt = world.mono();
        this.#saving = null;
      });
  }

  /** Resolves when nothing is being saved. */
  async settled(): Promise<void> {
    await this.#saving;
  }
}

// Saves work in progress at intervals, so that a crash of the machine does not lose a whole turn. Nothing is decided by
// it; the next save repeats a failed one.
import type { World } from "../../world.ts";

export interface WorkSaverOptions {
  world: World;
  /** Minimum interval between two saves, in milliseconds; 0 disables saving. */
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

  async settled(): Promise<void> {
    await this.#saving;
  }
}

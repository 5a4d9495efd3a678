// `WorkSaver` saves work in progress at intervals, so that a crash of the machine does not lose a whole turn. It
// decides nothing, and the next save repeats a failed one.
import type { World } from "../../world.ts";

interface WorkSaverOptions {
  world: World;
  /** Least time between two saves; with 0 the `WorkSaver` saves nothing. */
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

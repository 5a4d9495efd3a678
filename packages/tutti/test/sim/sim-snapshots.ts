// Stores folded states. They are written later, or never.
import type { Effects } from "./effects.ts";
import type { Disk } from "./sim-store.ts";
import type { StateSnapshot, Snapshots } from "../../src/store/snapshots.ts";

export class SimSnapshots implements Snapshots {
  readonly #disk: Disk;
  readonly #effects: Effects;

  constructor(disk: Disk, effects: Effects) {
    this.#disk = disk;
    this.#effects = effects;
  }

  load(run: string): StateSnapshot | null {
    return this.#disk.snapshots.get(run) ?? null;
  }

  overview(): (Omit<StateSnapshot, "state"> & { run: string })[] {
    return Array.from(this.#disk.snapshots, ([run, { runSeq, seq, fold, over, summary }]) => {
      return { run, runSeq, seq, fold, over, summary };
    });
  }

  save(run: string, snapshot: StateSnapshot): void {
    const { stage, snapshots } = this.#disk;
    const kept = stage.has("snapshot-of-another-moment") ? { ...snapshot, seq: snapshot.seq + 3 } : snapshot;
    this.#effects.after(this.#effects.latency(), `snapshot of ${run}`, () => snapshots.set(run, kept));
  }
}

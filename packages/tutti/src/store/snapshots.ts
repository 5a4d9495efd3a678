// States that were folded before. They only save time: the log is the truth, a snapshot that is missing or of another
// version of the fold is made anew from it, and nothing is ever decided by one.

export interface Snapshot {
  /** The last event in it, counted within the run and over the store. */
  runSeq: number;
  seq: number;
  /** The version of the fold that made it; of no use to another. */
  fold: number;
  /** Whether nothing more will happen in the run by itself: no process and no workspace of it is left. */
  over: boolean;
  /** What lists show, as JSON. */
  summary: string;
  /** The whole state, as JSON. */
  state: string;
}

export interface Snapshots {
  load(run: string): Snapshot | null;
  /** Every snapshot without its state. */
  overview(): (Omit<Snapshot, "state"> & { run: string })[];
  /** Stored some time soon. A failure is nobody's loss and is not told. */
  save(run: string, snapshot: Snapshot): void;
}

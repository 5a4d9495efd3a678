// A `StateSnapshot` saves the time of folding. The log is authoritative: a snapshot that is missing or made by another
// version of the fold is folded again from the log.

export interface StateSnapshot {
  /** Position of the last folded event: `runSeq` within the run, `seq` within the store. */
  runSeq: number;
  seq: number;
  /** Version of the fold that made `state`. Other versions ignore the snapshot. */
  fold: number;
  /** Whether the run is finished and has no process or workspace left, so nothing happens in it without a command. */
  over: boolean;
  /** The run's row in lists, as JSON. */
  summary: string;
  state: string;
}

export interface Snapshots {
  load(run: string): StateSnapshot | null;
  /** Omits `state`, which is large. */
  overview(): (Omit<StateSnapshot, "state"> & { run: string })[];
  /**
   * Stores `snapshot` later, and may read its members only then: to encode a large state takes time in which no session
   * starts. Errors are ignored because the log suffices.
   */
  save(run: string, snapshot: StateSnapshot): void;
}

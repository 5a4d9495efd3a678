// `ServerWatch` decides which servers of a database are gone: those that left, and those with a `beat` that no longer
// changes.
//
// Only successful observations count, so that servers which were all cut off from the database find each other alive
// when it is back.

/** The `beat` of a server that left, or lost its runs to another, is the negative time of that. */
export const hasLeft = (beat: number): boolean => beat < 0;
export const BEAT_MS = 1500;
/** A server is gone after `MISSED_BEATS` observations of the same `beat`. */
const MISSED_BEATS = 5;

export interface ServerBeat {
  id: string;
  beat: number;
}

export class ServerWatch {
  readonly #seen = new Map<string, { beat: number; times: number }>();

  /** Takes the beats of the other servers, about every `BEAT_MS`, and returns those of servers that are gone. */
  observe(beats: readonly ServerBeat[]): ServerBeat[] {
    return beats.filter(({ id, beat }) => {
      const last = this.#seen.get(id);
      const times = last?.beat === beat ? last.times + 1 : 0;
      this.#seen.set(id, { beat, times });
      return hasLeft(beat) || times >= MISSED_BEATS;
    });
  }
}

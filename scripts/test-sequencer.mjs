// Decides the order in which Vitest starts test files: the longest first, so that none runs alone at the end. Vitest
// knows durations only from an earlier run, which a fresh clone lacks.
import { BaseSequencer } from "vitest/node";

/** The longest first. Files that are not listed start later. */
const LONG_FILES = [
  "sim/sim",
  "cli/run",
  "web/looks",
  "web/dashboard",
  "engine/engine",
  "engine/steering",
  "cli/steer",
  "engine/known-results",
  "cli/rehearse",
  "session/cdp",
  "large",
  "power/power-loss",
  "session/memory",
];

export class LongFilesFirst extends BaseSequencer {
  /**
   * @override
   * @param {import("vitest/node").TestSpecification[]} files
   */
  async sort(files) {
    const rank = (/** @type {import("vitest/node").TestSpecification} */ { moduleId }) => {
      const place = LONG_FILES.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return place < 0 ? LONG_FILES.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

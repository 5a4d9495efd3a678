// The order in which Vitest starts test files: the long ones first, so that none of them ends alone on one core. Vitest
// itself knows durations only from an earlier run, which a fresh clone does not have.
import { BaseSequencer } from "vitest/node";

/** The longest first. A file that is missing here is only started later. */
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
  "session/local/large",
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

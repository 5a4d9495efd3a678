// Decides the order in which Vitest starts test files: the longest first, so that none runs alone at the end. Vitest
// knows durations only from an earlier run, which a fresh clone lacks.
import { BaseSequencer } from "vitest/node";

/** The longest first. Files that are not listed start later. */
const LONG_FILES = [
  "sim/sim",
  "cli/run",
  "web/screens",
  "web/looks",
  "cli/joined-engine",
  "web/dashboard",
  "crash/kill-agent",
  "crash/interrupt",
  "session/cdp",
  "engine/engine",
  "large",
  "engine/steering",
  "cli/steer",
  "session/memory",
  "power/power-loss",
  "cli/rehearse",
  "engine/known-results",
];

/** The project with the shortest files is last, so that all workers end at the same time. */
const PROJECTS = ["alone", "shared", "light"];

export class LongFilesFirst extends BaseSequencer {
  /**
   * @override
   * @param {import("vitest/node").TestSpecification[]} files
   */
  async sort(files) {
    const rank = (/** @type {import("vitest/node").TestSpecification} */ { moduleId, project }) => {
      const place = LONG_FILES.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return place < 0 ? LONG_FILES.length + PROJECTS.indexOf(project.name) : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

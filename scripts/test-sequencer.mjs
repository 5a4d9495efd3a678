// Decides the order in which Vitest starts test files: project by project, as `vitest.config.ts` lists them, because only
// neighbours share a process. Within a project the order is Vitest's own.
import { BaseSequencer } from "vitest/node";

export class BatchesInOrder extends BaseSequencer {
  /**
   * @override
   * @param {import("vitest/node").TestSpecification[]} files
   */
  async sort(files) {
    const place = (/** @type {import("vitest/node").TestSpecification} */ { project }) =>
      this.ctx.projects.findIndex(({ name }) => name === project.name);
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

// Commands for merges in the simulation: a hash of the files decides whether they pass.
import type { Effects } from "./effects.ts";
import { hash } from "./random.ts";
import type { Repository } from "./repository.ts";
import type { Stage } from "./stage.ts";
import type { CheckRunner } from "../../src/engine/sessions/run-checks.ts";

export const simChecks = (stage: Stage, repository: Repository, effects: Effects): CheckRunner => ({
  detect: async () => [],
  run: (_, { cwd }) =>
    effects.act(`check ${cwd}`, () => {
      const files = repository.folders.get(cwd)?.files ?? {};
      const fails = hash(JSON.stringify(files)) % 4 === 0;
      stage.count(fails ? "failed merge checks" : "passed merge checks");
      return { exitCode: fails ? 1 : 0, output: "" };
    }),
});

// Kills the agents of a run at random moments of every phase, before and after the first byte. Every session is resumed
// or attempted anew, and nothing that is done is lost.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { EngineLab } from "../engine/engine-lab.ts";
import { programOf } from "../lab/program-of.ts";
import { randomFrom } from "../lab/random.ts";
import { repetitions } from "../lab/repetitions.ts";
import { pathWith } from "../session/played-program.ts";
import { isRunOver } from "../../src/schema/status.ts";
import { MemoryStore } from "../../src/store/memory.ts";

/** Per phase and agent. */
const KILLS = repetitions(1, 2, "TUTTI_TEST_KILLS");
const SEED = Number(process.env["TUTTI_TEST_SEED"] ?? 17);
/** Longer than any turn, so that some agents die after their answer or not at all. */
const MAX_BYTES = 4000;
const FATES = [
  "analysis-main",
  "task_list-main",
  "completion-one",
  "completion-two",
  "aggregation-main",
  "verification-main",
];

/** The name of an agent that the program of mortal.ts runs. */
const AGENTS: Record<string, (folder: string) => string> = {
  claude: (folder) => onPath("claude", folder),
  codex: (folder) => onPath("codex", folder),
  acp: () => `acp:${[process.execPath, programOf("mortal.ts"), process.execPath, programOf("acp.ts")].join(" ")}`,
};

function onPath(name: "claude" | "codex", folder: string): string {
  vi.stubEnv("PATH", pathWith(name, folder, "mortal.ts"));
  return name;
}

describe.each(Object.keys(AGENTS))(`%s, killed ${KILLS} times in every phase (seed ${SEED})`, (name) => {
  let lab: EngineLab;
  afterEach(async () => {
    vi.unstubAllEnvs();
    for (const engine of lab.engines) await engine.close();
    lab.tearDown();
  });

  it("completes every run, and each task once", { timeout: 600_000 + KILLS * 30_000 }, async () => {
    const random = randomFrom(SEED);
    for (let kill = 0; kill < KILLS; kill++) {
      lab = new EngineLab();
      const fates = join(lab.folder, "fates");
      mkdirSync(fates);
      // The first run of each agent dies before the first byte everywhere.
      const moments = FATES.map((fate) => [fate, kill === 0 ? 0 : Math.floor(random() * MAX_BYTES)] as const);
      for (const [fate, bytes] of moments) writeFileSync(join(fates, fate), String(bytes));
      const agent = AGENTS[name]!(lab.folder);
      const store = new MemoryStore();
      const engine = lab.open(store, { agentEnv: { LAB_FATES: fates, LAB_MEMORY: lab.folder } });
      const phases = { verification: { enabled: true } };
      const id = await lab.begin(engine, agent, { phases, config: { autoSpawn: true } });
      const run = await engine.until(id, ({ status }) => isRunOver(status) || status === "paused");
      const why = JSON.stringify({ moments, errors: run.errors, inbox: run.inbox });
      expect([run.status, run.outcome], why).toEqual(["completed", "success"]);
      expect(run.inbox, why).toEqual({});
      const completed = store.read({}).filter(({ type }) => type === "worker:completed");
      expect(completed.map(({ data }) => (data as { taskId: string }).taskId).toSorted(), why).toEqual(["one", "two"]);
      for (const task of ["one", "two"]) expect(lab.git("show", `tutti/${id}:${task}.md`)).toBe("written");
      expect(readdirSync(fates).every((file) => file.endsWith(".taken"))).toBe(true);
      await engine.settled(id);
      await engine.close();
      expect(lab.leftovers()).toEqual([]);
      lab.tearDown();
    }
  });
});

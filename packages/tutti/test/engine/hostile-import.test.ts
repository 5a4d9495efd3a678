// Imported logs whose author wants Tutti's git to write files or to move refs of the user.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { TuttiError } from "../../src/schema/error.ts";
import { MemoryStore } from "../../src/store/memory.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

const COMMIT = /\b[0-9a-f]{40}\b/g;

it.each([
  ["an option of git", (evil: string) => `--output=${evil}`],
  ["a branch of the user", () => "refs/heads/trunk"],
  ["a path outside", () => "../../../../outside"],
])("an imported log whose commits are %s has no effect on files and refs", async (_, commitOf) => {
  const first = lab.open(new MemoryStore());

  const agent = lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), goodWorker]);
  const id = await lab.begin(first, agent, { config: { autoSpawn: true } });
  await untilOver(first, id);
  const whole = first.export(id);
  await first.cleanup(id);

  const evil = join(lab.folder, "evil");
  const forged = whole.replaceAll(COMMIT, commitOf(evil));
  const lines = forged.trimEnd().split("\n");
  const merged = lines.findIndex((line) => line.includes('"type":"workspace:merged"'));
  expect(merged).toBeGreaterThan(0);
  /** The branch of the run itself may go. */
  const refs = (): string[] =>
    lab
      .git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")
      .split("\n")
      .filter((line) => !line.startsWith("refs/heads/tutti/"));
  const before = refs();
  const status = lab.git("status", "--porcelain");
  // The run is over, or was interrupted after its first merge and continues.
  for (const text of [forged, lines.slice(0, merged + 1).join("\n")]) {
    const engine = lab.open(new MemoryStore(), { isTrusted: () => true });
    await engine.import(text);
    const attempts: (() => unknown)[] = [
      () => engine.diff(id),
      () => engine.dropResult(id),
      () => engine.order(id, "resume"),
      () => engine.activate(id),
      () => engine.settled(id),
      () => engine.cleanup(id),
    ];
    for (const attempt of attempts) {
      try {
        await attempt();
      } catch (error) {
        expect(error).toBeInstanceOf(TuttiError);
      }
    }
    expect(engine.list().length).toBeLessThanOrEqual(1);
    await engine.close();
  }
  expect(existsSync(evil)).toBe(false);
  expect(before).toHaveLength(1);
  expect(refs()).toEqual(before);
  expect(lab.git("status", "--porcelain")).toBe(status);
});

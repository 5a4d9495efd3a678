// A real run is recorded with everything that it does to files; then the power goes at one moment after another, each
// time with another part of what was not synced. Whatever had been told by then must be there, everything must open, and
// the run must reach its end. A process that is killed cannot show this: its writes are in the system's memory.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Disk } from "./disk.ts";
import { readTree } from "./files.ts";
import { findLosses } from "./find-losses.ts";
import { dice, randomLuck, SIMPLE } from "./luck.ts";
import { loseTheRest, lossesAt, recordProgram, recordRun, tellingMoments, withoutSyncs } from "./recorded-run.ts";
import type { Moment, RecordedRun } from "./recorded-run.ts";
import { findStrace, withStrace } from "./strace.ts";
import { Lab, type JsonLine } from "../lab/lab.ts";

/** How many states are looked at; every so many of them is also gone on from. */
const STATES = Number(process.env["TUTTI_TEST_POWER"] ?? 24);
const GO_ON_EVERY = 12;
const SEED = Number(process.env["TUTTI_TEST_SEED"] ?? 1);
const PROMISING = fileURLToPath(new URL("./promising-process.ts", import.meta.url));

/** Some of the moments just after something was told, and any others. */
function chooseMoments(run: RecordedRun, count: number): Moment[] {
  const random = dice(SEED);
  const telling = tellingMoments(run.operations);
  const anywhere = () => 1 + Math.floor(random() * run.operations.length);
  const told = () => telling[Math.floor(random() * telling.length)]!;
  const lucks = Object.values(SIMPLE);
  return Array.from({ length: count }, (_, i) => ({
    at: i % 2 === 0 ? told() : anywhere(),
    model: i % 3 === 2 ? "journal" : "strict",
    luck: lucks[i % 4] ?? randomLuck(random),
  }));
}

/** The losses that are found when the power goes at the moments at which most can be lost. */
function lossesWithout(run: RecordedRun, forgotten: (path: string) => boolean): string[] {
  const faulty = withoutSyncs(run, forgotten);
  const telling = tellingMoments(faulty.operations);
  const some = [Math.floor(telling.length / 2), telling.length - 2].map((i) => telling[i]!);
  const lucks = [SIMPLE["nothing"]!, SIMPLE["names"]!];
  return some.flatMap((at) => lucks.flatMap((luck) => lossesAt(faulty, { at, model: "strict", luck })));
}

describe(`a run whose power goes (${STATES} states, seed ${SEED})`, () => {
  let run: RecordedRun;
  beforeAll(async () => {
    if (findStrace() !== null) run = await recordRun(new Lab());
  });
  afterAll(() => run?.lab.tearDown());

  it(
    "is recorded completely: the operations give the very files that it left",
    withStrace(async () => {
      const disk = new Disk(run.lab.folder, run.before);
      for (const operation of run.operations) disk.apply(operation);
      const left = readTree(run.lab.folder);
      const { live } = disk;
      expect([...live.keys()].toSorted()).toEqual([...left.keys()].toSorted());
      for (const path of left.keys()) expect(textAt(live, path), path).toBe(textAt(left, path));
    }),
  );

  it(
    "opens whenever it goes while the data folder is being made",
    withStrace(async () => {
      const first = tellingMoments(run.operations)[0]!;
      for (let at = 1; at < first; at += 2)
        expect(lossesAt(run, { at, model: "strict", luck: SIMPLE["nothing"]! }), `after ${at} operations`).toEqual([]);
    }),
  );

  it(
    "has lost nothing that was told, opens, and goes on to its end",
    { timeout: 600_000 + STATES * 10_000 },
    withStrace(async () => {
      for (const [i, moment] of chooseMoments(run, STATES).entries()) {
        const where = `state ${i} of seed ${SEED}, after ${moment.at} operations (${moment.model})`;
        expect(lossesAt(run, moment), where).toEqual([]);
        if (i % GO_ON_EVERY === GO_ON_EVERY - 1) await goOn(run.lab, where);
      }
    }),
  );

  it(
    "finds it when the log is not synced",
    withStrace(async () => {
      const losses = lossesWithout(run, (path) => path.endsWith("tutti.db-wal"));
      expect(losses).toContainEqual(expect.stringMatching(/^the event \d+ \(worker:completed\) was told and is lost$/));
    }),
  );

  it(
    "finds it when no folder is synced",
    withStrace(async () => {
      const folders = new Set([run.lab.folder, ...foldersOf(run)]);
      const losses = lossesWithout(run, (path) => folders.has(path));
      expect(losses).toContainEqual(
        expect.stringMatching(/^the event \d+ \(orchestrator:created\) was told and is lost$/),
      );
    }),
  );

  it(
    "finds it when git's folders of objects are not synced",
    withStrace(async () => {
      const losses = lossesWithout(run, (path) => foldersOf(run).has(path) && path.includes("/.git/objects"));
      expect(losses).toContainEqual(expect.stringMatching(/^the commit \w+ of a told \S+ is not whole/));
    }),
  );

  it(
    "finds it when git's objects are not synced",
    withStrace(async () => {
      const losses = lossesWithout(run, (path) => /\/\.git\/objects\/\w\w\/./.test(path));
      expect(losses).toContainEqual(expect.stringMatching(/^the commit \w+ of a told \S+ is not whole/));
    }),
  );

  it(
    "finds it when refs are not synced",
    withStrace(async () => {
      const losses = lossesWithout(run, (path) => path.includes("/.git/refs/"));
      expect(losses).toContainEqual(
        expect.stringMatching(/^refs\/tutti\/\w+\/one\/1 does not hold \w+, which was told$/),
      );
      expect(losses).toContainEqual(expect.stringMatching(/^git complains of a ref/));
    }),
  );

  it(
    "finds it when the files of a session are not synced",
    withStrace(async () => {
      const losses = lossesWithout(run, (path) => path.includes("/sessions/"));
      expect(losses).toContainEqual(expect.stringMatching(/^the session \S+ cannot be read: SyntaxError/));
    }),
  );
});

describe("what is written on somebody's word outside of a run", () => {
  let run: RecordedRun;
  beforeAll(async () => {
    if (findStrace() === null) return;
    const lab = new Lab();
    run = await recordProgram(lab, [PROMISING, lab.folder, lab.repo, lab.git("rev-parse", "HEAD")]);
  });
  afterAll(() => run?.lab.tearDown());

  it(
    "is there, whole, when the power goes the moment after: token, trust, templates, mailbox, an agent's own commits",
    withStrace(async () => {
      const disk = new Disk(run.lab.folder, run.before);
      const said: string[] = [];
      for (const [i, operation] of run.operations.entries()) {
        disk.apply(operation);
        if (operation.type !== "said") continue;
        const [, what = "", name = ""] = /^(file|commit) (.*)\n$/.exec(operation.text) ?? [];
        said.push(what);
        for (const luck of [SIMPLE["nothing"]!, SIMPLE["names"]!]) {
          if (what === "file") expect(textAt(disk.afterLoss("strict", luck), name), name).toBe(textAt(disk.live, name));
          else expect(lossOfCommit(run, { at: i + 1, model: "strict", luck }, name)).toEqual([]);
        }
      }
      expect(said.filter((what) => what === "file").length).toBeGreaterThan(8);
      expect(said.at(-1)).toBe("commit");
    }),
  );
});

function lossOfCommit(run: RecordedRun, moment: Moment, commit: string): string[] {
  loseTheRest(run, moment);
  const told = { seq: 1, type: "orchestrator:verified", run: "orch_aaaaaaaaaaaa", data: { head: commit } } as JsonLine;
  return findLosses(run.lab, [told]).filter((loss) => loss.startsWith("the commit"));
}

function textAt(tree: ReturnType<typeof readTree>, path: string): string | null {
  const found = tree.get(path);
  return found?.kind === "file" ? found.bytes.toString("latin1") : null;
}

function foldersOf(run: RecordedRun): Set<string> {
  const made = run.operations.flatMap((operation) => (operation.type === "makeFolder" ? [operation.path] : []));
  return new Set([...made, ...[...run.before].flatMap(([path, { kind }]) => (kind === "folder" ? [path] : []))]);
}

/** A new engine takes the run up; its work must be that of the agents, byte for byte. */
async function goOn(lab: Lab, where: string): Promise<void> {
  const id = existsSync(join(lab.data, "tutti.db")) ? lab.events()[0]?.run : null;
  // The power went before there was a run.
  if (!id) return;
  const { last } = await lab.json(["attach", id, "--yes"]);
  expect(last, where).toMatchObject({ outcome: "success", census: { planned: 2, completed: 2 } });
  const show = (file: string) => lab.git("show", `tutti/${id}:${file}`);
  expect(["README.md", "docs/one.md", "docs/two.md"].map(show), where).toEqual([
    "# A project",
    "# Title of one",
    "# Title of two",
  ]);
  expect(lab.git("ls-tree", "-r", "--name-only", `tutti/${id}`).split("\n"), where).toHaveLength(3);
  // Files of sessions that were over before may be back, and mean nothing.
  const left = lab.leftovers().filter((line) => !line.startsWith("sessions/"));
  expect(left, where).toEqual([]);
}

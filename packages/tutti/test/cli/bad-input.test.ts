// Refused commands exit with the documented code, print an error code and a sentence, and leave nothing behind.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InProcessLab } from "./in-process.ts";
import { goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { lockFolder } from "../../src/store/folder-lock.ts";

let lab: InProcessLab;
beforeEach(() => {
  lab = new InProcessLab();
});
afterEach(() => lab.tearDown());

const good = () => lab.scenario([...mainSession([{ id: "one" }]), goodWorker]);

describe("tutti run", () => {
  it.each([
    ["an unknown template", () => ["--template", "no-such", "--agent", good()], 3, "template_not_found"],
    ["an unknown agent", () => ["--agent", "nobody"], 3, "agent_unknown"],
    ["a missing program", () => ["--agent", "command:no-such-program"], 5, "agent_not_startable"],
    ["a missing scenario file", () => ["--agent", "script:nowhere.json"], 5, "agent_not_startable"],
    ["a scenario that is not JSON", () => ["--agent", `script:${lab.write("x.json", "{")}`], 2, "invalid_scenario"],
    ["a missing folder", () => ["--cwd", join(lab.folder, "nowhere"), "--agent", good()], 3, "folder_not_found"],
    ["a git folder", () => ["--cwd", join(lab.repo, ".git"), "--agent", good()], 4, "not_a_repository"],
    ["a folder with its own data", () => ["--cwd", lab.folder, "--agent", good()], 4, "repository_unusable"],
    ["an empty repository", () => ["--cwd", emptyRepository(), "--agent", good()], 4, "empty_repository"],
    ["a variable without a value", () => ["--var", "NAME", "--agent", good()], 2, "usage"],
    ["too many workers", () => ["--max-workers", "99", "--agent", good()], 2, "usage"],
  ])("refuses %s with an exit code, an error code and a sentence, and creates no run", async (_, flags, exit, code) => {
    const { code: status, last } = await lab.json(["run", "x", "--cwd", lab.repo, ...flags()]);
    expect([status, last.error?.code]).toEqual([exit, code]);
    expect(last.error!.message.length).toBeGreaterThan(20);
    expect((await lab.json(["list"])).stdout.trim()).toBe("[]");
    expect(lab.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/trunk");
  });

  it("prints the error on stderr and nothing on stdout", async () => {
    const { code, stdout, stderr } = await lab.tutti(["run", "x", "--agent", "nobody", "--cwd", lab.repo]);
    expect(code).toBe(3);
    expect(stdout).toBe("");
    expect(stderr).toContain('error (agent_unknown): Agent "nobody" does not exist.');
  });

  it.each([[["run"]], [["no-such-command"]], [["list", "--no-such-flag"]]])(
    "refuses wrong usage %j with exit 2",
    async (args) => {
      expect((await lab.tutti(args)).code).toBe(2);
    },
  );

  it("and the other commands exit with 3 for an unknown run id", async () => {
    for (const command of ["status", "attach", "confirm", "cancel"]) {
      expect(await lab.json([command, "orch_000000000000"])).toMatchObject({
        code: 3,
        last: { error: { code: "run_not_found" } },
      });
    }
  });
});

function emptyRepository(): string {
  const folder = join(lab.folder, "empty");
  mkdirSync(folder, { recursive: true });
  spawnSync("git", ["init", "-q", folder]);
  return folder;
}

describe("an invalid plan", () => {
  it.each([
    [
      "a cycle",
      [
        { id: "a", dependencies: ["b"] },
        { id: "b", dependencies: ["a"] },
      ],
      "a → b → a",
    ],
    ["an unknown dependency", [{ id: "a", dependencies: ["ghost"] }], "ghost, which is not in the plan"],
    ["a double id", [{ id: "a" }, { id: "a" }], "two tasks have the id a"],
    ["no task", [], "the plan has no task"],
    ["an invalid task id", [{ id: "../../etc" }], "cannot be used as a task id"],
  ])(
    "with %s is requested twice more, then shown with its errors, and cannot be confirmed: exit 4",
    async (_, tasks, reason) => {
      const { code, lines, last } = await lab.json([
        "run",
        "x",
        "--cwd",
        lab.repo,
        "--agent",
        lab.scenario(mainSession(tasks)),
        "--yes",
      ]);
      expect([code, last.error?.code]).toEqual([4, "invalid_plan"]);
      expect(last.error!.message).toContain(reason);
      const planningTurns = lines.filter(
        (line) => line.type === "turn:started" && (line.data as { phase: string }).phase === "taskPlanning",
      );
      expect(planningTurns).toHaveLength(3);
      const id = lab.events()[0]!.run!;
      expect(await lab.json(["confirm", id])).toMatchObject({ code: 4, last: { error: { code: "invalid_plan" } } });
      expect((await lab.json(["status", id])).last).toMatchObject({
        status: "confirming",
        errors: [{ phase: "taskPlanning", code: "invalid_plan", error: expect.stringContaining(reason) }],
      });
    },
  );
});

describe("a data folder", () => {
  it("that a program holds without answering is refused with exit 4, and nothing is written", async () => {
    mkdirSync(lab.data);
    const lock = lockFolder(lab.data, { pid: process.pid });
    const refused = await lab.json(["run", "y", "--cwd", lab.repo, "--agent", "local", "--yes"], {});
    lock.release();
    expect(refused).toMatchObject({ code: 4, last: { error: { code: "data_folder_in_use" } } });
    expect(refused.last.error!.message).toContain(`(process ${process.pid})`);
    expect(existsSync(join(lab.data, "tutti.db"))).toBe(false);
  });

  it("on a full disk ends the command with disk_full and exit 4, ends the agents, and stays readable", async () => {
    // `unshare` mounts a small disk that only this command sees. An ordinary user needs a user namespace for that.
    const disk = join(lab.folder, "disk");
    mkdirSync(disk);
    const launcher = join(import.meta.dirname, "../../bin/tutti.js");
    const big = "x".repeat(600_000);
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }]),
      worker("*", {
        tools: ["Write"],
        block: { phase: "completion", data: { task_id: "one", status: "success", output: big } },
      }),
    ]);
    const keep = join(lab.folder, "kept");
    const script = `mount -t tmpfs -o size=1200k tmpfs "$1" && shift && "$@"; code=$?; cp -r ${disk} ${keep}; exit $code`;
    const command = [
      process.execPath,
      launcher,
      "--json",
      "--data-dir",
      join(disk, "data"),
      "run",
      "x",
      "--cwd",
      lab.repo,
      "--agent",
      agent,
      "--yes",
    ];
    const unshare = process.getuid!() === 0 ? ["-m"] : ["-Urm"];
    const result = spawnSync("unshare", [...unshare, "sh", "-c", script, "sh", disk, ...command], {
      encoding: "utf8",
      timeout: 600_000,
    });
    const last = JSON.parse(result.stdout.trim().split("\n").at(-1)!) as { error?: { code: string } };
    expect([result.status, last.error?.code], result.stdout.slice(-2000) + result.stderr).toEqual([4, "disk_full"]);
    await expect.poll(() => lab.leftovers().filter((left) => left.startsWith("process"))).toEqual([]);
    const log = join(keep, "data");
    const later = await lab.json(["--data-dir", log, "list"]);
    expect(later.last).toMatchObject([{ status: "running" }]);
  });

  it("that is not writable is refused with storage_failed", async () => {
    const file = join(lab.folder, "a-file");
    writeFileSync(file, "");
    const { code, last } = await lab.json([
      "--data-dir",
      join(file, "data"),
      "run",
      "x",
      "--cwd",
      lab.repo,
      "--agent",
      good(),
    ]);
    expect([code, last.error?.code]).toEqual([1, "storage_failed"]);
  });
});

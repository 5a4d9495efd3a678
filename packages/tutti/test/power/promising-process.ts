// A process for power-loss.test.ts: writes every file that is written outside of a run, and prints after each write the
// file or commit that must now survive.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { assignment } from "../mailbox/mailbox-lab.ts";
import { Mailbox } from "../../src/mailbox/mailbox.ts";
import { loadToken } from "../../src/server/access/token.ts";
import { TemplateLibrary } from "../../src/template/files/library.ts";
import { TrustedPrograms } from "../../src/template/trusted.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";
import { realWorld } from "../../src/world.ts";

const [folder = "", repo = "", head = ""] = process.argv.slice(2);
const data = join(folder, "some", "data");
const say = (what: "file" | "commit", name: string) => process.stdout.write(`${what} ${name}\n`);

loadToken(data);
say("file", join(data, "token"));

new TrustedPrograms(join(data, "trusted.json")).add("0123456789abcdef".repeat(4));
say("file", join(data, "trusted.json"));

new TemplateLibrary({ userFolder: join(data, "templates") }).create({ id: "mine", name: "Mine", extends: "_default" });
say("file", join(data, "templates", "mine.json"));

const mailbox = new Mailbox({ project: repo, world: realWorld });
for (const file of (await mailbox.init()).made) say("file", file);
say("file", (await mailbox.send("developer", assignment("one"))).file);
say("file", (await mailbox.clear("developer")).archive);

// An agent commits with its own git, which syncs almost nothing.
const workspaces = createGitWorkspaces({ folder: join(data, "worktrees") });
const key = { runId: "orch_aaaaaaaaaaaa", name: "task", attempt: 1 };
await workspaces.openBranch(repo, key.runId, head);
const { path } = await workspaces.prepare(repo, key, head);
for (const name of ["first", "second"]) {
  writeFileSync(join(path, name), `${name}\n`);
  spawnSync("git", ["add", "-A"], { cwd: path });
  spawnSync("git", ["commit", "-q", "-m", name], { cwd: path });
}
say("commit", (await workspaces.snapshot(repo, key, head, "work")).commit);

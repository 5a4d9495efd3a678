// A process for crash.test.ts to kill: creates a workspace, works in it and removes it, in a loop. It makes two ahead and
// uses one of them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";

const [repo = "", folder = "", runId = "", head = ""] = process.argv.slice(2);
const workspaces = createGitWorkspaces({ folder });
const key = { runId, name: "task", attempt: 1 };

process.stdout.write("started\n");
for (let round = 0; ; round++) {
  await workspaces.prepareAhead(repo, { ...key, name: "later" }, head);
  await workspaces.prepareAhead(repo, key, head);
  const { path } = await workspaces.prepare(repo, key, head);
  writeFileSync(join(path, "work.txt"), `round ${round}\n`);
  const { commit } = await workspaces.snapshot(repo, key, head, "work");
  await workspaces.openBranch(repo, runId, head);
  await workspaces.integrate(repo, runId, head, { commit, message: "merge" });
  await workspaces.move(repo, key, head);
  await workspaces.release(repo, runId);
}

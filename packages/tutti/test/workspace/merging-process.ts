// A process for result.test.ts to kill in the middle of a merge.
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";

const [repo = "", folder = "", runId = "", head = ""] = process.argv.slice(2);
await createGitWorkspaces({ folder }).mergeResult(repo, runId, head, { noFf: false, message: "merge" });

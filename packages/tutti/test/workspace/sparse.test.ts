import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { commitAll, git, laboratory, RUN, write } from "./laboratory.ts";

it.each([["--cone"], ["--no-cone"]])(
  "a workspace of a sparse checkout (%s) is sparse, and its snapshot keeps the other files",
  async (mode) => {
    const lab = laboratory();
    write(lab.repo, { "src/one.ts": "1\n", "other/two.ts": "2\n" });
    commitAll(lab.repo, "more");
    git(lab.repo, "sparse-checkout", "set", mode, "src");
    expect(existsSync(join(lab.repo, "other"))).toBe(false);
    const key = { runId: RUN, name: "task", attempt: 1 };
    const { path } = await lab.workspaces.prepare(lab.repo, key, "HEAD");
    expect([existsSync(join(path, "src/one.ts")), existsSync(join(path, "other"))]).toEqual([true, false]);
    write(path, { "src/one.ts": "changed\n", "src/new.ts": "new\n" });
    const { commit, files } = await lab.workspaces.snapshot(lab.repo, key, "HEAD", "work");
    expect(files).toEqual(["src/new.ts", "src/one.ts"]);
    expect(git(lab.repo, "show", `${commit}:other/two.ts`)).toBe("2");
    // A file that the agent writes outside the sparse part is work, too.
    write(path, { "other/three.ts": "3\n" });
    await lab.workspaces.move(lab.repo, key, commit);
    expect(existsSync(join(path, "other"))).toBe(false);
    await lab.workspaces.close();
  },
);

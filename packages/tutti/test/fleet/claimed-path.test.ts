import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { FleetLab } from "./fleet-lab.ts";
import { newDatabase, query, withPostgres } from "../lab/postgres.ts";
import { NO_CHECKS } from "../../src/engine/sessions/run-checks.ts";
import { withRemoteWorkspaces } from "../../src/fleet/remote-workspaces.ts";
import { openHeldStore } from "../../src/main/held-store.ts";
import { Exchange } from "../../src/workspace/exchange/exchange.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";

let lab: FleetLab;
afterEach(() => lab.end());

it(
  "a host cannot name the workspace of another attempt or of the server, whose checks it would answer",
  withPostgres(async () => {
    lab = new FleetLab();
    lab.url = await newDatabase();
    expect(spawnSync("git", ["clone", "-q", "--bare", lab.repo, lab.remote]).status).toBe(0);
    lab.git("remote", "add", "origin", lab.remote);
    const { fleet, store, lock } = await openHeldStore(lab.data, lab.url);
    const local = createGitWorkspaces({ folder: join(lab.data, "worktrees") });
    try {
      await query(
        lab.url,
        `INSERT INTO tutti_hosts.host (id, name, seen_at, lease_ms) VALUES ('host', 'host', now(), 600000);
         INSERT INTO tutti_hosts.attempt (key, run, session, host, state)
           SELECT 'run/' || task || '/1', 'run', task, 'host', 'held' FROM unnest(ARRAY['a', 'b', 'c', 'd', 'e']) AS task`,
      );
      const exchange = new Exchange(join(lab.folder, "transfers"));
      const { workspaces } = withRemoteWorkspaces({ fleet, workspaces: local, checks: NO_CHECKS, exchange });
      const start = lab.git("rev-parse", "HEAD");
      const keyOf = (name: string) => ({ runId: "run", name, attempt: 1, sessionId: name });
      /** The host of the attempt replies that its workspace has this path. */
      const claim = async (name: string, path: string) => {
        const prepared = workspaces.prepare(lab.repo, keyOf(name), start);
        prepared.catch(() => {});
        const reply = "UPDATE tutti_hosts.request SET reply = $2 WHERE key = $1 AND reply IS NULL RETURNING key";
        const key = `run/${name}/1`;
        await expect.poll(() => query(lab.url, reply, [key, JSON.stringify({ ok: { path } })])).toHaveLength(1);
        await query(lab.url, "SELECT pg_notify('tutti_reports', $1)", [key]);
        return prepared;
      };
      const here = await workspaces.prepare(lab.repo, keyOf("here"), start);
      expect(await claim("a", "/work/a")).toEqual({ path: "/work/a" });
      for (const [name, path] of [
        ["b", "/work/a"],
        ["c", here.path],
        ["d", `/${"x".repeat(5000)}`],
        ["e", "/work/\0"],
      ] as const)
        await expect(claim(name, path)).rejects.toMatchObject({
          code: "workspace_failed",
          message: expect.stringContaining("cannot be its workspace"),
        });
    } finally {
      await local.close();
      await fleet.close();
      await store.close();
      lock.release();
    }
  }),
);

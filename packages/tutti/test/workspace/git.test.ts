import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { git, startGit } from "../../src/workspace/git.ts";

const cwd = tmpdir();
/** The session id is field 6 of `stat`; the program's name contains no space here. */
const sessionOf = (pid: number | "self") => readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[5];

describe("git", () => {
  it("runs in its own session, which Ctrl-C on the terminal does not reach", async () => {
    const alias = "alias.session=!cut -d' ' -f6 /proc/self/stat #";
    const { stdout } = await git("name its session", ["-c", alias, "session"], { cwd });
    expect(stdout.trim()).toMatch(/^\d+$/);
    expect(stdout.trim()).not.toBe(sessionOf("self"));
    const staying = startGit(["hash-object", "--stdin"], { cwd });
    expect(sessionOf(staying.pid!)).toBe(String(staying.pid));
    staying.stdin.end();
    await once(staying, "close");
  });

  it("contacts no remote without `network`, not even one in a folder", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tutti-git-"));
    try {
      const gitDir = join(folder, "other");
      await git("make a repository", ["init", "--quiet", "--bare", gitDir], { cwd: folder });
      const list = (network: boolean) => git("list refs", ["ls-remote", gitDir], { cwd: folder, network });
      expect((await list(true)).code).toBe(0);
      await expect(list(false)).rejects.toMatchObject({ message: expect.stringMatching(/'file' not allowed/) });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each(["gpg.program", "log.showSignature"])(
    "verifies no signature, also if only %s is not overridden",
    async (guard) => {
      const folder = mkdtempSync(join(tmpdir(), "tutti-git-"));
      try {
        const run = async (...args: string[]) => (await git("try it", args, { cwd: folder })).stdout.trim();
        await run("init", "--quiet");
        const tree = await run("write-tree");
        const by = "a <a@example.org> 1 +0000";
        const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEzBAABCAAdFiEE\n -----END PGP SIGNATURE-----";
        const input = Buffer.from(`tree ${tree}\nauthor ${by}\ncommitter ${by}\n${signature}\n\nthe message\n`);
        const { stdout } = await git("sign", ["hash-object", "-t", "commit", "-w", "--stdin"], { cwd: folder, input });
        const program = join(folder, "program");
        writeFileSync(program, `#!/bin/sh\ntouch '${join(folder, "was-run")}'\n`, { mode: 0o755 });
        const settings = { "gpg.program": program, "log.showSignature": "true" };
        for (const [name, value] of Object.entries(settings)) await run("config", name, value);
        const show = ["log", "-1", "--format=%B", stdout.trim()];
        // `-c` wins over the override of this setting.
        expect(await run("-c", `${guard}=${settings[guard as keyof typeof settings]}`, ...show)).toBe("the message");
        expect(existsSync(join(folder, "was-run"))).toBe(false);
        await run("-c", `gpg.program=${program}`, "-c", "log.showSignature=true", ...show);
        expect(existsSync(join(folder, "was-run"))).toBe(true);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  it("is killed with its children when it exceeds its timeout", async () => {
    const args = ["-c", "alias.hang=!sleep 100000 #", "hang"];
    await expect(git("hang", args, { cwd, timeoutMs: 100 })).rejects.toMatchObject({
      code: "git_failed",
      message:
        'Git could not hang: it did not finish within 0.1 seconds. Try again, or check the disk and the repository with "git fsck".',
    });
  });

  it("is killed when it prints too much, and only the beginning of its errors is kept", async () => {
    const flood = ["-c", "alias.flood=!yes #", "flood"];
    await expect(git("count", flood, { cwd, maxStdout: 1_000_000 })).rejects.toMatchObject({
      code: "git_failed",
      message: "Git could not count: it printed more than 1000000 bytes. Try again.",
    });
    const complain = ["-c", "alias.complain=!echo the start >&2; yes | head -c 9000000 >&2 #", "complain"];
    const { stderr } = await git("complain", complain, { cwd });
    expect(stderr.length).toBeLessThan(3_000_000);
    expect(stderr).toMatch(/^the start\n/);
  });
});

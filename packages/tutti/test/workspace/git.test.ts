import { once } from "node:events";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
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

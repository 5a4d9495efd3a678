// Attempts of an agent to leave the sandbox, as data for the agent and for the test that checks them from outside.

/** Part of every secret outside of the sandbox. */
export const CANARY = "canary-of-the-user";
/** The argument of a process that must not outlive its session. */
export const SURVIVOR = "86399.25";

export interface Surroundings {
  home: string;
  data: string;
  repo: string;
  /** Contains all of them. */
  lab: string;
  /** A process of the user with `CANARY` in its environment. */
  pid: number;
}

/** `path` must not change outside. A `write` must fail unless the agent has a place of its own there (`isOwn`). */
export interface EscapeAttempt {
  name: string;
  /** `open` opens the file for writing, and writes nothing: outside it would change the whole machine. */
  kind: "read" | "write" | "open" | "command";
  path: string | null;
  command?: string;
  isOwn?: boolean;
}

export function escapeAttempts({ home, data, repo, lab, pid }: Surroundings): EscapeAttempt[] {
  const git = `${repo}/.git`;
  const admin = `${git}/worktrees/a-1`;
  const read = (name: string, path: string): EscapeAttempt => ({ name: `read ${name}`, kind: "read", path });
  const write = (name: string, path: string): EscapeAttempt => ({ name: `write ${name}`, kind: "write", path });
  const open = (name: string, path: string): EscapeAttempt => ({ name: `open ${name}`, kind: "open", path });
  const own = (name: string, path: string): EscapeAttempt => ({ ...write(name, path), isOwn: true });
  const run = (name: string, command: string, path: string | null = null): EscapeAttempt => ({
    name,
    kind: "command",
    path,
    command,
  });
  return [
    read("a private key", `${home}/.ssh/id_ed25519`),
    read("the shell's history", `${home}/.bash_history`),
    read("the login of Claude", `${home}/.claude/.credentials.json`),
    read("the login of Codex", `${home}/.codex/auth.json`),
    read("the login of Gemini", `${home}/.gemini/oauth_creds.json`),
    read("keys of a cloud", `${home}/.aws/credentials`),
    read("the server's token", `${data}/token`),
    read("the key of keepers", `${data}/keeper.key`),
    read("the settings", `${data}/tutti.config.json`),
    read("the database", `${data}/tutti.db`),
    read("a file of another run", `${data}/worktrees/orch_other/a-1/secret`),
    read("an untracked file of the checkout", `${repo}/.env`),
    read("a secret through /proc/self/root", `/proc/self/root${home}/.ssh/id_ed25519`),
    read("a secret through the first process", `/proc/1/root${home}/.ssh/id_ed25519`),
    read("a secret through the folder of the first process", `/proc/1/cwd/${home}/.ssh/id_ed25519`),
    read("a secret through the root of a process outside", `/proc/${pid}/root${home}/.ssh/id_ed25519`),
    read("the environment of a process outside", `/proc/${pid}/environ`),
    read("the environment of the first process", "/proc/1/environ"),

    own("to the home", `${home}/.bashrc`),
    own("a new file in the home", `${home}/.profile`),
    own("a temporary file", `/tmp/tutti-escape-${pid}`),
    own("to the shared memory", `/dev/shm/tutti-escape-${pid}`),
    write("the server's token", `${data}/token`),
    write("the settings", `${data}/tutti.config.json`),
    write("a request to a keeper", `${data}/sessions/evil.json`),
    write("a template", `${data}/templates/evil.json`),
    write("a file of the checkout", `${repo}/README.md`),
    write("a new file in the checkout", `${repo}/new.md`),
    own("beside the repository", `${lab}/evil`),
    write("a hook", `${git}/hooks/post-checkout`),
    write("the repository's settings", `${git}/config`),
    write("a branch", `${git}/refs/heads/evil`),
    write("the user's branch", `${git}/refs/heads/trunk`),
    write("the packed refs", `${git}/packed-refs`),
    write("the user's HEAD", `${git}/HEAD`),
    write("the user's index", `${git}/index`),
    write("attributes", `${git}/info/attributes`),
    write("a pack", `${git}/objects/pack/evil.pack`),
    write("alternates", `${git}/objects/info/alternates`),
    write("the pointer to the repository", `${admin}/commondir`),
    write("the pointer to the worktree", `${admin}/gitdir`),
    write("the pointer of its workspace", ".git"),
    write("an entry of another worktree", `${git}/worktrees/evil/gitdir`),
    write("to /etc", "/etc/tutti-escape"),
    write("a program", "/usr/local/bin/tutti-escape"),
    write("to /run", "/run/tutti-escape"),
    write("a scheduled command", "/var/spool/cron/tutti-escape"),
    open("the handler of core dumps", "/proc/sys/kernel/core_pattern"),
    open("a limit of the kernel", "/proc/sys/kernel/pid_max"),

    run("make a branch with git", "git branch evil", `${git}/refs/heads/evil`),
    run("make a tag with git", "git tag evil", `${git}/refs/tags/evil`),
    run("move the user's branch", "git update-ref refs/heads/trunk HEAD", `${git}/refs/heads/trunk`),
    run("push to the repository", "git push -q . HEAD:refs/heads/evil", `${git}/refs/heads/evil`),
    run("change the settings with git", "git config core.hooksPath /tmp/hooks", `${git}/config`),
    run("add a worktree", "git worktree add -q --detach /tmp/evil", `${git}/worktrees/evil`),
    run("delete the packs", `rm -rf ${git}/objects/pack`, `${git}/objects/pack/keep`),
    run("replace the pointer of its workspace", `rm -f .git; mv -f .git old; echo ${CANARY} > .git; cat .git`),
    run("follow a link of its own", `ln -s ${home}/.ssh key; cat key/id_ed25519`),
    run("write through a link of its own", `ln -s ${lab} out; echo x > out/evil`, `${lab}/evil`),
    run("link a secret into the workspace", `ln ${home}/.ssh/id_ed25519 hard; cat hard`),
    run("end a process outside", `kill -9 ${pid}`),
    run("search all environments", "cat /proc/*/environ"),
    run("unmount the home", `umount -l ${home}; cat ${home}/.ssh/id_ed25519`),
    run(
      "unmount the home in a namespace of its own",
      `unshare -Urm sh -c 'umount -l ${home}; cat ${home}/.ssh/id_ed25519'`,
    ),
    run("mount the disk again", `mount -o remount,rw /; touch /etc/tutti-escape`, "/etc/tutti-escape"),
    run(
      "mount the disk again in a namespace of its own",
      "unshare -Urm sh -c 'mount -o remount,rw /; touch /etc/tutti-escape'",
      "/etc/tutti-escape",
    ),
    run("enter the namespaces of the first process", `nsenter -t 1 -m -p cat ${home}/.ssh/id_ed25519`),
    run("change the root", `chroot /proc/1/root cat ${home}/.ssh/id_ed25519`),
    run("become another user", `sudo -n cat ${home}/.ssh/id_ed25519; su -c 'cat ${home}/.ssh/id_ed25519'`),
    run("make a device", "mknod disk b 254 0 && head -c 100 disk"),
    run("ask the engine through its socket", `curl -s --unix-socket ${data}/engine.sock http://x/api/orchestrator`),
    run("write the output again", `: > /proc/self/fd/1/../token`, `${data}/token`),
    run("leave a process behind", `setsid env -i sleep ${SURVIVOR} >/dev/null 2>&1 </dev/null &`),
  ];
}

// The command line of bubblewrap for an agent.
//
// 1. The agent sees this machine's files read-only, except for the paths in `mounts`. A deeper path wins.
// 2. It has its own process ids, so it sees no other process, and none of its processes outlives it.
// 3. It has no capabilities. A user namespace that it creates itself cannot undo a mount, because the kernel locks it.
// 4. No new terminal session: the keeper has none, and signals to the agent's process group must reach the agent.

export const ISOLATION: readonly string[] = [
  ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
  ["--die-with-parent", "--cap-drop", "ALL"],
  ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
  // Root may change settings of the kernel even without capabilities, and needs one for a sandbox within the sandbox,
  // such as that of Codex. Other users need neither.
  process.getuid?.() === 0 ? ["--cap-add", "CAP_SETFCAP", "--ro-bind", "/proc/sys", "/proc/sys"] : [],
].flat();

/** A `Mount` is a path as the agent finds it. With `from` it has the content of another path of this machine. */
export type Mount =
  | { path: string; kind: "readable" | "writable" | "emptyFolder" | "emptyFile" }
  | { path: string; kind: "from"; source: string };

export interface SandboxSpec {
  /** The path of bubblewrap. */
  program: string;
  mounts: readonly Mount[];
  network: boolean;
}

export function sandboxCommand(spec: SandboxSpec, cwd: string, command: readonly string[]): string[] {
  const mounts = spec.mounts.toSorted((a, b) => depthOf(a.path) - depthOf(b.path));
  // An empty folder becomes read-only last, because it contains the mount points of deeper paths.
  const sealed = mounts.filter(({ kind }) => kind === "emptyFolder").flatMap(({ path }) => ["--remount-ro", path]);
  return [
    spec.program,
    ...ISOLATION,
    ...(spec.network ? [] : ["--unshare-net"]),
    ...mounts.flatMap(mountOption),
    ...sealed,
    "--chdir",
    cwd,
    "--",
    ...command,
  ];
}

function mountOption(mount: Mount): string[] {
  const { path } = mount;
  switch (mount.kind) {
    case "readable":
      return ["--ro-bind-try", path, path];
    case "writable":
      return ["--bind-try", path, path];
    case "from":
      return ["--bind", mount.source, path];
    case "emptyFolder":
      return ["--tmpfs", path];
    case "emptyFile":
      return ["--ro-bind", "/dev/null", path];
  }
}

const depthOf = (path: string): number => path.split("/").filter((part) => part !== "").length;

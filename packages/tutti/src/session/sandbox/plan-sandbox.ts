// `planSandbox` decides which files an agent finds in the sandbox.
//
// 1. Hidden: the user's home, the data folder, the user's checkout, `/run` with the sockets of services, and `/tmp`. In
//    the place of the home and of `/tmp` the agent has empty folders of its own.
// 2. Writable: the workspace, these folders, and the paths that the driver declares, such as a login.
// 3. Below hidden folders the agent can read its program, the folders on the PATH and the user's git settings.
import { realpathSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { programPaths } from "./program-paths.ts";
import type { Mount, SandboxSpec } from "./sandbox-command.ts";
import { scratchFolder } from "./scratch-folder.ts";
import type { SandboxPaths } from "../../schema/agent/sandbox.ts";

interface SandboxPlan {
  /** The path of bubblewrap. */
  program: string;
  network: boolean;
  sessionFolder: string;
  dataFolder: string;
  command: readonly string[];
  env: Readonly<Record<string, string>>;
  /** The paths that the workspace, the driver and the user's settings declare. */
  paths: readonly SandboxPaths[];
}

const TEMPORARY = "/tmp";
const RUNTIME = "/run";
const GIT_SETTINGS = [".gitconfig", ".config/git"];

export function planSandbox(plan: SandboxPlan): SandboxSpec {
  const { program, network, sessionFolder, dataFolder, command, env } = plan;
  const scratch = scratchFolder(sessionFolder);
  const declared = (kind: keyof SandboxPaths): string[] => plan.paths.flatMap((each) => each[kind] ?? []);
  const home = realPath(env["HOME"] || homedir());
  const temporary = realPath(env["TMPDIR"] ?? "");
  const mounts = new Map<string, Mount>();
  const add = (mount: Mount | null): void => void (mount && mounts.set(mount.path, mount));

  for (const path of [dataFolder, RUNTIME, userInfo().homedir, ...declared("hidden")]) add(emptied(path));
  if (home !== null && home !== "/") add({ path: home, kind: "from", source: join(scratch, "home") });
  const shared = realPath(TEMPORARY) ?? TEMPORARY;
  add({ path: shared, kind: "from", source: join(scratch, "tmp") });
  const isRoot = (folder: string): boolean => folder === "/" || mounts.has(folder);
  const holdsHidden = [...mounts.keys()].some((path) => isWithin(temporary ?? "", path));
  // A temporary folder that the user has set is shared with the agent, unless it `holdsHidden` paths.
  if (temporary !== null && temporary !== "/") {
    if (holdsHidden) add({ path: temporary, kind: "from", source: join(scratch, "tmp") });
    else add({ path: temporary, kind: "writable" });
  }

  const readable = [
    ...programPaths(command, env["PATH"] ?? "", isRoot),
    ...GIT_SETTINGS.map((name) => join(home ?? "/", name)),
    realPath("/etc/resolv.conf"),
    ...declared("readable"),
  ];
  for (const path of declared("writable")) {
    const real = realPath(path);
    if (real !== null && !isRoot(real)) add({ path: real, kind: "writable" });
  }
  const roots = [...mounts.keys()];
  for (const path of readable) {
    const place = path === null ? null : placeOf(path);
    // All other paths are readable without a mount.
    if (place !== null && !mounts.has(place) && roots.some((root) => isWithin(root, place)))
      add({ path: place, kind: "readable" });
  }
  return { program, mounts: [...mounts.values()], network };
}

function emptied(path: string): Mount | null {
  const real = realPath(path);
  if (real === null || real === "/") return null;
  return { path: real, kind: statSync(real).isDirectory() ? "emptyFolder" : "emptyFile" };
}

function realPath(path: string): string | null {
  if (!isAbsolute(path)) return null;
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** `placeOf` has no symbolic links in its folder. The last part may be one: its target then appears in its place. */
function placeOf(path: string): string | null {
  const folder = realPath(dirname(path));
  return folder === null || realPath(path) === null ? null : join(folder, basename(path));
}

const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

import { folderOf } from "./classify.ts";

/** `folder` itself comes first, the root ("") last. */
export function ancestors(folder: string): string[] {
  const folders = [folder];
  for (let at = folder; at !== "";) {
    at = folderOf(at);
    folders.push(at);
  }
  return folders;
}

/** Joins and normalises a path. Returns "\0", which names no file, for a path that leaves the root. */
export function joinPath(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of [...folder.split("/"), ...path.split("/")]) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return "\0";
  }
  return parts.join("/");
}

import { spawn } from "node:child_process";

/** Returns false if `editor` cannot be started or fails, and when `signal` ends it. */
export function editFile(file: string, signal: AbortSignal): Promise<boolean> {
  const editor = process.env["VISUAL"] || process.env["EDITOR"] || "vi";
  // `editor` may contain arguments, as in `code --wait`, so a shell runs it.
  const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", signal });
  return new Promise((resolve) => {
    child.on("error", () => resolve(false));
    child.on("close", (code) => resolve(code === 0));
  });
}

import { spawn } from "node:child_process";

/**
 * Opens a file in the editor of the user, on this terminal. Returns false if the editor cannot be started or fails, and
 * when `signal` ends it.
 */
export function editFile(file: string, signal: AbortSignal): Promise<boolean> {
  const editor = process.env["VISUAL"] || process.env["EDITOR"] || "vi";
  // By a shell, because the variable may contain arguments, as in `code --wait`.
  const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", signal });
  return new Promise((resolve) => {
    child.on("error", () => resolve(false));
    child.on("close", (code) => resolve(code === 0));
  });
}

import { spawn } from "node:child_process";

/** Does nothing without a `browserProgram`. The command does not wait for the browser. */
export function openBrowser(url: string): void {
  const program = browserProgram(process.env);
  if (program === null) return;
  const child = spawn(program, [url], { stdio: "ignore", detached: true });
  // The user still has the printed URL.
  child.on("error", () => {});
  child.unref();
}

/** Returns null without a display: `xdg-open` would start a browser on the terminal of the command. */
function browserProgram(env: NodeJS.ProcessEnv): string | null {
  if (env["BROWSER"]) return env["BROWSER"];
  if (process.platform === "darwin") return "open";
  return env["DISPLAY"] || env["WAYLAND_DISPLAY"] ? "xdg-open" : null;
}

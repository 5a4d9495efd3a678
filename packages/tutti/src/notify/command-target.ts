// A command of the person's own as a target. There is no shell in between, so nothing that an agent wrote is ever read as
// a part of the command.
import type { Delivery, Target } from "./target.ts";
import { jsonBody } from "./webhook-body.ts";
import { runCommand } from "../session/run-command.ts";

const TIMEOUT_MS = 8000;
/** What programs need that speak to the person's desktop, besides what every program needs. */
const PASSED_ON =
  "PATH HOME USER LANG LC_ALL TZ TMPDIR DISPLAY WAYLAND_DISPLAY XAUTHORITY XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS";

const UNWATCHED: Delivery = { ok: false, detail: "nobody waited for its end", again: { afterMs: 0 } };

export function commandTarget(command: string, cwd: string, env: Readonly<NodeJS.ProcessEnv>): Target {
  const passed = PASSED_ON.split(" ").flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return {
    name: "command",
    key: "command",
    sums: true,
    async tell(told, signal) {
      if (signal.aborted) return UNWATCHED;
      const facts = {
        TUTTI_NOTIFY_ID: told.id,
        TUTTI_NOTIFY_KIND: told.kind,
        TUTTI_NOTIFY_RUN: told.run,
        TUTTI_NOTIFY_TASK: told.taskId ?? "",
        TUTTI_NOTIFY_TITLE: told.title,
        TUTTI_NOTIFY_TEXT: told.text,
        TUTTI_NOTIFY_URL: told.url ?? "",
      };
      const running = runCommand(command, {
        cwd,
        env: { ...(Object.fromEntries(passed) as Record<string, string>), ...facts },
        stdin: `${JSON.stringify(jsonBody(told))}\n`,
        timeoutMs: TIMEOUT_MS,
      });
      const result = await Promise.race([running, untilAborted(signal)]);
      if (result === null) return UNWATCHED;
      return { ok: result.ok, detail: result.ok ? "it ended with 0" : result.detail };
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<null> {
  if (signal.aborted) return Promise.resolve(null);
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
}

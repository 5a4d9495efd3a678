// `commandTarget` runs a command of the user. There is no shell, so text that an agent wrote is never parsed as part of
// the command.
import type { Delivery, NotificationTarget } from "./target.ts";
import { jsonBody } from "./webhook-body.ts";
import { runCommand } from "../session/run-command.ts";

const TIMEOUT_MS = 8000;
/** Those that every program needs, and those of desktop programs. */
const PASSED_VARIABLES =
  "PATH HOME USER LANG LC_ALL TZ TMPDIR DISPLAY WAYLAND_DISPLAY XAUTHORITY XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS";

const ABANDONED: Delivery = { ok: false, detail: "Tutti closed before the command ended", again: { afterMs: 0 } };

export function commandTarget(command: string, cwd: string, env: Readonly<NodeJS.ProcessEnv>): NotificationTarget {
  const passed = PASSED_VARIABLES.split(" ").flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return {
    name: "command",
    key: "command",
    combines: true,
    async deliver(message, signal) {
      if (signal.aborted) return ABANDONED;
      const facts = {
        TUTTI_NOTIFY_ID: message.id,
        TUTTI_NOTIFY_KIND: message.kind,
        TUTTI_NOTIFY_RUN: message.run,
        TUTTI_NOTIFY_TASK: message.taskId ?? "",
        TUTTI_NOTIFY_TITLE: message.title,
        TUTTI_NOTIFY_TEXT: message.text,
        TUTTI_NOTIFY_URL: message.url ?? "",
      };
      const running = runCommand(command, {
        cwd,
        env: { ...(Object.fromEntries(passed) as Record<string, string>), ...facts },
        stdin: `${JSON.stringify(jsonBody(message))}\n`,
        timeoutMs: TIMEOUT_MS,
      });
      const result = await Promise.race([running, untilAborted(signal)]);
      if (result === null) return ABANDONED;
      return { ok: result.ok, detail: result.ok ? "exited with code 0" : result.detail };
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<null> {
  if (signal.aborted) return Promise.resolve(null);
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
}

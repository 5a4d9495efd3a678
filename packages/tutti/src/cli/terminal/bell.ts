import { readNotifications } from "../../main/settings.ts";
import type { Output } from "./output.ts";
import type { NotificationKind } from "../../schema/notification.ts";

const BELL = "\u0007";

/** Does nothing if stdout is not a terminal, and with `--json` or `--quiet`. */
export function ringTerminal({ json, quiet }: Pick<Output, "json" | "quiet">): void {
  if (process.stdout.isTTY && !json && !quiet) process.stdout.write(BELL);
}

/** Returns a function that rings once per `about`, and only for the kinds that `notifications.on` lists. */
export function openBell(output: Output): (kind: NotificationKind, about: string) => void {
  const { bell, on } = readNotifications(output.dataDir);
  const alreadyRung = new Set<string>();
  return (kind, about) => {
    if (!bell || !on.includes(kind) || alreadyRung.has(about)) return;
    alreadyRung.add(about);
    ringTerminal(output);
  };
}

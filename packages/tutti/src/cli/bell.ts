// The bell of a terminal: a person who looks elsewhere hears that they are needed.
import { readNotifications } from "../main/settings.ts";
import type { Output } from "./output.ts";
import type { NotificationKind } from "../schema/notification.ts";

const BELL = "\u0007";

/** Silent where there is no terminal, or where nothing is wanted but what was asked for. */
export function ringTerminal({ json, quiet }: Pick<Output, "json" | "quiet">): void {
  if (process.stdout.isTTY && !json && !quiet) process.stdout.write(BELL);
}

/** Rings for each thing once, if the person wants to hear of its kind. */
export function openBell(output: Output): (kind: NotificationKind, about: string) => void {
  const { bell, on } = readNotifications(output.dataDir);
  const rung = new Set<string>();
  return (kind, about) => {
    if (!bell || !on.includes(kind) || rung.has(about)) return;
    rung.add(about);
    ringTerminal(output);
  };
}

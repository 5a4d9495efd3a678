// Whether the person wants to be told by this browser. Nobody is asked until they say so themselves, and the choice is
// this browser's own.

/** Unavailable: the browser has no notifications here, such as on a page without TLS. Blocked: it was told to show none. */
export type Consent = "unavailable" | "blocked" | "off" | "on";

const KEY = "tutti-notify";
const ON = "on";

/** Holds where nothing can be stored, too, until the page is left. */
let chosen: string | null = null;

export function consent(): Consent {
  if (!isSecureContext || !("Notification" in window)) return "unavailable";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && choice() === ON ? "on" : "off";
}

/** After a click: browsers ask the person only then. */
export async function switchOn(): Promise<Consent> {
  if ((await Notification.requestPermission()) === "granted") choose(ON);
  return consent();
}

export function switchOff(): Consent {
  choose("off");
  return consent();
}

function choice(): string | null {
  try {
    return localStorage.getItem(KEY) ?? chosen;
  } catch {
    return chosen;
  }
}

function choose(next: string): void {
  chosen = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Storage is switched off.
  }
}

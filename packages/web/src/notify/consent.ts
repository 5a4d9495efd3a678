// `consent` says whether this browser shows notifications. The page asks for permission only after a click, and stores
// the choice in this browser.

/** `unavailable`: the browser offers no notifications here, for example without TLS. `blocked`: its settings deny them. */
type Consent = "unavailable" | "blocked" | "off" | "on";

const KEY = "tutti-notify";
const ON = "on";

/** The choice in this page, for browsers without `localStorage`. */
let chosen: string | null = null;

export function consent(): Consent {
  if (!isSecureContext || !("Notification" in window)) return "unavailable";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && choice() === ON ? "on" : "off";
}

/** Browsers show `requestPermission` only in a click handler. */
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
    // `chosen` keeps the choice.
  }
}

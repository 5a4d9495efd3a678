import { useState } from "react";
import { consent, switchOff, switchOn } from "./consent.ts";
import { Icon } from "../shell/icon.tsx";

const LABEL = "Notify me when a run needs me, fails or ends";

/** Beside the theme: whether this browser tells the person of what happens while they look elsewhere. */
export function NotifySwitch() {
  const [now, setNow] = useState(consent);
  if (now === "unavailable") return null;
  const isOn = now === "on";
  const title = now === "blocked" ? "Notifications of this page are blocked in the settings of your browser" : LABEL;
  const turn = async () => setNow(isOn ? switchOff() : await switchOn());
  return (
    <button
      type="button"
      role="switch"
      className="button-icon"
      aria-checked={isOn}
      aria-label={title}
      title={title}
      disabled={now === "blocked"}
      onClick={() => void turn()}
    >
      <Icon name={isOn ? "bell" : "bell-off"} />
    </button>
  );
}

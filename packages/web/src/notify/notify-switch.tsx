import { translate } from "../text/language.ts";
import { useState } from "react";
import { consent, switchOff, switchOn } from "./consent.ts";
import { Icon } from "../parts/icon.tsx";

const LABEL = translate("Notify me when a run needs me, fails or ends");

export function NotifySwitch() {
  const [current, setCurrent] = useState(consent);
  if (current === "unavailable") return null;
  const isOn = current === "on";
  const title =
    current === "blocked" ? translate("Notifications from this page are blocked in your browser settings") : LABEL;
  const toggle = async () => setCurrent(isOn ? switchOff() : await switchOn());
  return (
    <button
      type="button"
      role="switch"
      className="button-icon"
      aria-checked={isOn}
      aria-label={title}
      title={title}
      disabled={current === "blocked"}
      onClick={() => void toggle()}
    >
      <Icon name={isOn ? "bell" : "bell-off"} />
    </button>
  );
}

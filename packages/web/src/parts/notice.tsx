import type { ReactNode } from "react";
import type { IconName } from "./icon-shapes.ts";
import { Icon } from "./icon.tsx";
import type { Severity } from "../../../tutti/src/run/describe-event.ts";

const ICONS: Record<Severity, IconName> = {
  neutral: "clock",
  running: "spinner",
  good: "check",
  warning: "warning",
  bad: "warning",
  you: "question",
};

/** Screen readers announce the role `alert`, of tone `bad`, at once. */
export function Notice({ tone, children }: { tone: Severity; children: ReactNode }) {
  return (
    <div className={`notice tone-${tone}`} role={tone === "bad" ? "alert" : undefined}>
      <Icon name={ICONS[tone]} />
      <div>{children}</div>
    </div>
  );
}

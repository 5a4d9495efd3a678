import type { ReactNode } from "react";
import type { IconName } from "./icon-shapes.ts";
import { Icon } from "./icon.tsx";
import type { Severity } from "../../../tutti/src/run/describe-event.ts";

export function Badge({ tone, icon, children }: { tone: Severity; icon: IconName; children: ReactNode }) {
  return (
    <span className={`badge tone-${tone}`}>
      <Icon name={icon} size={14} />
      {children}
    </span>
  );
}

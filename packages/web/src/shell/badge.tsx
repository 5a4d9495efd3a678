import type { ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";
import type { Tone } from "./tone.ts";

export function Badge({ tone, icon, children }: { tone: Tone; icon: IconName; children: ReactNode }) {
  return (
    <span className={`badge tone-${tone}`}>
      <Icon name={icon} size={14} />
      {children}
    </span>
  );
}

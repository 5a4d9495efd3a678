import type { Severity } from "../../../tutti/src/run/describe-event.ts";

interface Properties {
  value: number;
  max?: number;
  tone: Severity;
  label: string;
}

export function Meter({ value, max = 100, tone, label }: Properties) {
  const percent = max > 0 ? Math.min(100, Math.max(0, Math.round((value / max) * 100))) : 0;
  return (
    <span
      className={`meter tone-${tone}`}
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <span style={{ width: `${percent}%` }} />
    </span>
  );
}

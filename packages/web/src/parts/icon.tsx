import { SHAPES, type IconName } from "./icon-shapes.ts";

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  if (name === "spinner") return <Spinner size={size} />;
  return (
    <svg className={`icon icon-${name}`} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <path d={SHAPES[name]} />
    </svg>
  );
}

function Spinner({ size }: { size: number }) {
  return (
    <svg className="icon spinner" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <circle className="spinner-track" cx="8" cy="8" r="5.5" />
      <path d="M8 2.500a5.5 5.5 0 015.5 5.5" />
    </svg>
  );
}

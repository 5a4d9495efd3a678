// Icons are inline paths, so that they do not depend on the fonts of the system.

const SHAPES = {
  check: "M3.5 8.5l3 3 6-7",
  cross: "M4.5 4.5l7 7m0-7l-7 7",
  minus: "M4 8h8",
  clock: "M8 4.5V8l2.5 1.5M14 8A6 6 0 112 8a6 6 0 0112 0z",
  warning: "M8 6v3m0 2.2v.1M7.1 2.8L1.9 12a1 1 0 00.9 1.5h10.4a1 1 0 00.9-1.5L8.9 2.8a1 1 0 00-1.8 0z",
  question: "M6.2 6.2A1.9 1.9 0 018 5c1 0 1.9.7 1.9 1.7 0 1.5-1.9 1.6-1.9 2.8m0 1.9v.1M14 8A6 6 0 112 8a6 6 0 0112 0z",
  lock: "M4.5 7.5h7a1 1 0 011 1v4a1 1 0 01-1 1h-7a1 1 0 01-1-1v-4a1 1 0 011-1zm1-.2V5.5a2.5 2.5 0 015 0v1.8",
  branch:
    "M4.5 5.5v5m0 0a1.75 1.75 0 100 3.5 1.75 1.75 0 000-3.5zm0-5a1.75 1.75 0 100-3.5 1.75 1.75 0 000 3.5zm7 0a1.75 1.75 0 100-3.5 1.75 1.75 0 000 3.5zm0 0c0 3.5-7 2-7 5",
  copy: "M5.5 5.5h7v8h-7zM10.5 5.5v-3h-7v8h2",
  chevron: "M6 3.5L10.5 8 6 12.5",
  sun: "M8 5a3 3 0 100 6 3 3 0 000-6zm0-3.5v1m0 11v1M1.5 8h1m11 0h1M3.4 3.4l.7.7m7.8 7.8l.7.7m0-9.2l-.7.7m-7.8 7.8l-.7.7",
  moon: "M13.5 9.5A6 6 0 016.5 2.5a6 6 0 107 7z",
  tool: "M2.5 4.5l3 3-3 3m5 1h6",
  file: "M4 1.8h5l3 3v9.4H4zM9 1.8v3h3",
  folder: "M1.8 4.3a1 1 0 011-1h3l1.5 1.700h5.900a1 1 0 011 1v5.700a1 1 0 01-1 1H2.800a1 1 0 01-1-1z",
  coins: "M8 2.5c3 0 5 .9 5 2s-2 2-5 2-5-.9-5-2 2-2 5-2zm-5 2v7c0 1.1 2 2 5 2s5-.9 5-2v-7M3 8c0 1.1 2 2 5 2s5-.9 5-2",
  prompt: "M2.5 3.500h11v8h-6l-3 2.500v-2.500h-2z",
  bell: "M3.500 11.500h9c-1-1-1.300-2-1.300-4.200a3.200 3.200 0 00-6.400 0c0 2.200-.3 3.200-1.300 4.200zM6.700 13.500h2.600M8 4.100v-1.300",
  "bell-off":
    "M3.500 11.500h9c-1-1-1.300-2-1.300-4.200a3.200 3.200 0 00-6.400 0c0 2.200-.3 3.200-1.300 4.200zM6.700 13.500h2.600M8 4.100v-1.300M2.500 2.500l11 11",
  dot: "M8 7.900v.2",
} as const;
export type IconName = keyof typeof SHAPES | "spinner";

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

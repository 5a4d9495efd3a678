// What programs did to the files below one folder, in the order in which it happened, and what they said meanwhile.

export type Operation =
  | { type: "makeFile"; path: string; mode: number }
  | { type: "makeFolder"; path: string }
  | { type: "makeLink"; path: string; target: string }
  /** `at` null: at the end. */
  | { type: "write"; path: string; at: number | null; bytes: Buffer }
  | { type: "copy"; from: string; start: number; path: string; length: number }
  | { type: "truncate"; path: string; length: number }
  | { type: "rename"; path: string; to: string }
  | { type: "link"; path: string; to: string }
  | { type: "remove"; path: string }
  | { type: "sync"; path: string }
  /** What the first process wrote to its standard output: from here on somebody knows it. */
  | { type: "said"; text: string };

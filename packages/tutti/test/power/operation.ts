// Records the file operations of programs below one folder in order, and their output in between.

export type Operation =
  | { type: "makeFile"; path: string; mode: number }
  | { type: "makeFolder"; path: string }
  | { type: "makeLink"; path: string; target: string }
  /** A null `at` appends. */
  | { type: "write"; path: string; at: number | null; bytes: Buffer }
  | { type: "copy"; from: string; start: number; path: string; length: number }
  | { type: "truncate"; path: string; length: number }
  | { type: "rename"; path: string; to: string }
  | { type: "link"; path: string; to: string }
  | { type: "remove"; path: string }
  | { type: "sync"; path: string }
  /** Output of the first process. From here on the reader relies on it. */
  | { type: "said"; text: string };

/** The meaning of a colour. `you` is kept for what waits for the person who looks. */
export type Tone = "neutral" | "running" | "good" | "warning" | "bad" | "you";

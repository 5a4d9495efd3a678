/** The meaning of a colour. `you` is reserved for things that wait for the user. */
export type Tone = "neutral" | "running" | "good" | "warning" | "bad" | "you";

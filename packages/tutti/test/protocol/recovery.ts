// Damages messages, reads them and counts the results.
import { isDeepStrictEqual } from "node:util";
import { readBlock } from "../../src/protocol/response/block.ts";
import { validatePhase } from "../../src/protocol/response/validate-phase.ts";
import { damaged } from "./damage.ts";
import type { Damage } from "./damage.ts";
import { randomFrom, type Random } from "../lab/random.ts";
import { randomMessage, type Message } from "./random-message.ts";

export interface Tally {
  messages: number;
  recovered: number;
  refused: number;
  /** Misread: another value than the original. */
  wrong: number;
  /** Misread without notice, because the schema of the phase accepts the value. */
  wrongAndValid: number;
  /** The first text that was not recovered. */
  example: string;
}

/** Returns the message in a text, "truncated" if it is marked as such, or null if it is rejected. */
export type Reader = (text: string) => Message | "truncated" | null;

export const ourReader: Reader = (text) => {
  const { block } = readBlock(text);
  if (block.ok) return { phase: block.phase, data: block.data };
  return block.code === "truncated" ? "truncated" : null;
};

export function tally(
  seed: number,
  messages: number,
  choose: (random: Random) => readonly Damage[],
  read = ourReader,
  create: (random: Random) => Message = randomMessage,
): Tally {
  const result: Tally = { messages, recovered: 0, refused: 0, wrong: 0, wrongAndValid: 0, example: "" };
  for (let index = 0; index < messages; index++) {
    const random = randomFrom(seed * 1_000_003 + index);
    const damages = choose(random);
    const message = create(random);
    const text = damaged(message, damages, random);
    const expected = damages.some((damage) => damage.expect === "truncated") ? "truncated" : message;
    const got = read(text);
    if (isDeepStrictEqual(got, expected)) {
      result.recovered++;
      continue;
    }
    result.example ||= `seed ${seed}, message ${index}, ${damages.map((damage) => damage.name).join(" and ")}:\n${text}`;
    if (got === null || got === "truncated") result.refused++;
    else if (validatePhase(got.phase, got.data).valid) result.wrongAndValid++;
    else result.wrong++;
  }
  return result;
}

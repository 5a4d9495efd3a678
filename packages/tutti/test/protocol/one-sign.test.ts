import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { randomFrom } from "../lab/random.ts";
import { pick, randomMessage } from "./random-message.ts";
import { ourReader } from "./recovery.ts";

/** Returns the positions of the brackets, commas, colons and quotes that form the structure of a JSON text. */
function signs(text: string): number[] {
  const places: number[] = [];
  let isInside = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (isInside && sign === "\\") at++;
    else if (sign === '"') {
      isInside = !isInside;
      places.push(at);
    } else if (!isInside && "{}[],:".includes(sign)) places.push(at);
  }
  return places;
}

const OTHER: Record<string, string> = { "{": "[", "}": "]", "[": "{", "]": "}", ",": ":", ":": ",", '"': "'" };
const CHANGES: Record<string, (text: string, at: number) => string> = {
  missing: (text, at) => text.slice(0, at) + text.slice(at + 1),
  doubled: (text, at) => text.slice(0, at) + text.charAt(at) + text.slice(at),
  "mixed up with another": (text, at) => text.slice(0, at) + OTHER[text.charAt(at)] + text.slice(at + 1),
};

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("a message in which one character is", () => {
  it.each(Object.entries(CHANGES))("%s is read correctly or rejected, never misread", (_name, change) => {
    for (let seed = 0; seed < 1500; seed++) {
      const random = randomFrom(seed);
      const message = randomMessage(random);
      const text = JSON.stringify(message, null, seed % 2 === 0 ? 2 : 0);
      const damaged = change(text, pick(random, signs(text)));
      // A text that is still JSON is another message, which no reader can detect.
      if (isJson(damaged)) continue;
      const got = ourReader(damaged);
      const isRight = got === null || got === "truncated" || isDeepStrictEqual(got, message);
      expect(isRight, `seed ${seed}\n${damaged}\n${JSON.stringify(got)}`).toBe(true);
    }
  });
});

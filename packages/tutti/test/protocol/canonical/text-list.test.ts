import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listOf, textOf } from "../../../src/protocol/canonical/text-list.ts";

const line = fc.constantFrom("", " ", "a", "1. ", "2. b", "1. a", "   ", "   c", "1.", "\n", "10. x");
const text = fc.oneof(
  fc.string(),
  fc.array(line, { maxLength: 6 }).map((lines) => lines.join("\n")),
  fc.array(line, { maxLength: 6 }).map((lines) => lines.join("")),
);

describe("a list of sentences as one text", () => {
  it("is a numbered list, and a single sentence stays unchanged", () => {
    expect(textOf(["Support markdown", "Show the time"])).toBe("1. Support markdown\n2. Show the time");
    expect(textOf(["Follow the design"])).toBe("Follow the design");
    expect(listOf("1. Support markdown\n2. Show the time")).toEqual(["Support markdown", "Show the time"]);
    expect(listOf("1. Read it twice")).toEqual(["1. Read it twice"]);
  });

  it("converts every list back to the same list", () => {
    const lists = fc.array(text, { maxLength: 4 });
    fc.assert(
      fc.property(lists, (list) => {
        expect(listOf(textOf(list))).toEqual(list);
      }),
      { numRuns: 1000 },
    );
  });

  it("converts every text back to the same text", () => {
    fc.assert(
      fc.property(text, (each) => {
        expect(textOf(listOf(each))).toBe(each);
      }),
      { numRuns: 1000 },
    );
  });
});

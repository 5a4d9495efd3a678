import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTolerantly } from "../../src/protocol/json/tolerant-json.ts";
import { expectLinear } from "../lab/growth.ts";
import { randomFrom } from "../lab/random.ts";
import { randomMessage } from "./random-message.ts";

function read(text: string) {
  const reading = readTolerantly(text);
  return reading.ok ? { value: reading.value, repairs: reading.repairs, truncated: reading.truncated } : reading.reason;
}

describe("valid JSON", () => {
  it("is read like JSON.parse reads it", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        delete value["__proto__"];
        const text = JSON.stringify(value);
        expect(readTolerantly(text)).toMatchObject({ ok: true, value: JSON.parse(text), repairs: [], guessed: false });
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  it("is not repaired if strings near its end contain commas, brackets, quotes and backslashes", () => {
    const text = fc.array(fc.constantFrom(",]", ", }", '"', "\\", '\\"', "}", "]", ",", " ", "a"), { maxLength: 8 });
    const strings = fc.array(text, { maxLength: 4 });
    const law = fc.property(strings, fc.boolean(), (pieces, isIndented) => {
      const value = { all: pieces.map((each) => [each.join("")]) };
      const sound = JSON.stringify(value, null, isIndented ? 1 : 0);
      // Only a text that `JSON.parse` rejects has its keys counted.
      expect(readTolerantly(sound)).toMatchObject({ value, text: sound, repairs: [], keys: 0 });
    });
    fc.assert(law, { numRuns: 2000, seed: 4 });
  });
});

describe("the tolerant reader", () => {
  it.each([
    ["trailing commas", "[1, 2, 3,]", [1, 2, 3], "trailing comma"],
    ["unquoted keys", '{key: "value"}', { key: "value" }, "unquoted key"],
    ["single quotes", "{'key': 'value'}", { key: "value" }, "single quotes"],
    ["unquoted values", '{"key": value}', { key: "value" }, "unquoted value"],
    [
      "block comments with quotes directly after values and keys",
      `{"a": 1/* it's "one" [1, */, "b"/* don't */: true/*"*/, "c": "x"/* it's */, "d": [2/*'*/, null/* "n": 1, */]}`,
      { a: 1, b: true, c: "x", d: [2, null] },
      "comment",
    ],
    ["comments", '{"a": 1, // one\n "b": /* two */ 2}', { a: 1, b: 2 }, "comment"],
    ["a byte-order mark", '\ufeff{"a": 1}', { a: 1 }, "byte-order mark"],
    ["a backslash before a line break", '{"a": "x\\\ny"}', { a: "x\ny" }, "escaped line break in a string"],
    ["a fence", '```json\n{"a": 1}\n```', { a: 1 }, "markdown fence"],
    ["talk around the object", 'Sure: {"a": 1}. Done!', { a: 1 }, "text around the object"],
    ["Python literals", '{"a": True, "b": None}', { a: true, b: null }, "literal of another language"],
  ])("repairs %s and reports the repair", (_name, text, value, repair) => {
    expect(read(text)).toEqual({ value, repairs: [repair], truncated: false });
  });

  it.each([
    ['{"a": "x", "b": \'y\', c: z,}', { a: "x", b: "y", c: "z" }],
    ["{a: {b: [1, {c: 'd',},],},}", { a: { b: [1, { c: "d" }] } }],
    ["// first\n{/* second */}", {}],
    ['{"url": "http://a/b", // note\n}', { url: "http://a/b" }],
    ["{'it': 'it\\'s', \"say\": 'a \"word\"'}", { it: "it's", say: 'a "word"' }],
    ['{"a": .5, "b": +2, "c": 7., "d": 007, "e": 1.2.3}', { a: 0.5, b: 2, c: 7, d: "007", e: "1.2.3" }],
    ['{"when": ISODate("2026-01-01"), "n": NumberLong("5")}', { when: "2026-01-01", n: "5" }],
    ['{"a": "b" + "c" + \'d\'}', { a: "bcd" }],
    ['{"text": """several\n"lines" """}', { text: 'several\n"lines" ' }],
    ['{"path": "C:\\Users\\me", "regex": "\\d+\\s"}', { path: "C:\\Users\\me", regex: "\\d+\\s" }],
    ['{"a": 1}\n}', { a: 1 }],
    ['{"a": [1, 2], "b": {"c": 3}', null],
    ['{\u00a0"a":\u20031}', { a: 1 }],
    ['{"a": "tab\there"}', { a: "tab\there" }],
    ["{“a”: “b”}", { a: "b" }],
    ["{`a`: `b\nc`}", { a: "b\nc" }],
    ['{"a" "b", "c" [1]}', { a: "b", c: [1] }],
    ['{"a": 1 "b": 2\n"c": 3}', { a: 1, b: 2, c: 3 }],
    ['{"a": ["x" "y"\n"z"]}', { a: ["x", "y", "z"] }],
    ['{"a": (1, 2,)}', { a: [1, 2] }],
  ])("reads %s", (text, value) => {
    const reading = readTolerantly(text);
    expect(reading.ok && !reading.truncated ? reading.value : null).toEqual(value);
  });

  it.each([
    ["no object", "I am done."],
    ["a number", "42"],
    ["a list of facts", "phase: analysis\ndata: none"],
    ["two objects", '{"a": 1} {"b": 2}'],
    ["an object that goes on", '{"a": 1}, "b": 2}'],
    ["a key without value", '{"a": , "b": 2}'],
    ["a set", '{"a", "b"}'],
    ["a number with a comma", '{"a": 1,000}'],
    ["texts without quotes in a list", '{"a": [see this, and that]}'],
    ["quotes without a partner", '{"a": ["x, "y", "z"]}'],
    ["mixed backslashes", '{"a": "C:\\dir\\new\\d"}'],
    ["a JSON text in a text", '{"a": "{"b": "c", "d": "e"}"}'],
  ])("rejects %s", (_name, text) => {
    const reading = readTolerantly(text);
    expect(reading.ok && !reading.truncated).toBe(false);
  });

  it("never changes the content of a string", () => {
    const tricky = fc.constantFrom(
      ",]",
      ",}",
      "//",
      "/*",
      "*/",
      "#",
      "'",
      "key:",
      "\ufeff",
      "True",
      "```",
      "{",
      "[",
      "“",
      " ",
      "é",
      "\\",
      "\n",
      '"',
    );
    const law = fc.property(fc.array(tricky, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      const damaged = `{a: ${JSON.stringify(text)}, 'b': [${JSON.stringify(text)},],}`;
      expect(readTolerantly(damaged)).toMatchObject({ ok: true, value: { a: text, b: [text] } });
    });
    fc.assert(law, { numRuns: 3000, seed: 2 });
  });

  it("reads a long text with occasional damage, and texts that grow when written as JSON", () => {
    const random = randomFrom(9);
    const all = Array.from({ length: 2000 }, () => randomMessage(random));
    const texts = all.map((message, index) =>
      index % 700 === 0
        ? `{phase: '${message.phase}', "data": ${JSON.stringify(message.data)},}`
        : JSON.stringify(message),
    );
    expect(read(`[${texts.join(",\n")}]`)).toMatchObject({ value: all, truncated: false });
    const long = `${"\u0001\t\n".repeat(50_000)}.`;
    expect(read(`{"a": "${long}", 'b': '${long}'}`)).toMatchObject({ value: { a: long, b: long } });
  });

  it("returns and marks the readable part of a truncated text", () => {
    expect(read('{"a": "some te')).toEqual({ value: { a: "some te" }, repairs: ["unfinished end"], truncated: true });
    expect(read('{"a": 1, "b": [true, "x", {"c": 12')).toMatchObject({
      value: { a: 1, b: [true, "x", {}] },
      truncated: true,
    });
    expect(read('{"a": [1, 2, ...]}')).toMatchObject({ value: { a: [1, 2] }, truncated: true });
    expect(read('{"a": "x\\u00')).toMatchObject({ value: { a: "x" }, truncated: true });
  });

  it("marks every proper prefix of a message as truncated", () => {
    for (let seed = 0; seed < 20; seed++) {
      const message = randomMessage(randomFrom(seed));
      const text = JSON.stringify(message);
      for (let end = 1; end < text.length; end += 3) {
        expect(readTolerantly(text.slice(0, end)), text.slice(0, end)).toMatchObject({ ok: true, truncated: true });
      }
    }
  });

  it("marks an ambiguous repair as a guess", () => {
    expect(readTolerantly('{"a": 1 "b": 2}')).toMatchObject({ guessed: true });
    expect(readTolerantly('{"a": "say "hi" now"}')).toMatchObject({ guessed: true });
    expect(readTolerantly('{"a": 1, b: 2,}')).toMatchObject({ guessed: false });
  });

  it("removes a member named __proto__, however it is written", () => {
    for (const text of [
      '{"__proto__": {"x": 1}, "a": {"__proto__": 1}}',
      "{__proto__: {x: 1}, a: {}}",
      '{"\\u005f_proto__": {"x": 1}, "a": {}}',
    ]) {
      const reading = readTolerantly(text);
      expect(reading.ok && Reflect.ownKeys(reading.value)).toEqual(["a"]);
      expect(reading.ok && Object.getPrototypeOf(reading.value)).toBe(Object.prototype);
    }
    expect(Reflect.get({}, "x")).toBeUndefined();
  });

  it("rejects text that is nested too deeply, valid or not", () => {
    for (const depth of [300, 100_000]) {
      expect(readTolerantly("[".repeat(depth) + "]".repeat(depth)).ok).toBe(false);
      expect(readTolerantly('{"a":'.repeat(depth)).ok).toBe(false);
    }
  });
});

describe("hostile text", () => {
  /** Texts that make careless readers slow, each about `length` characters long. */
  const HOSTILE: Record<string, (length: number) => string> = {
    "open brackets": (length) => "[".repeat(length),
    "open objects": (length) => "{".repeat(length),
    quotes: (length) => `{"a":${'"'.repeat(length)}`,
    "quoted words": (length) => `{"a": "x${' "w"'.repeat(length / 4)}`,
    commas: (length) => `[1${",".repeat(length)}]`,
    "trailing commas": (length) => `[${"[1,],".repeat(length / 5)}]`,
    "broken keys": (length) => `{${'"a: 1,'.repeat(length / 6)}}`,
    "open comments": (length) => `{${"/*".repeat(length / 2)}`,
    "comments after quotes": (length) => `{"a":"${'" // '.repeat(length / 5)}`,
    "bare words": (length) => `{a: ${"1".repeat(length / 2)}a${",b".repeat(length / 4)}}`,
    backslashes: (length) => `{"a":"${"\\".repeat(length)}`,
    "quote marks": (length) => ">".repeat(length),
    "unclosed lines": (length) => `{${'"a": "x,\n'.repeat(length / 10)}`,
    "triple quotes": (length) => `{"a":${'"""x'.repeat(length / 4)}`,
    colours: (length) => `{${"\u001b[".repeat(length / 2)}`,
    spaces: (length) => `{"a"${" ".repeat(length)}}`,
    dots: (length) => `[${"...".repeat(length / 3)}`,
    "joined strings": (length) => `{"a":${'"x" + '.repeat(length / 6)}`,
    "single quotes": (length) => `{'a': '${"x' ".repeat(length / 3)}`,
    "closing brackets": (length) => `{"a":1${"]".repeat(length)}}`,
    "open lists": (length) => `{${'"a": ['.repeat(length / 6)}`,
  };

  it.each(Object.entries(HOSTILE))("takes at most linear time: %s", (_name, make) => {
    expectLinear((length) => readTolerantly(make(length)), 400_000);
  });

  it("never throws and never changes a prototype, for any text", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      "(",
      ")",
      ",",
      ":",
      '"',
      "'",
      "`",
      "\\",
      "\n",
      " ",
      "//",
      "/*",
      "*/",
      "#",
      "...",
      "a",
      "1",
      "-",
      "true",
      "“",
      "”",
      '"""',
      "__proto__",
      "\u001b[",
      "```",
      "=>",
      "+",
      "new X(",
      "\\u12",
      "\\n",
      "\ud800",
      ">",
    );
    const law = fc.property(
      fc.array(fc.oneof(piece, fc.string({ maxLength: 4, unit: "binary" })), { maxLength: 30 }),
      (pieces) => {
        const reading = readTolerantly(pieces.join(""));
        if (!reading.ok) return;
        expect(() => JSON.stringify(reading.value)).not.toThrow();
        expect([Object.prototype, Array.prototype]).toContain(Object.getPrototypeOf(reading.value));
      },
    );
    fc.assert(law, { numRuns: 10_000, seed: 3 });
    expect(Reflect.ownKeys(Object.prototype).length).toBeLessThan(20);
  });
});

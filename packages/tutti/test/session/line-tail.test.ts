import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LineSplitter, MAX_LINE } from "../../src/session/lines/line-splitter.ts";
import { ShortenedJson } from "../../src/session/lines/shortened-json.ts";
import { LineTail } from "../../src/session/lines/line-tail.ts";
import { collectGarbage } from "../lab/collect-garbage.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-tail-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("`LineSplitter`", () => {
  it("yields the same lines at any chunk size", () => {
    const lines = fc.array(fc.string({ unit: "grapheme" }).map((line) => line.replaceAll("\n", "")));
    fc.assert(
      fc.property(lines, fc.array(fc.nat({ max: 40 })), (wanted, cuts) => {
        const bytes = Buffer.from(wanted.map((line) => `${line}\n`).join(""));
        const found: string[] = [];
        const splitter = new LineSplitter((line) => found.push(line));
        let at = 0;
        for (const length of [...cuts, bytes.length]) {
          splitter.push(bytes.subarray(at, at + length));
          at += length;
        }
        splitter.flush();
        expect(found).toEqual(wanted);
      }),
    );
  });

  it("keeps the beginning and the end of a line that is too long, within bounded memory, and yields the next line", () => {
    const found: string[] = [];
    const splitter = new LineSplitter((line) => found.push(line));
    const chunk = Buffer.alloc(1024 * 1024, "z");
    const before = retainedBytes();
    splitter.push(Buffer.from("first"));
    for (let i = 0; i < 200; i++) splitter.push(chunk);
    expect(found).toEqual([]);
    expect(retainedBytes() - before).toBeLessThan(4 * MAX_LINE);
    splitter.push(Buffer.from("last\nnext\n"));
    const [line, next] = found;
    expect(line!.length).toBeLessThan(MAX_LINE + 100);
    expect(line).toMatch(/^firstz+ \[\d+ characters left out\] z+last$/);
    expect(next).toBe("next");
  });

  it("yields a long line unchanged up to its limit", () => {
    const found: string[] = [];
    const splitter = new LineSplitter((each) => found.push(each));
    const line = `{"a":"${'\\"b'.repeat(1_000_000)}"}`;
    splitter.push(Buffer.from(`${line}\n`));
    expect(found).toEqual([line]);
  });
});

describe("`ShortenedJson`", () => {
  const long = fc
    .array(fc.constantFrom("\\", '"', "\n", "u0041", "é", "😀", "words ", "{", "}"), { maxLength: 400 })
    .map((parts) => parts.join(""));
  const value = fc.record({ a: long, b: fc.array(long, { maxLength: 3 }), c: fc.integer() });

  it("yields valid JSON in which only long strings lost their middle, for pieces of any length", () => {
    fc.assert(
      fc.property(value, fc.boolean(), fc.array(fc.integer({ min: 1, max: 300 })), (wanted, isAscii, cuts) => {
        const plain = JSON.stringify(wanted);
        const json = isAscii ? plain.replaceAll(/[^ -~]/g, (unit) => `\\u${hex(unit)}`) : plain;
        const shortened = new ShortenedJson(1_000_000, 100);
        let at = 0;
        for (const length of [...cuts, json.length]) {
          shortened.push(json.slice(at, at + length));
          at += length;
        }
        const found = JSON.parse(shortened.end()!) as typeof wanted;
        expect(found.c).toBe(wanted.c);
        for (const [i, text] of [wanted.a, ...wanted.b].entries()) expectShortened([found.a, ...found.b][i]!, text);
      }),
    );
  });

  it("gives up a text that is too long although its strings are short", () => {
    const shortened = new ShortenedJson(1000, 100);
    for (let i = 0; i < 1000; i++) shortened.push('{"a":1,');
    expect(shortened.end()).toBeNull();
  });
});

it("`LineSplitter` drops an object that stays longer than `MAX_LINE` without the middle of its strings", () => {
  const [lines, dropped]: [string[], number[]] = [[], []];
  const splitter = new LineSplitter(
    (line) => lines.push(line),
    (length) => dropped.push(length),
  );
  const items = "1,".repeat(MAX_LINE / 2);
  for (const text of ['{"a":[', items, "1]}\n", '{"b":2}\n']) splitter.push(Buffer.from(text));
  expect([lines, dropped]).toEqual([['{"b":2}'], [items.length + 9]]);
});

function retainedBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const hex = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, "0");

function expectShortened(found: string, wanted: string): void {
  if (found === wanted) return expect(JSON.stringify(wanted).length).toBeLessThan(700);
  const [, head, tail] = /^(.*) \[\d+ characters left out\] (.*)$/s.exec(found)!;
  // A surrogate pair in escapes may lose its other half.
  expect(wanted.startsWith(head!.replace(/[\ud800-\udbff]$/, ""))).toBe(true);
  expect(wanted.endsWith(tail!.replace(/^[\udc00-\udfff]/, ""))).toBe(true);
}

describe("`LineTail`", () => {
  it("yields each line of a growing file once, also the last one without a line break", async () => {
    const file = join(folder, "raw.log");
    writeFileSync(file, "one\ntw");
    const lines: string[] = [];
    const tail = new LineTail(file, (line) => lines.push(line));
    tail.read();
    expect(lines).toEqual(["one"]);
    appendFileSync(file, "o\nthree");
    await expect.poll(() => lines).toEqual(["one", "two"]);
    tail.finish();
    tail.close();
    expect(lines).toEqual(["one", "two", "three"]);
  });
});

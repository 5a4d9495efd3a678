// Lines from a file that a program is still writing: whole, in order, once, and within bounded memory.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LineSplitter, MAX_LINE } from "../../src/session/line-splitter.ts";
import { LineTail } from "../../src/session/line-tail.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-tail-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("bytes", () => {
  it("become the same lines however they are cut", () => {
    const lines = fc.array(fc.string({ unit: "grapheme" }).map((line) => line.replaceAll("\n", "")));
    fc.assert(
      fc.property(lines, fc.array(fc.nat({ max: 40 })), (wanted, cuts) => {
        const bytes = Buffer.from(wanted.map((line) => `${line}\n`).join(""));
        const splitter = new LineSplitter();
        const found: string[] = [];
        let at = 0;
        for (const length of [...cuts, bytes.length]) {
          found.push(...splitter.push(bytes.subarray(at, at + length)));
          at += length;
        }
        found.push(...splitter.flush());
        expect(found).toEqual(wanted);
      }),
    );
  });

  it("without an end for too long are dropped, said so once, and the next line counts again", () => {
    let dropped = 0;
    const splitter = new LineSplitter(() => dropped++);
    const chunk = Buffer.alloc(1024 * 1024, "z");
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 200; i++) expect([...splitter.push(chunk)]).toEqual([]);
    expect(process.memoryUsage().rss - before).toBeLessThan(8 * MAX_LINE);
    expect([...splitter.push(Buffer.from("\nnext\n"))]).toEqual(["next"]);
    expect(dropped).toBe(1);
  });
});

describe("a file that grows", () => {
  it("gives each line once, also the last one without an end", async () => {
    const file = join(folder, "raw.log");
    writeFileSync(file, "one\ntw");
    const heard: string[] = [];
    const tail = new LineTail(file, (line) => heard.push(line));
    tail.read();
    expect(heard).toEqual(["one"]);
    appendFileSync(file, "o\nthree");
    await expect.poll(() => heard).toEqual(["one", "two"]);
    tail.finish();
    tail.close();
    expect(heard).toEqual(["one", "two", "three"]);
  });
});

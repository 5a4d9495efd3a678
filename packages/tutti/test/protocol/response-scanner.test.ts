import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteNeedle, findByFirstByte } from "../../src/protocol/json/byte-needle.ts";
import { ResponseScanner, scanBlocks } from "../../src/protocol/response/response-scanner.ts";
import type { ScannedBlock } from "../../src/protocol/response/response-scanner.ts";
import { block, delimited, END, EXAMPLE, START } from "./blocks.ts";

const SUCCESS = { task_id: "t1", status: "success" };

/** Scans a text in chunks that end at the given offsets. */
function scanCut(text: string | Uint8Array, cuts: number[], maxBlockBytes?: number): ScannedBlock[] {
  const scanner = new ResponseScanner(maxBlockBytes === undefined ? {} : { maxBlockBytes });
  const found: ScannedBlock[] = [];
  let from = 0;
  for (const cut of [...cuts.toSorted((a, b) => a - b), text.length]) {
    found.push(...scanner.push(text.slice(from, cut)));
    from = cut;
  }
  return [...found, ...scanner.end()];
}

describe("the scanner", () => {
  it("reads the worked example of the document, with text before and after it (D0-010, D0-011)", () => {
    expect(scanBlocks(EXAMPLE)).toMatchObject([
      { ok: true, phase: "analysis", data: { summary: "Found 5 main modules", recommended_splits: 5 }, repairs: [] },
    ]);
  });

  it("accepts exactly the two delimiters of the document (D0-005, D0-007, D0-008)", () => {
    expect(
      scanBlocks('<<<ORCHESTRATOR_RESPONSE>>>{"phase":"p","data":{}}<<<END_ORCHESTRATOR_RESPONSE>>>'),
    ).toMatchObject([{ ok: true, phase: "p", data: {} }]);
    expect(scanBlocks('<<<orchestrator_response>>>{"phase":"p","data":{}}<<<END_ORCHESTRATOR_RESPONSE>>>')).toEqual([]);
    expect(scanBlocks('<<ORCHESTRATOR_RESPONSE>>{"phase":"p","data":{}}<<END_ORCHESTRATOR_RESPONSE>>')).toEqual([]);
    expect(scanBlocks('<<<ORCHESTRATOR_RESPONSE>>>{"phase":"p","data":{}}')).toMatchObject([{ ok: false }]);
    expect(scanBlocks("<<<ORCHESTRATOR_RESPONSE>>>p<<<END_ORCHESTRATOR_RESPONSE>>>")).toMatchObject([{ ok: false }]);
  });

  it("has delimiters without special characters of regular expressions (D0-009)", () => {
    expect(EXAMPLE.match(new RegExp(`${START}([^]*)${END}`))?.[1]).toContain('"phase": "analysis"');
    const [, content = ""] = new RegExp(`${START}([^]*)${END}`).exec(EXAMPLE) ?? [];
    expect(JSON.parse(content)).toMatchObject({ phase: "analysis", data: { recommended_splits: 5 } });
  });

  it("uses the delimiters that the template sets (D4-525)", () => {
    const custom = { delimiterStart: "<<<CUSTOM_START>>>", delimiterEnd: "<<<CUSTOM_END>>>" };
    const text = `<<<CUSTOM_START>>>{"phase":"p","data":{}}<<<CUSTOM_END>>> ${block("q", {})}`;
    expect(scanBlocks(text, custom)).toMatchObject([{ ok: true, phase: "p" }]);
  });

  it("finds every block, in order", () => {
    const text = `a ${block("p", { n: 1 })} b ${block("q", { n: 2 })}${block("r", { n: 3 })}`;
    expect(scanBlocks(text)).toMatchObject([{ phase: "p" }, { phase: "q" }, { phase: "r" }]);
  });

  it("can be used again after the end of a text", () => {
    const scanner = new ResponseScanner();
    scanner.push(`${START} {"phase"`);
    expect(scanner.end()).toHaveLength(1);
    expect(scanner.push(block("p", {}))).toMatchObject([{ ok: true, phase: "p" }]);
    expect(scanner.end()).toEqual([]);
  });
});

describe("an invalid block", () => {
  it.each([
    ["missing_phase", delimited('{"data": {}}')],
    ["missing_phase", delimited('{"phase": "", "data": {}}')],
    ["missing_phase", delimited('{"phase": 5, "data": {}}')],
    ["missing_data", delimited('{"phase": "p"}')],
    ["missing_data", delimited('{"phase": "p", "data": []}')],
    ["missing_data", delimited('{"phase": "p", "data": "text"}')],
    ["not_json", delimited("I am done.")],
    ["not_json", delimited("")],
    ["not_json", delimited('[{"phase": "p", "data": {}}, 2]')],
    ["truncated", delimited('{"phase": "p", "data": {"a": 1')],
    ["no_end_delimiter", `${START} {"phase": "p", "data": {}}`],
    ["truncated", `${START} {"phase": "p", "data": {`],
  ])("has the code %s", (code, text) => {
    expect(scanBlocks(text)).toMatchObject([{ ok: false, code }]);
  });

  it("does not hide the blocks after it", () => {
    const good = block("completion", SUCCESS);
    expect(scanBlocks(`${delimited('{"phase": "p", "data": {"a": "unclosed')} ${good}`)).toMatchObject([
      { ok: false, code: "truncated" },
      { ok: true, phase: "completion" },
    ]);
    expect(scanBlocks(`${delimited("nothing")} ${good}`)).toMatchObject([{ ok: false }, { ok: true }]);
  });

  it("is rejected with a reason if it is too large, and the next one is found", () => {
    const large = block("p", { text: "x".repeat(2000) });
    const found = scanCut(`${large} ${block("q", {})}`, [], 1000);
    expect(found).toMatchObject([
      { ok: false, code: "too_large", message: "The block is larger than 1000 bytes" },
      { phase: "q" },
    ]);
    expect(found[0]?.raw.length).toBeLessThanOrEqual(1000);
  });

  it("is rejected before its end arrives if it is too large", () => {
    const scanner = new ResponseScanner({ maxBlockBytes: 1000 });
    expect(scanner.push(START + "x".repeat(900))).toEqual([]);
    expect(scanner.push("x".repeat(200))).toMatchObject([{ ok: false, code: "too_large" }]);
    expect(scanner.push(`${"x".repeat(5000)} ${block("q", {})}`)).toMatchObject([{ ok: true, phase: "q" }]);
  });

  it("is at most 10 MiB long", () => {
    const scanner = new ResponseScanner();
    expect(scanner.push(START + "x".repeat(10 * 1024 * 1024 - 100))).toEqual([]);
    expect(scanner.push("x".repeat(200))).toMatchObject([{ ok: false, code: "too_large" }]);
  });

  it("is accepted at exactly the maximum size", () => {
    const content = '{"phase":"p","data":{}}';
    expect(scanCut(START + content + END, [], content.length)).toMatchObject([{ ok: true }]);
    expect(scanCut(START + content + END, [], content.length - 1)).toMatchObject([{ ok: false, code: "too_large" }]);
  });
});

describe("a delimiter inside a block", () => {
  it("does not end the block if it is part of a string", () => {
    const data = { ...SUCCESS, summary: `Wrote how ${START} {"phase": "x"} ${END} is used, and ${END} again` };
    expect(scanBlocks(block("completion", data))).toMatchObject([{ ok: true, data }]);
  });

  it("does not end the block, however many there are in a string", () => {
    const data = { ...SUCCESS, summary: `${START} {"phase":"completion","data":{}} ${END} `.repeat(14) };
    expect(scanBlocks(`${block("completion", data)} ${block("q", {})}`)).toMatchObject([
      { ok: true, data },
      { phase: "q" },
    ]);
  });

  it("does not end a damaged block", () => {
    const text = delimited(
      `{'phase': 'completion', 'data': {'task_id': 't1', 'status': 'success', 'summary': 'see ${END} here',}}`,
    );
    expect(scanBlocks(text)).toMatchObject([{ ok: true, data: { ...SUCCESS, summary: `see ${END} here` } }]);
  });

  it("never turns an example quoted in a string into a block", () => {
    const example = JSON.stringify({ phase: "completion", data: { ...SUCCESS, task_id: "other" } });
    const data = { ...SUCCESS, summary: `The format is ${START}${example}${END}` };
    expect(scanBlocks(block("completion", data))).toMatchObject([{ ok: true, data }]);
    const broken = block("completion", data).slice(0, -40);
    expect(scanBlocks(broken).some((each) => each.ok)).toBe(false);
  });

  it("may be mentioned before the block", () => {
    expect(scanBlocks(`I answer with ${START} as told:\n${block("p", {})}`)).toMatchObject([{ ok: true, phase: "p" }]);
  });

  it("restarts the block if the agent started again", () => {
    const text = `${START} {"phase": "p", "data": {"a": "bro ${block("p", { a: "whole" })}`;
    expect(scanBlocks(text)).toMatchObject([
      { ok: false, code: "truncated" },
      { ok: true, data: { a: "whole" } },
    ]);
  });
});

describe("chunks", () => {
  const DATA = { ...SUCCESS, summary: `Größe 日本語 🎉 ${END} "quoted" \\ end` };
  const TEXT = `Grüße 🎉 <<<ORCH ${START} mention ${block("completion", DATA)} <<<END_ ${delimited("{'a': 1,")} ${START} {"phase`;
  const BYTES = new TextEncoder().encode(TEXT);
  const WHOLE = scanBlocks(TEXT);

  it("may be cut anywhere, in text and in bytes", () => {
    expect(WHOLE).toMatchObject([{ ok: true, data: DATA }, { code: "truncated" }, { code: "truncated" }]);
    for (let size = 1; size < 70; size++) {
      const cuts = (length: number) =>
        Array.from({ length: Math.floor(length / size) }, (_, index) => (index + 1) * size);
      expect(scanCut(TEXT, cuts(TEXT.length))).toEqual(WHOLE);
      expect(scanCut(BYTES, cuts(BYTES.length))).toEqual(WHOLE);
    }
  });

  it("never change the blocks found, whatever they contain", () => {
    const piece = fc.constantFrom(
      START,
      END,
      START.slice(0, 9),
      END.slice(3),
      '{"phase":"p","data":{"a":"',
      '"}}',
      "{'a':1}",
      '"',
      "\\",
      "é🎉",
      " x ",
      "<<<",
    );
    const law = fc.property(
      fc.array(piece, { maxLength: 14 }),
      fc.array(fc.nat(300), { maxLength: 6 }),
      fc.integer({ min: 20, max: 400 }),
      (pieces, cuts, max) => {
        const bytes = new TextEncoder().encode(pieces.join(""));
        const places = cuts.filter((cut) => cut < bytes.length);
        expect(scanCut(bytes, places, max)).toEqual(scanCut(bytes, [], max));
      },
    );
    fc.assert(law, { numRuns: 2000, seed: 7 });
  });

  it("may contain any bytes", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.constantFrom(START, END).map((text) => new TextEncoder().encode(text)),
    );
    const law = fc.property(fc.array(bytes, { maxLength: 12 }), (chunks) => {
      const scanner = new ResponseScanner({ maxBlockBytes: 200 });
      for (const chunk of chunks) scanner.push(chunk);
      for (const found of scanner.end()) expect(found.raw.length).toBeLessThanOrEqual(400);
    });
    fc.assert(law, { numRuns: 1000, seed: 7 });
  });

  it("are searched in the same way without Buffer", () => {
    const law = fc.property(
      fc.array(fc.constantFrom(1, 2, 3), { maxLength: 40 }),
      fc.array(fc.constantFrom(1, 2), { minLength: 1, maxLength: 4 }),
      (hay, needle) => {
        expect(findByFirstByte(Uint8Array.from(hay), Uint8Array.from(needle), 0)).toBe(
          Buffer.from(hay).indexOf(Buffer.from(needle)),
        );
      },
    );
    fc.assert(law, { numRuns: 1000, seed: 7 });
  });

  it("are searched in the same way however often they contain characters of the delimiter", () => {
    const needle = Buffer.from("<<A_B>>");
    const piece = fc.constantFrom("<<A_B>>", "<<A_B", "A_B>>", "<", "A", "_", "B", ">", "<<", "quiet ".repeat(300));
    const law = fc.property(
      fc.array(piece, { maxLength: 200 }),
      fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 20 }),
      (pieces, sizes) => {
        const bytes = Buffer.from(pieces.join(""));
        expect(endsInChunks(bytes, sizes, needle)).toEqual(endsAtOnce(bytes, needle));
      },
    );
    fc.assert(law, { numRuns: 1000, seed: 8 });
  });
});

function endsAtOnce(bytes: Buffer, needle: Buffer): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + needle.length))
    ends.push(at + needle.length);
  return ends;
}

/** Finds the same needle in chunks of these sizes, repeated. */
function endsInChunks(bytes: Buffer, sizes: number[], needle: Buffer): number[] {
  const search = new ByteNeedle(needle);
  const ends: number[] = [];
  for (let from = 0, index = 0; from < bytes.length; index++) {
    const chunk = bytes.subarray(from, from + (sizes[index % sizes.length] ?? 1));
    for (let at = search.next(chunk, 0); at !== -1; at = search.next(chunk, at)) ends.push(from + at);
    from += chunk.length;
  }
  return ends;
}

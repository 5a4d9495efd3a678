import { describe, expect, it } from "vitest";
import { parseOrchestratorResponse } from "../../src/protocol/response/parse-orchestrator-response.ts";
import { ResponseParser } from "../../src/protocol/response/response-parser.ts";
import { block, delimited, END, EXAMPLE, START } from "./blocks.ts";

const parser = new ResponseParser();

describe("parseOrchestratorResponse", () => {
  it("returns the phase, the data and the trimmed text around the block (D0-002, D0-064, D0-070)", () => {
    expect(parseOrchestratorResponse(EXAMPLE)).toEqual({
      found: true,
      phase: "analysis",
      data: { summary: "Found 5 main modules", recommended_splits: 5 },
      beforeText: "I've analyzed the codebase and found several components to document.",
      afterText: "Let me know if you'd like me to proceed with the task breakdown.",
    });
  });

  it("returns the whole text if there is no start delimiter (D0-065)", () => {
    expect(parseOrchestratorResponse("no block")).toEqual({ found: false, raw: "no block" });
  });

  it("reports a missing end delimiter, and searches for it only after the start (D0-066)", () => {
    const text = `${END} ${START} {"phase": "p"`;
    expect(parseOrchestratorResponse(text)).toEqual({ found: false, error: "Missing end delimiter", raw: text });
  });

  it("reads the trimmed text between the delimiters and names a missing member (D0-067..D0-069)", () => {
    expect(parseOrchestratorResponse(delimited('  {"data": {}}  '))).toEqual({
      found: true,
      error: "Missing phase field",
      raw: '{"data": {}}',
    });
    expect(parseOrchestratorResponse(delimited('{"phase": "p"}'))).toEqual({
      found: true,
      error: "Missing data field",
      raw: '{"phase": "p"}',
    });
  });

  it("returns the message of JSON.parse if the text is not JSON (D0-071)", () => {
    let message = "";
    try {
      JSON.parse("not json");
    } catch (error) {
      message = error instanceof Error ? error.message : "";
    }
    expect(parseOrchestratorResponse(delimited("not json"))).toEqual({
      found: true,
      error: `JSON parse error: ${message}`,
      raw: "not json",
    });
  });

  it("fixes trailing commas and unquoted keys (D0-076)", () => {
    expect(parseOrchestratorResponse(delimited('{phase: "p", data: {a: [1,],},}'))).toMatchObject({
      phase: "p",
      data: { a: [1] },
    });
  });

  it("never throws, whatever the response is (D0-004)", () => {
    for (const text of [
      "",
      START,
      END,
      START + END,
      `${END}${START}`,
      delimited("\\"),
      delimited('{"phase":{},"data":1}'),
      delimited("null"),
      delimited("[null]"),
    ]) {
      expect(() => parseOrchestratorResponse(text)).not.toThrow();
    }
  });
});

describe("ResponseParser.parse", () => {
  it("returns the first block with the text around it (D4-177, D4-181, D4-401)", () => {
    const text = ` before ${delimited('  {"phase":"p","data":{"n":1}}  ')} between ${block("q", {})} `;
    expect(parser.parse(text)).toEqual({
      found: true,
      phase: "p",
      data: { n: 1 },
      beforeText: "before",
      afterText: `between ${block("q", {})}`,
      raw: '{"phase":"p","data":{"n":1}}',
    });
  });

  it("finds no block without delimiters, and always returns the raw text (D4-175)", () => {
    expect(parser.parse("nothing")).toEqual({ found: false, raw: "nothing" });
  });

  it("reports a missing end delimiter and marks the block as incomplete (D4-176)", () => {
    for (const text of [`${START} {"phase":"p","data":{}}`, `${START} {"phase":"p"`]) {
      expect(parser.parse(text)).toMatchObject({
        found: false,
        error: "Missing end delimiter",
        incomplete: true,
        raw: text,
      });
    }
  });

  it("names the missing member in words and with a stable code (D4-179, D4-180)", () => {
    expect(parser.parse(delimited('{"data":{}}'))).toMatchObject({
      found: true,
      error: "Missing required field: phase",
      code: "missing_phase",
    });
    expect(parser.parse(delimited('{"phase":"p"}'))).toMatchObject({
      found: true,
      error: "Missing required field: data",
      code: "missing_data",
    });
  });

  it("accepts data only if it is an object (D0-006)", () => {
    for (const data of ["[1]", '"text"', "5", "true", "null"]) {
      expect(parser.parse(delimited(`{"phase":"p","data":${data}}`))).toMatchObject({ code: "missing_data" });
    }
    expect(parser.parse(delimited('{"phase":"p","data":{}}'))).toMatchObject({ found: true, data: {} });
  });

  it("reads damaged JSON and lists the repairs (D4-178)", () => {
    expect(parser.parse(delimited("{phase: 'p', data: {a: 1,}} // done"))).toMatchObject({
      found: true,
      phase: "p",
      data: { a: 1 },
      repairs: ["unquoted key", "single quotes", "trailing comma", "text around the object"],
    });
  });

  it("does not stop at an end delimiter inside a string", () => {
    const text = `${block("p", { text: `about ${END}` })} after`;
    expect(parser.parse(text)).toMatchObject({ found: true, data: { text: `about ${END}` }, afterText: "after" });
  });

  it("uses its own delimiters, by default those of the document (D4-174, D4-400)", () => {
    expect(parser).toMatchObject({ delimiterStart: START, delimiterEnd: END });
    expect(parser).toMatchObject({
      delimiterStart: "<<<ORCHESTRATOR_RESPONSE>>>",
      delimiterEnd: "<<<END_ORCHESTRATOR_RESPONSE>>>",
    });
    const custom = new ResponseParser({ delimiterStart: "[[", delimiterEnd: "]]" });
    expect(custom.parse('[[{"phase":"p","data":{}}]]')).toMatchObject({ found: true, phase: "p" });
    expect(custom.parse(block("p", {}))).toMatchObject({ found: false });
  });
});

describe("ResponseParser.parseMultiple", () => {
  it("returns every block and continues after each end delimiter (D4-182, D4-402)", () => {
    const results = parser.parseMultiple(`${block("p", { n: 1 })} x ${delimited("none")} ${block("q", { n: 2 })}`);
    expect(results).toMatchObject([
      { found: true, phase: "p" },
      { found: true, code: "not_json" },
      { found: true, phase: "q" },
    ]);
  });

  it("ends with an error if the last block is not closed (D4-183)", () => {
    const results = parser.parseMultiple(`${block("p", {})} ${START} {"phase": "q"`);
    expect(results).toMatchObject([
      { found: true },
      { found: false, error: "Missing end delimiter", incomplete: true },
    ]);
    expect(results).toHaveLength(2);
  });
});

describe("the repairs of the document", () => {
  it.each([
    ["trailing commas", "[1, 2, 3,]", "[1, 2, 3]"],
    ["unquoted keys", '{key: "value"}', '{"key": "value"}'],
    ["single quotes around keys and values", "{'key': 'value'}", '{"key": "value"}'],
    ["unquoted text", "{key: value}", '{"key": "value"}'],
    ["line comments", '{"a": 1 // one\n}', '{"a": 1\n}'],
    ["block comments", '{"a": /* one */ 1}', '{"a": 1}'],
    ["a byte-order mark", '\ufeff{"a": 1}', '{"a": 1}'],
    ["a byte-order mark inside the object", '{\ufeff"a": 1}', '{ "a": 1}'],
    ["a backslash before a line break", '{"a": "x\\\ny"}', '{"a": "x\\ny"}'],
  ])("fix %s (D4-184..D4-190)", (_name, damaged, fixed) => {
    expect(parser.fixCommonJSONErrors(damaged)).toBe(fixed);
  });

  it("return JSON unchanged, and unrepairable text too (D4-406)", () => {
    for (const text of ['{ "a" : [1,2] }', "no JSON at all", '{"cut": "he']) {
      expect(parser.fixCommonJSONErrors(text)).toBe(text);
    }
  });

  it("keep a URL, an apostrophe or a word with a colon intact", () => {
    expect(parser.extractJSON('{"url": "https://a.b/c", "note": "it\'s so: yes,}",}')).toEqual({
      url: "https://a.b/c",
      note: "it's so: yes,}",
    });
  });
});

describe("ResponseParser.extractJSON", () => {
  it("tries the text, the repaired text and the object inside it, and otherwise returns null (D4-191, D4-405)", () => {
    expect(parser.extractJSON('{"a": 1}')).toEqual({ a: 1 });
    expect(parser.extractJSON("{a: 1,}")).toEqual({ a: 1 });
    expect(parser.extractJSON('Here: {"a": {"b": 2}} so.')).toEqual({ a: { b: 2 } });
    expect(parser.extractJSON("Here: {a: {b: 2,},} so.")).toEqual({ a: { b: 2 } });
    expect(parser.extractJSON("nothing here")).toBeNull();
    expect(parser.extractJSON('{"a": 1} or {"a": 2}')).toBeNull();
  });

  it("returns null for a truncated object", () => {
    expect(parser.extractJSON('{"a": [1, 2')).toBeNull();
  });
});

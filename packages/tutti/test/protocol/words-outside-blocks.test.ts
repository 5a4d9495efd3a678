import { describe, expect, it } from "vitest";
import { DEFAULT_DELIMITERS } from "../../src/protocol/response/response-scanner.ts";
import { wordsOutsideBlocks } from "../../src/protocol/response/words-outside-blocks.ts";

describe("the words of an agent for people", () => {
  it.each([
    ["before <<<ORCHESTRATOR_RESPONSE>>>{}<<<END_ORCHESTRATOR_RESPONSE>>> after", "before  after"],
    ["words <<<ORCHESTRATOR_RESPONSE>>> { open", "words"],
    ['"cut": 1}<<<END_ORCHESTRATOR_RESPONSE>>> words', "words"],
    ["only words", "only words"],
  ])("contain no block: %s", (text, words) => {
    expect(wordsOutsideBlocks(text, DEFAULT_DELIMITERS)).toBe(words);
  });
});

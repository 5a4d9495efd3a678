import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderSchemas, storedSchemas } from "../../../../../scripts/generate-schemas.mjs";
import { ANSWERS } from "../../../src/schema/answer.ts";
import { detectProtocol } from "../../../src/protocol/canonical/detect-protocol.ts";
import { PROTOCOLS } from "../../../src/protocol/canonical/protocol-name.ts";
import { WRITTEN_MESSAGES } from "../../../src/protocol/messages/message-schema.ts";
import type { Profile } from "../../../src/protocol/profile.ts";
import { DRAFTS, jsonSchema, PUBLISHED_SCHEMAS } from "../../../src/protocol/published-schemas.ts";
import * as delegation from "../delegation/examples.ts";
import * as mailbox from "../mailbox/examples.ts";
import * as messages from "../messages/examples.ts";
import { ARBITRARY_MESSAGES } from "./arbitrary-message.ts";
import { fits } from "./json-schema-check.ts";

const kebab = (name: string) => name.toLowerCase().replaceAll("_", "-");

/** The name under which the schema of this message is published. */
function nameOf(value: unknown): string {
  const found = detectProtocol(value);
  if (!found) throw new Error("No protocol has such a message");
  return `${found.protocol}/${kebab(found.kind)}`;
}

const schemaOf = (name: string, profile: Profile, draft: (typeof DRAFTS)[number]) => {
  const schema = jsonSchema(name, profile, draft);
  if (!schema) throw new Error(`There is no schema ${name}`);
  return schema;
};

describe("the published schemas", () => {
  it("are what the generator makes of the sources", () => {
    expect(Object.fromEntries(storedSchemas())).toEqual(Object.fromEntries(renderSchemas()));
  });

  it("describe every message of the four protocols, in both drafts (D3-113)", () => {
    const wanted = [
      ...Object.keys(ANSWERS).map((phase) => `response/${kebab(phase)}`),
      "mailbox/task-assignment",
      "mailbox/completion-report",
      "mailbox/message-file",
      "mailbox/queue-file",
      "mailbox/status-file",
      "mailbox/config-file",
      "delegation/new-task",
      "delegation/attempt-completion",
      ...Object.keys(WRITTEN_MESSAGES).map((type) => `messages/${kebab(type)}`),
    ];
    expect(Object.keys(PUBLISHED_SCHEMAS)).toEqual(wanted);
    for (const name of wanted) {
      expect(schemaOf(name, "strict", "draft-07").$schema).toBe("http://json-schema.org/draft-07/schema#");
      expect(schemaOf(name, "strict", "2020-12").$schema).toBe("https://json-schema.org/draft/2020-12/schema");
      if (!name.startsWith("response/")) expect(jsonSchema(name, "lenient", "2020-12")).toBeDefined();
    }
    expect(jsonSchema("messages/toString", "strict", "2020-12")).toBeUndefined();
  });

  it.each(DRAFTS)("accept the documents' examples (%s)", (draft) => {
    const examples = [
      ...mailbox.assignmentFile.messages,
      ...mailbox.reportFile.messages,
      ...Object.values(delegation),
      ...Object.values(messages),
    ];
    for (const example of examples) {
      expect(fits(schemaOf(nameOf(example), "lenient", draft), example), JSON.stringify(example)).toBe(true);
    }
    const whole = [messages.acknowledgment, messages.completion, messages.rejection, messages.resolution];
    for (const example of whole) expect(fits(schemaOf(nameOf(example), "strict", draft), example)).toBe(true);
    for (const example of [messages.chatAssignment, messages.scopeChange, delegation.newTaskShape]) {
      expect(fits(schemaOf(nameOf(example), "strict", draft), example)).toBe(false);
    }
    for (const file of [mailbox.assignmentFile, mailbox.reportFile, mailbox.clearedFile]) {
      expect(fits(schemaOf("mailbox/message-file", "strict", draft), file)).toBe(true);
    }
  });

  it.each(PROTOCOLS)("say of any message of %s, sound or damaged, what its reader's schema says", (protocol) => {
    const schemas = new Map<string, Record<string, unknown>>();
    const junk = fc.constantFrom(null, 1, "", "x", true, [], {}, [1], undefined);
    const damages = fc.array(fc.tuple(fc.nat(), junk), { maxLength: 2 });
    const verdicts = new Set<boolean>();
    fc.assert(
      fc.property(ARBITRARY_MESSAGES[protocol], damages, (message, harm) => {
        const name = nameOf(message);
        const damaged = harm.reduce<Record<string, unknown>>(damage, structuredClone(message));
        for (const profile of ["strict", "lenient"] as const) {
          const source = PUBLISHED_SCHEMAS[name]?.[profile];
          if (!source) continue;
          for (const draft of DRAFTS) {
            const key = `${name} ${profile} ${draft}`;
            const schema = schemas.get(key) ?? schemaOf(name, profile, draft);
            schemas.set(key, schema);
            const expected = source.safeParse(damaged).success;
            verdicts.add(expected);
            expect(fits(schema, damaged), key).toBe(expected);
          }
        }
      }),
      { numRuns: 150 },
    );
    expect(verdicts.size).toBe(2);
  });
});

/** Puts junk in the place of one member, or of a member of it. */
function damage(message: Record<string, unknown>, [at, junk]: [number, unknown]): Record<string, unknown> {
  const names = Object.keys(message);
  const name = names[at % names.length];
  if (name === undefined) return message;
  const member = message[name];
  const isNested = typeof member === "object" && member !== null && !Array.isArray(member) && at % 2 === 0;
  if (isNested) return { ...message, [name]: damage(member as Record<string, unknown>, [at >> 1, junk]) };
  if (junk !== undefined) return { ...message, [name]: junk };
  const { [name]: _gone, ...rest } = message;
  return rest;
}

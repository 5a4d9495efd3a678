import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CANARIES, leaksIn, SECRET_ENV } from "./canaries.ts";
import { createSecrets } from "../../src/session/secrets/find-secrets.ts";
import { MaskStream, maskText, maskValue } from "../../src/session/secrets/mask.ts";
import { isSecretName, secretValues } from "../../src/session/secrets/secrets.ts";

const secrets = createSecrets(secretValues(SECRET_ENV));
const mask = (text: string): string => maskText(secrets, text);

describe("The variable", () => {
  it.each([
    "ANTHROPIC_API_KEY",
    "GITHUB_TOKEN",
    "PGPASSWORD",
    "DB_PASS",
    "MYSQL_PWD",
    "AWS_SECRET_ACCESS_KEY",
    "OPENAI_APIKEY",
    "npm_config__auth",
    "GOOGLE_CREDENTIALS",
    "TUTTI_TOKEN",
    "TUTTI_MCP_TOKEN",
    "SECRET",
  ])("%s is secret by its name", (name) => expect(isSecretName(name)).toBe(true));

  it.each([
    "PATH",
    "PWD",
    "HOME",
    "GIT_AUTHOR_NAME",
    "XAUTHORITY",
    "SSH_AUTH_SOCK",
    "TUTTI_SESSION_KEY",
    "KEYBOARD",
    "AWS_ACCESS_KEY_ID",
    "MONKEY",
    "TOKEN_FILE",
  ])("%s is not secret by its name", (name) => expect(isSecretName(name)).toBe(false));

  it("is not masked if its value is as short as a word or only a file's path", () => {
    const env = {
      A_TOKEN: "short",
      B_TOKEN: " long enough \n",
      GOOGLE_CREDENTIALS: "/home/me/key.json",
      C_KEY: "/looks/like/one",
    };
    expect(secretValues(env)).toEqual(["long enough", "/looks/like/one"]);
    // A word would be masked in ordinary text too.
    expect(secretValues({ POSTGRES_PASSWORD: "postgres", DB_PASSWORD: "postgres1" })).toEqual(["postgres1"]);
  });
});

describe("Masking", () => {
  it.each(CANARIES)("hides a secret: $name", ({ printed, core }) => {
    for (const text of [printed, `key=${printed} and on`, JSON.stringify({ text: `first\n${printed}\nlast` })])
      expect(mask(text)).not.toContain(core);
  });

  it("leaves ordinary words alone", () => {
    const texts = [
      "task-2024-01-01-a-long-description and sk-circle-fade-something-of-css",
      "npm_config_loglevel=error, ghp_short, AKIAFOO, https://example.org:8080/a@b and user@example.org",
      "the bearer of bad news has basic understandings; Authorization: none",
      "-----BEGIN CERTIFICATE-----\nMIIBabcdefghijklmnopqrstuvwxyz\n-----END CERTIFICATE-----",
      "-----BEGIN RSA PRIVATE KEY----- is how such a file begins",
      "git clone https://user:${TOKEN}@example.org/x.git",
      "eyJhbGciOiJIUzI1NiJ9 is no token by itself",
      "b3JkaW5hcnkgd29yZHMgaW4gYmFzZTY0",
      "password: string, token = createToken12345(), secret=process.env.APP_SECRET_1, api_key: ${API_KEY_2_OF_3}",
      "tokens: 1234567890123, max_token=123456789012, the password of the admin is required, secret: a-long-word-only",
      "at 10:AA and 12345678:AAshort",
      "the cookie tutti_4517, the branch tutti_docs_of-the-parser and tutti_a_name-that-is-long-but-not-a-token",
    ];
    for (const text of texts) expect(mask(text)).toBe(text);
  });

  it("keeps numbers and line breaks, and masks member names", () => {
    const numbers = createSecrets(["123456789", "two lines\nof it"]);
    expect(JSON.parse(maskText(numbers, '{"a":123456789,"b":"x123456789"}'))).toEqual({
      a: 999999999,
      b: "x999999999",
    });
    expect(maskText(numbers, "two lines\nof it")).toBe("*********\n*****");
    const { printed } = CANARIES[0]!;
    expect(maskValue(secrets, { [printed]: [{ deep: printed }], n: 1, nothing: null })).toEqual({
      ["*".repeat(printed.length)]: [{ deep: "*".repeat(printed.length) }],
      n: 1,
      nothing: null,
    });
  });

  it("replaces values that are nested too deeply with null", () => {
    const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) as unknown;
    expect(JSON.stringify(maskValue(secrets, deep)).length).toBeLessThan(1000);
  });
});

/** Texts with secrets, halves of secrets, escapes and characters of several bytes. */
const piece = fc.oneof(
  fc.constantFrom(...CANARIES.map(({ printed }) => printed)),
  fc.tuple(fc.constantFrom(...CANARIES), fc.nat(40)).map(([{ printed }, end]) => printed.slice(0, end)),
  fc.constantFrom(
    "\\",
    "\\\\",
    "\\n",
    "\\u",
    "\\u00",
    '"',
    "\n",
    " ",
    "ä",
    "€",
    "://",
    "Bearer ",
    "sk-",
    "eyJ",
    "-----",
  ),
  fc.string({ maxLength: 6 }),
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));

function streamed(bytes: Buffer, cuts: readonly number[]): Buffer {
  const stream = new MaskStream(secrets);
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b);
  const parts = [...places, bytes.length].map((end, i) =>
    Buffer.from(stream.push(bytes.subarray(places[i - 1] ?? 0, end))),
  );
  return Buffer.concat([...parts, stream.end()]);
}

describe("The search for secrets", () => {
  it("finds a secret at every position of a longer text", () => {
    const most = Math.max(...CANARIES.map(({ printed }) => Buffer.byteLength(printed)));
    for (const { name, printed } of CANARIES) {
      const bytes = Buffer.alloc(600 + most, " ");
      const { regions: expected } = secrets.find(Buffer.from(` ${printed} `), 0, true);
      for (let at = 1; at < 600; at++) {
        bytes.fill(" ");
        bytes.write(printed, at);
        const { regions, settled } = secrets.find(bytes, 0, true);
        expect({ name, at, regions: regions.map((each) => each - at + 1), settled }).toEqual({
          name,
          at,
          regions: expected,
          settled: bytes.length,
        });
      }
    }
  });
});

describe("A masked text, at any chunk size,", () => {
  it("hides a secret that a chunk ends in", () => {
    for (const { printed } of CANARIES) {
      const bytes = Buffer.from(`${" ".repeat(300)}${printed} `);
      const whole = streamed(bytes, []).toString("latin1");
      for (let cut = 300; cut < Math.min(340, bytes.length); cut++)
        expect(streamed(bytes, [cut]).toString("latin1")).toBe(whole);
    }
  });

  it("keeps its length and changes only within secrets", () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(5000), { maxLength: 8 }), (given, cuts) => {
        const bytes = Buffer.from(given);
        const whole = streamed(bytes, []);
        expect(whole.length).toBe(bytes.length);
        expect(streamed(bytes, cuts).toString("latin1")).toBe(whole.toString("latin1"));
        const { regions } = secrets.find(bytes, 0, true);
        const outside = Buffer.from(whole);
        for (let i = 0; i < regions.length; i += 2) bytes.copy(outside, regions[i], regions[i], regions[i + 1]);
        expect(outside.equals(bytes)).toBe(true);
        expect(leaksIn(whole.toString("utf8")).filter((name) => !leaksIn(given).includes(name))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("stays valid JSON with the same members", () => {
    fc.assert(
      fc.property(fc.dictionary(text, fc.oneof(text, fc.integer(), fc.boolean())), (given) => {
        const json = JSON.stringify(given);
        const masked = JSON.parse(mask(json)) as object;
        expect(Object.values(masked).map((each) => typeof each)).toHaveLength(
          new Set(Object.keys(given).map((name) => JSON.parse(`"${mask(JSON.stringify(name).slice(1, -1))}"`))).size,
        );
      }),
      { numRuns: 500 },
    );
  });
});

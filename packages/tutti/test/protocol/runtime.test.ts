import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { completion } from "./messages/examples.ts";

const source = fileURLToPath(new URL("../../src", import.meta.url));

it("the protocol code is TypeScript that Node runs without a build (D3-112)", () => {
  const kinds = new Set(globSync("**/*.*", { cwd: source }).map((file) => extname(file)));
  // Templates are data.
  expect([...kinds].toSorted()).toEqual([".json", ".ts"]);
  const program = `
    import { readMessage } from ${JSON.stringify(`${source}/protocol/canonical/read-message.ts`)};
    const options = { profile: "strict", receivedAt: "" };
    console.log(JSON.stringify(readMessage("messages", ${JSON.stringify(completion)}, options)));
  `;
  const args = ["--input-type=module", "--eval", program];
  const output = execFileSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  expect(JSON.parse(output)).toEqual({ message: completion, problems: [] });
});

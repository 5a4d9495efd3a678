// `textDriver` runs any program that reads the prompt from stdin and answers on stdout; one process per turn.
import { StringDecoder } from "node:string_decoder";
import { words } from "./command.ts";
import type { CodingDriver, Decoder } from "../driver.ts";
import { findProgram } from "../find-program.ts";
import { loginOf } from "../sandbox/login-paths.ts";

export const textDriver: CodingDriver = {
  check: (rest, cwd) => void findProgram(words(rest)[0]!, cwd),
  launch: (rest, _spec, _folder, env) => {
    const command = words(rest);
    return { mode: "turn", command, access: loginOf(command, env) };
  },
  coding: {
    encodeTurn: (turn) => turn.text,
    encodeAnswer: () => null,
    encodeInterrupt: () => null,
    decoder: textDecoder,
  },
};

function textDecoder(): Decoder {
  const utf8 = new StringDecoder("utf8");
  return {
    push(bytes) {
      const text = utf8.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      return text === "" ? [] : [{ type: "text", text, complete: false }];
    },
    flush: () => [{ type: "text", text: utf8.end(), complete: true }],
  };
}

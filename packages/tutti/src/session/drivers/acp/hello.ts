import { PROTOCOL_VERSION, type InitializeRequest } from "@agentclientprotocol/sdk";
import { readFileSync } from "node:fs";

export const HELLO: InitializeRequest = {
  protocolVersion: PROTOCOL_VERSION,
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  clientInfo: { name: "tutti", title: "Tutti", version: readVersion() },
};

function readVersion(): string {
  const file = new URL("../../../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

import { TuttiError } from "../../schema/error.ts";
import { SandboxMode } from "../../schema/agent/sandbox.ts";

export function readSandbox(value: string | undefined): SandboxMode | undefined {
  if (value === undefined) return undefined;
  const parsed = SandboxMode.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new TuttiError("usage", `"${value}" is not a valid value of --sandbox. Use auto, off or required.`);
}

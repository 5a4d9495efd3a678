import type { z } from "zod";

export interface McpTool<Input extends z.ZodObject = z.ZodObject> {
  description: string;
  input: Input;
  readOnly?: true;
  /** A rejection becomes a tool result with `isError`. */
  call(input: z.output<Input>, call: CallContext): Promise<unknown>;
}

export interface CallContext {
  /** Aborted when the client cancels the call or disconnects. */
  signal: AbortSignal;
  /** Does nothing unless the client asked for progress. */
  progress: (message: string) => Promise<void>;
}

/** Infers the type of `input` in `call`. */
export const defineTool = <Input extends z.ZodObject>(tool: McpTool<Input>): McpTool => tool;

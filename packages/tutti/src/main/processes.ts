// Whether a process that is named in a file still lives.
export { identify, isAlive } from "../session/process.ts";

export { identify, isAlive } from "../session/process.ts";

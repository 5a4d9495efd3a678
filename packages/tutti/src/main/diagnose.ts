// What is installed on this machine.
export { diagnose } from "../doctor/diagnose.ts";

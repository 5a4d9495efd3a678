import { missing, ok, warning, type Check } from "./check.ts";
import { sentence } from "../sentence.ts";
import { findDriver } from "../session/agents.ts";
import { findLogin, type Login } from "../session/find-login.ts";
import { locateProgram, probeProgram, type ProgramFound } from "../session/probe-program.ts";
import { seriesOf, TESTED_PROGRAMS, type TestedProgram, type TestedProgramName } from "../session/tested-versions.ts";
import { realWorld } from "../world.ts";

/** Other programs with the Agent Client Protocol; reported only if they are installed. */
const OTHER_PROGRAMS = ["auggie", "cursor-agent", "goose", "kimi", "opencode", "qwen"];

export async function checkAgents(timeoutMs: number): Promise<Check[]> {
  const names = Object.keys(TESTED_PROGRAMS) as TestedProgramName[];
  const tested = await Promise.all(names.map((name) => checkTested(name, timeoutMs)));
  const local: Check = ok(
    sentence("agent {name}", { name: "local" }),
    sentence("built in; needs no model and no login"),
  );
  return [local, ...tested.flat(), ...checkOthers()];
}

async function checkTested(name: TestedProgramName, timeoutMs: number): Promise<Check[]> {
  const tested: TestedProgram = TESTED_PROGRAMS[name];
  const program = await probeProgram(name, { timeoutMs, env: tested.askEnv });
  if (program === null) {
    const advice = sentence("To use it: npm install --global {package}@{version}.", {
      package: tested.npmPackage,
      version: tested.version,
    });
    return [missing(sentence("agent {name}", { name }), sentence("not found on the PATH"), advice)];
  }
  const isKnown = isDriven(tested.agent);
  return [checkProgram(sentence("agent {name}", { name }), program, tested, isKnown), checkLogin(name, isKnown)];
}

function checkProgram(
  name: string,
  { path, version, problem }: ProgramFound,
  tested: TestedProgram,
  isKnown: boolean,
): Check {
  const install = `npm install --global ${tested.npmPackage}@${tested.version}`;
  if (version === null) {
    // `isWrapperOnly`: npm was not allowed to run the install script, which installs the program itself.
    const isWrapperOnly = problem?.includes("native binary not installed") === true;
    const advice = isWrapperOnly
      ? sentence("Install it again without --ignore-scripts, because it needs its install script: {install}.", {
          install,
        })
      : sentence("Start it by hand to see what is wrong, or install it again: {install}.", { install });
    return warning(
      name,
      sentence("{path} does not print its version: {detail}", { path, detail: String(problem) }),
      advice,
    );
  }
  const found = sentence("{version} at {path}", { version, path });
  const series = seriesOf(tested.version);
  if (seriesOf(version) !== series) {
    const advice = sentence("Tutti is not tested with this version. Install {series}.x: {install}.", {
      series,
      install,
    });
    return warning(name, found, advice);
  }
  if (!isKnown) {
    const advice = sentence("This version of Tutti has no driver for it. Use it as text:PROGRAM or command:PROGRAM.");
    return warning(name, found, advice);
  }
  return ok(name, sentence("{found}; use it with --agent {agent}", { found, agent: JSON.stringify(tested.agent) }));
}

function isDriven(agent: string): boolean {
  try {
    findDriver(agent);
    return true;
  } catch {
    return false;
  }
}

function checkLogin(program: TestedProgramName, isKnown: boolean): Check {
  const name = sentence("login {name}", { name: program });
  const login = findLogin(program);
  if (login === null) {
    const advice = sentence("Start {program} once and log in. A login in a key ring is not detected.", { program });
    return missing(name, sentence("no login found"), advice);
  }
  return { name, ...describeLogin(login, program, isKnown) };
}

function describeLogin(login: Login, program: TestedProgramName, isKnown: boolean): Omit<Check, "name"> {
  if (login.type === "variable") {
    return {
      status: "ok",
      found: sentence("seems to be logged in: {name} is set", { name: login.name }),
      ...passOn(login.name, isKnown),
    };
  }
  const { file, mode, expiresAt, placedBy } = login;
  if (expiresAt !== null && expiresAt <= realWorld.now()) {
    const since = new Date(expiresAt).toISOString();
    return {
      status: "warning",
      found: sentence("{file} expired at {since}", { file, since }),
      advice: sentence("Start {program} once and log in again.", { program }),
    };
  }
  const found = sentence("seems to be logged in: {file} exists (mode {mode})", { file, mode: mode.toString(8) });
  if ((mode & 0o077) !== 0)
    return { status: "warning", found, advice: sentence("Other users can read it. Run chmod 600 {file}.", { file }) };
  return { status: "ok", found, ...(placedBy === null ? {} : passOn(placedBy, isKnown)) };
}

/** A driver passes the login of its agent on. Without one (`isKnown` is false) the user must pass the `variable`. */
const passOn = (variable: string, isKnown: boolean): Pick<Check, "advice"> =>
  isKnown ? {} : { advice: sentence("Pass it to the agents with --agent-env {variable}=….", { variable }) };

function checkOthers(): Check[] {
  return OTHER_PROGRAMS.flatMap((program) => {
    const path = locateProgram(program);
    if (path === null) return [];
    return [ok(sentence("agent {name}", { name: program }), sentence("{path}; not tested with Tutti", { path }))];
  });
}

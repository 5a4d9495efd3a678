// The browsers of the tests: those on `PATH`, or the one that `CHROME_PATH` names.
import { chromium, type Browser } from "playwright-core";
import { findOnPath, type RequiredProgram } from "../lab/required-program.ts";

/** It has no windows of its own to draw, which saves a third of the processor time, and no notifications. */
const SHELL = "chromium-headless-shell";
const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge"];

/** Among others, these turn off the browser's own network requests. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Each message between processes and threads costs processor time.
  "--in-process-gpu",
  "--enable-features=NetworkServiceInProcess2",
  "--num-raster-threads=1",
  // Pages of one context share a process.
  "--process-per-site",
  // Pages live for seconds, in which optimised code costs more processor time than it saves.
  "--js-flags=--no-maglev --no-turbofan",
];

const ADVICE = "No browser was found. Set CHROME_PATH, or install Chromium, Chrome or Edge so that it is on PATH.";

/** A browser that a person could use. */
export const BROWSER: RequiredProgram = {
  name: "browser",
  packages: [BROWSERS[0]!],
  find: () => process.env["CHROME_PATH"] || findOnPath(...BROWSERS),
  advice: ADVICE,
};

export const HEADLESS_BROWSER: RequiredProgram = {
  name: "headless browser",
  packages: [SHELL],
  find: () => process.env["CHROME_PATH"] || findOnPath(SHELL, ...BROWSERS),
  advice: ADVICE,
};

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

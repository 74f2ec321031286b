/** Style, script and icon of the console. Their addresses carry a hash of what they hold, so browsers keep them for a year. */
import { hash } from "node:crypto"
import { readFileSync } from "node:fs"
import { brotliCompressSync } from "node:zlib"

export interface Asset {
  readonly path: string
  readonly type: string
  readonly body: string
  readonly brotli: Uint8Array<ArrayBuffer>
}

const read = (file: string) => readFileSync(new URL(`./assets/${file}`, import.meta.url), "utf8")

const assetOf = (name: string, ending: string, type: string, body = read(`${name}.${ending}`)): Asset => ({
  path: `/assets/${name}.${hash("sha256", body, "hex").slice(0, 12)}.${ending}`,
  type,
  body,
  brotli: new Uint8Array(brotliCompressSync(body))
})

const style = assetOf("console", "css", "text/css; charset=utf-8", read("frame.css") + read("console.css"))
const script = assetOf("console", "js", "text/javascript; charset=utf-8")
const icon = assetOf("icon", "svg", "image/svg+xml")

export const assets: ReadonlyArray<Asset> = [style, script, icon]
export const assetPaths = { style: style.path, script: script.path, icon: icon.path }

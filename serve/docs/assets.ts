/**
 * Styles, scripts and icon of the docs. The docs look like the console, so the console's style sheets come before
 * theirs. The paths contain a hash of the content, so browsers cache the files for a year.
 */
import { hash } from "node:crypto"
import { readFileSync } from "node:fs"
import { makeSharedBody, type SharedBody } from "../api/index.ts"

export interface DocsAsset {
  readonly path: string
  readonly type: string
  readonly body: SharedBody
}

const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8")

const assetOf = (name: string, ending: string, type: string, body: string): DocsAsset => ({
  path: `/docs/assets/${name}.${hash("sha256", body, "hex").slice(0, 12)}.${ending}`,
  type,
  body: makeSharedBody(body)
})

const css = "text/css; charset=utf-8"
const frame = read("../console/web/assets/frame.css")
const style = assetOf("docs", "css", css, frame + read("../console/web/assets/console.css") + read("./assets/docs.css"))
/** Without the console's style sheet: its element rules would also style Scalar's elements. */
const reference = assetOf("reference", "css", css, frame + read("./assets/reference.css"))
const js = "text/javascript; charset=utf-8"
const script = assetOf("docs", "js", js, read("./assets/docs.js"))
const referenceScript = assetOf("reference", "js", js, read("./assets/reference.js"))
const icon = assetOf("icon", "svg", "image/svg+xml", read("../console/web/assets/icon.svg"))

export const docsAssets: ReadonlyArray<DocsAsset> = [style, script, reference, referenceScript, icon]
export const docsAssetPaths = {
  style: style.path,
  script: script.path,
  icon: icon.path,
  referenceStyle: reference.path,
  referenceScript: referenceScript.path
}

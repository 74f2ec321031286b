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

const types = { css: "text/css; charset=utf-8", js: "text/javascript; charset=utf-8", svg: "image/svg+xml" }

export const makeDocsAsset = (name: string, extension: keyof typeof types, text: string): DocsAsset => ({
  path: `/docs/assets/${name}.${hash("sha256", text, "hex").slice(0, 12)}.${extension}`,
  type: types[extension],
  body: makeSharedBody(text)
})

const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8")

const frame = read("../console/web/assets/frame.css")
const consoleStyle = read("../console/web/assets/console.css")
const style = makeDocsAsset("docs", "css", frame + consoleStyle + read("./assets/docs.css"))
/** Without the console's style sheet: its element rules would also style Scalar's elements. */
const reference = makeDocsAsset("reference", "css", frame + read("./assets/reference.css"))
const script = makeDocsAsset("docs", "js", read("./assets/docs.js"))
const referenceScript = makeDocsAsset("reference", "js", read("./assets/reference.js"))
const icon = makeDocsAsset("icon", "svg", read("../console/web/assets/icon.svg"))

export const docsAssets: ReadonlyArray<DocsAsset> = [style, script, reference, referenceScript, icon]
export const docsAssetPaths = {
  style: style.path,
  script: script.path,
  icon: icon.path,
  referenceStyle: reference.path,
  referenceScript: referenceScript.path
}

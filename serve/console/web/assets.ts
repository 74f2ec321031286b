/**
 * Styles, scripts and icon of the console. Their addresses contain a content hash, so browsers cache them for a year.
 */
import { hash } from "node:crypto"
import { readFileSync } from "node:fs"
import { makeSharedBody, type SharedBody } from "../../api/index.ts"

interface Asset {
  readonly path: string
  readonly type: string
  readonly body: SharedBody
}

const read = (file: string) => readFileSync(new URL(`./assets/${file}`, import.meta.url), "utf8")
const readUPlot = (file: string) => readFileSync(new URL(import.meta.resolve(`uplot/dist/${file}`)), "utf8")

const makeAsset = (name: string, extension: string, type: string, text = read(`${name}.${extension}`)): Asset => ({
  path: `/assets/${name}.${hash("sha256", text, "hex").slice(0, 12)}.${extension}`,
  type,
  body: makeSharedBody(text)
})

const css = "text/css; charset=utf-8"
const style = makeAsset("console", "css", css, readUPlot("uPlot.min.css") + read("frame.css") + read("console.css"))
const js = "text/javascript; charset=utf-8"
const script = makeAsset("console", "js", js)
/**
 * uPlot formats numbers for the browser's language, and fails to start if `Intl` rejects it (Chromium under `LANG=C`).
 */
const locale = 'const navigator = { language: "en-GB" }\n'
/** Only the prices page loads it. */
const priceChart = makeAsset("price-chart", "js", js, locale + readUPlot("uPlot.iife.min.js") + read("price-chart.js"))
const icon = makeAsset("icon", "svg", "image/svg+xml")

export const assets: ReadonlyArray<Asset> = [style, script, priceChart, icon]
export const assetPaths = {
  style: style.path,
  script: script.path,
  priceChart: priceChart.path,
  icon: icon.path
}

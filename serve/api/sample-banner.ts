/** The notice on pages while the live generation contains bundled samples. */
import { dataSets } from "@larder/schemas"
import { html } from "hono/html"
import type { Provenances } from "./read-model.ts"

const listFormat = new Intl.ListFormat("en-GB")

/** The text after "Sample data:"; undefined if no data set contains samples. */
export const describeSamples = (provenances: Provenances): string | undefined => {
  const samples = dataSets.flatMap(({ tag }) => (provenances[tag].origin === "sample" ? [tag.toLowerCase()] : []))
  return samples.length === 0
    ? undefined
    : `most values of ${listFormat.format(samples)} here are generated: do not use them as market data. To read the sources, the operator sets LARDER_SOURCES=live and a new LARDER_HOME.`
}

/** Above the content of a page. Its styles are in the style sheet that the console and the docs share. */
export const renderSampleBanner = (notice: string | undefined) =>
  notice !== undefined &&
  html`<aside class="samples" aria-label="Sample data"><p><strong>Sample data:</strong> ${notice}</p></aside>`

export const formatSampleLine = (notice: string | undefined): string =>
  notice === undefined ? "" : `> **Sample data:** ${notice}\n\n`

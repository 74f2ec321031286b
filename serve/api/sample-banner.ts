/**
 * The notice for people while the live generation holds bundled samples, so that their numbers never appear next to a
 * real name without it. Each answer reads the current generation, so the notice appears and disappears with the
 * generations.
 */
import { dataSets } from "@larder/schemas"
import { html } from "hono/html"
import type { Provenances } from "./read-model.ts"

const listed = new Intl.ListFormat("en-GB")

/** The text after "Sample data:"; undefined if no data set holds samples. */
export const aboutSamples = (provenances: Provenances): string | undefined => {
  const samples = dataSets.flatMap(({ tag }) => (provenances[tag].origin === "sample" ? [tag.toLowerCase()] : []))
  return samples.length === 0
    ? undefined
    : `most values of ${listed.format(samples)} here are generated; use none as market data. To read the sources, the operator sets LARDER_SOURCES=live and a new LARDER_HOME.`
}

/** The notice above the content of a page. Its styles are in the style sheet that the console and the docs share. */
export const sampleBanner = (samples: string | undefined) =>
  samples !== undefined &&
  html`<aside class="samples" aria-label="Sample data"><p><strong>Sample data:</strong> ${samples}</p></aside>`

/** The same in Markdown and plain text, as a paragraph. */
export const sampleLine = (samples: string | undefined): string =>
  samples === undefined ? "" : `> **Sample data:** ${samples}\n\n`

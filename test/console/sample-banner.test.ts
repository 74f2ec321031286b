/** The banner over the bundled samples, in console and docs of a real server, and how it goes and comes with generations. */
import { guidePaths } from "@larder/serve/docs"
import { expect, it } from "vitest"
import { servedConsoleAlone } from "../support/console/served-console.ts"
import { makeGeneration } from "../support/generations.ts"
import { waitUntilServed } from "../support/programs.ts"

const shop = servedConsoleAlone()

const docs = ["/docs/reference", "/llms.txt", ...guidePaths.flatMap((path) => [path, `${path}.md`])]
const dataPages = ["", "/runs", "/feeds", "/checks", "/rejects", "/prices"].map((page) => `/data${page}`)

const isTold = (text: string) =>
  /Sample data:(<\/strong>|\*\*) most values of [a-z, ]+ here are generated/.test(text) &&
  text.includes("LARDER_SOURCES=live")

/** Those of the pages that tell of samples. */
const telling = async (paths: ReadonlyArray<string>, read: (path: string) => Promise<string>) => {
  const told: Array<string> = []
  for (const path of paths) if (isTold(await read(path))) told.push(path)
  return told
}

it("marks samples on every page that shows data, as long as the live generation has any", async () => {
  const { browser } = await shop.signedIn({ is_operator: true })
  const ofConsole = async (path: string) => (await browser.get(path)).text
  const ofDocs = async (path: string) => (await fetch(`${shop.api()}${path}`)).text()
  const showing = ["/", ...dataPages]
  expect(await telling([...showing, "/billing", "/usage", "/keys"], ofConsole)).toEqual(showing)
  expect(await telling(docs, ofDocs)).toEqual(docs)

  const reread = (origin: "live" | "sample") =>
    makeGeneration(shop.home(), ({ data_sets }) => {
      for (const entry of Object.values(data_sets)) Object.assign(entry, { origins: [origin] })
    })
  await waitUntilServed({ console: shop.url() }, reread("live"))
  expect(await telling(showing, ofConsole)).toEqual([])
  expect(await telling(docs, ofDocs)).toEqual([])

  await waitUntilServed({ console: shop.url() }, reread("sample"))
  expect(await telling(["/"], ofConsole)).toEqual(["/"])
  expect(await telling(["/docs"], ofDocs)).toEqual(["/docs"])
})

it("marks a chart of samples beside its title, and never to visitors who are not signed in", async () => {
  const { browser } = await shop.signedIn({ is_operator: true })
  const { text } = await browser.get("/data/prices?series=butter-sales-price-weekly")
  expect(text).toMatch(/<figcaption id="prices-title">Butter[^<]+<span class="badge warning">sample data<\/span>/)
  expect(isTold((await shop.browser().get("/sign-in")).text)).toBe(false)
})

/** The banner about bundled samples in the console and the docs of a real server, as generations change. */
import { guidePaths } from "@larder/serve/docs/guides.ts"
import { expect, it } from "vitest"
import { startOwnConsole } from "../support/console/served-console.ts"
import { makeGeneration } from "../support/generations.ts"
import { waitUntilServed } from "../support/programs.ts"

const shop = startOwnConsole()

const docs = ["/docs/reference", "/llms.txt", ...guidePaths.flatMap((path) => [path, `${path}.md`])]
const dataPages = ["", "/runs", "/feeds", "/checks", "/rejects", "/prices"].map((page) => `/data${page}`)

const hasBanner = (text: string) =>
  /Sample data:(<\/strong>|\*\*) most values of [a-z, ]+ here are generated/.test(text) &&
  text.includes("LARDER_SOURCES=live")

/** The pages with a banner. */
const findWithBanner = async (paths: ReadonlyArray<string>, read: (path: string) => Promise<string>) => {
  const found: Array<string> = []
  for (const path of paths) if (hasBanner(await read(path))) found.push(path)
  return found
}

it("marks samples on every page with data while the live generation contains any", async () => {
  const { browser } = await shop.signIn({ is_operator: true })
  const readConsole = async (path: string) => (await browser.get(path)).text
  const readDocs = async (path: string) => (await fetch(`${shop.api()}${path}`)).text()
  const marked = ["/", ...dataPages]
  expect(await findWithBanner([...marked, "/billing", "/usage", "/keys"], readConsole)).toEqual(marked)
  expect(await findWithBanner(docs, readDocs)).toEqual(docs)

  const publishOrigin = (origin: "live" | "sample") =>
    makeGeneration(shop.home(), ({ data_sets }) => {
      for (const entry of Object.values(data_sets)) Object.assign(entry, { origins: [origin] })
    })
  await waitUntilServed({ console: shop.url() }, publishOrigin("live"))
  expect(await findWithBanner(marked, readConsole)).toEqual([])
  expect(await findWithBanner(docs, readDocs)).toEqual([])

  await waitUntilServed({ console: shop.url() }, publishOrigin("sample"))
  expect(await findWithBanner(["/"], readConsole)).toEqual(["/"])
  expect(await findWithBanner(["/docs"], readDocs)).toEqual(["/docs"])
})

it("marks a chart of samples beside its title, and shows no banner to visitors who are not signed in", async () => {
  const { browser } = await shop.signIn({ is_operator: true })
  const { text } = await browser.get("/data/prices?series=butter-sales-price-weekly")
  expect(text).toMatch(/<figcaption id="prices-title">Butter[^<]+<span class="badge warning">sample data<\/span>/)
  expect(hasBanner((await shop.openBrowser().get("/sign-in")).text)).toBe(false)
})

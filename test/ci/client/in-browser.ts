/** Runs the client in Chromium, on a page of a different origin than the API. Its files are unbuilt, without types. */
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { stripTypeScriptTypes } from "node:module"
import type { AddressInfo } from "node:net"
import path from "node:path"
import type { Response } from "playwright-core"
import type { Client } from "../../support/api/client.ts"
import { repository } from "../../support/repository.ts"
import { launch } from "../browser/chromium.ts"

const folder = path.join(repository, "schemas/client")

/** Serves an empty page, and the client's files as scripts. */
const servePage = async () => {
  const server = createServer(({ url = "/" }, response) => {
    const isPage = url === "/"
    response.setHeader("content-type", isPage ? "text/html" : "text/javascript")
    response.end(isPage ? "" : stripTypeScriptTypes(readFileSync(path.join(folder, path.basename(url)), "utf8")))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

/** Runs a script in which `Larder` is the client, checks every response that it received, and returns its result. */
export const runInBrowser = async (client: Client, api: string, script: string): Promise<unknown> => {
  const { server, url } = await servePage()
  const context = await (await launch()).newContext()
  try {
    const tab = await context.newPage()
    const responses: Array<Response> = []
    tab.on("response", (response) => {
      if (response.url().startsWith(api) && response.request().method() === "GET") responses.push(response)
    })
    await tab.goto(url)
    const result = await tab.evaluate(
      `import("/larder.ts").then(async ({ Larder }) => JSON.parse(JSON.stringify(await (async () => { ${script} })())))`
    )
    for (const response of responses) {
      const { pathname, search } = new URL(response.url())
      const text = await response.text()
      const headers = await response.allHeaders()
      client.checkAndRecord("GET", `${pathname}${search}`, {
        status: response.status(),
        headers,
        text,
        json: JSON.parse(text)
      })
    }
    return result
  } finally {
    await context.close()
    server.close()
  }
}

/** The client in Chromium, on a page of another origin than the API: its files with their types stripped, nothing else. */
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
const page = async () => {
  const server = createServer(({ url = "/" }, response) => {
    const isPage = url === "/"
    response.setHeader("content-type", isPage ? "text/html" : "text/javascript")
    response.end(isPage ? "" : stripTypeScriptTypes(readFileSync(path.join(folder, path.basename(url)), "utf8")))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

/** Runs a script in which `Larder` is the client, and judges every answer that it got. Answers what the script returns. */
export const inBrowser = async (client: Client, api: string, script: string): Promise<unknown> => {
  const { server, url } = await page()
  const context = await (await launch()).newContext()
  try {
    const tab = await context.newPage()
    const answers: Array<Response> = []
    tab.on("response", (answer) => {
      if (answer.url().startsWith(api) && answer.request().method() === "GET") answers.push(answer)
    })
    await tab.goto(url)
    const returned = await tab.evaluate(
      `import("/larder.ts").then(async ({ Larder }) => JSON.parse(JSON.stringify(await (async () => { ${script} })())))`
    )
    for (const answer of answers) {
      const { pathname, search } = new URL(answer.url())
      const text = await answer.text()
      const headers = await answer.allHeaders()
      client.checkAndRecord("GET", `${pathname}${search}`, {
        status: answer.status(),
        headers,
        text,
        json: JSON.parse(text)
      })
    }
    return returned
  } finally {
    await context.close()
    server.close()
  }
}

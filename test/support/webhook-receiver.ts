/** A webhook on this machine, which verifies each POST with the library of the standard. */
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import { Webhook } from "standardwebhooks"
import { onTestFinished } from "vitest"

export const webhookSecret = `whsec_${Buffer.alloc(32, "larder").toString("base64")}`
/** In the path, as in Slack's addresses: no output of a program may contain it. */
export const webhookToken = "T0ken-B0t-5ecret"

export interface Received {
  readonly id: string
  readonly type: string
  readonly text: string
  readonly data: Readonly<Record<string, unknown>>
}

/** `hang`: the POST is received, and never answered. */
export type Answer = number | "hang"

const respond = (response: ServerResponse, answer: Answer) => {
  if (answer === "hang") return
  response.writeHead(answer, answer >= 300 && answer < 400 ? { location: "/elsewhere" } : {}).end(`at /${webhookToken}`)
}

/** Each POST gets the next of these answers, and the last one from then on. */
export const startReceiver = async (...answers: ReadonlyArray<Answer>) => {
  const received: Array<Received> = []
  const paths: Array<string> = []
  const server = createServer(async (request, response) => {
    paths.push(request.url ?? "")
    const body = await text(request)
    try {
      new Webhook(webhookSecret).verify(body, request.headers as Record<string, string>)
    } catch {
      response.writeHead(401).end() // wrongly signed, or more than five minutes old or in the future
      return
    }
    received.push({ id: String(request.headers["webhook-id"]), ...JSON.parse(body) })
    respond(response, answers[received.length - 1] ?? answers.at(-1) ?? 200)
    server.emit("received")
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const stop = () => server.close().closeAllConnections()
  onTestFinished(stop)
  const address = server.address()
  const port = typeof address === "object" ? address?.port : undefined
  const url = `http://127.0.0.1:${port}/${webhookToken}`
  return {
    url,
    received,
    paths,
    settings: { LARDER_NOTIFY_URL: url, LARDER_NOTIFY_SECRET: webhookSecret },
    stop,
    /** Waits until this many POSTs have arrived. */
    waitFor: async (count: number) => {
      while (received.length < count) await once(server, "received")
    }
  }
}

/**
 * Answers one request of the protocol revisions with a handshake, with one JSON body: the status is sent after the last
 * charge is durable. By default, the library would open an event stream, and send a 200, before the first call is read.
 */
import { type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server"

/** The revision of clients that name none; the only revision with batches. */
const revisionWithBatches = "2025-03-26"

interface Named {
  readonly id?: unknown
}
const isNamed = (message: unknown): message is Named =>
  typeof message === "object" && message !== null && "id" in message

const mostMessages = 100

/**
 * Answers are matched to calls by id. If two calls had the same id, both would be charged, but only one answer would
 * arrive.
 */
export const problemOfBatch = (message: unknown, revision: string | null): string | undefined => {
  if (!Array.isArray(message)) return undefined
  if ((revision ?? revisionWithBatches) !== revisionWithBatches) return `Revision ${revision} has no batches`
  if (message.length > mostMessages) return `A batch has at most ${mostMessages} messages`
  const ids = message.filter(isNamed).map(({ id }) => id)
  return new Set(ids).size < ids.length ? "Two messages of the batch have the same id" : undefined
}

/** Resolves when the caller disconnects; no answer can be sent then. */
const gone = ({ signal }: Request) =>
  new Promise<Response>((resolve) => {
    const leave = () => resolve(new Response(null, { status: 499 }))
    if (signal.aborted) leave()
    else signal.addEventListener("abort", leave, { once: true })
  })

/** Closes the server, which also ends the calls of a caller that has disconnected. */
export const answerEarlier = async (server: Server, request: Request, message: unknown): Promise<Response> => {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await Promise.race([transport.handleRequest(request, { parsedBody: message }), gone(request)])
  } finally {
    await server.close()
  }
}

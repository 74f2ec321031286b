/**
 * One HTTP request of the protocol, of a key that is known: the protocol's library answers it with the tools that the key's
 * scopes allow, and a call of a tool is a call of the request pipeline. Nothing is kept between requests.
 */
import { tooLargeTogether } from "@larder/schemas/api-errors.ts"
import {
  createMcpHandler,
  isInitializeRequest,
  isJsonContentType,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  readRequestBody
} from "@modelcontextprotocol/server"
import { Cause } from "effect"
import type { ApiKeyView } from "../ledger/machine.ts"
import type { Answer, SharedTurn } from "../pipeline.ts"
import { askedOf } from "./arguments.ts"
import type { AssistantNeeds } from "./assistants.ts"
import { makeCancellations, newSession } from "./cancellations.ts"
import { answerEarlier, problemOfBatch } from "./earlier-revisions.ts"
import { readMessage } from "./messages.ts"
import { protocolServer, type ToolCall } from "./protocol-server.ts"
import { resultOf } from "./results.ts"
import { toolsFor } from "./tools.ts"

export interface Caller {
  readonly key: ApiKeyView
  readonly authorization: string | null
  readonly onDataHost: boolean
  /** Of all calls of the request. */
  readonly shared: SharedTurn
}

export type Exchange = (request: Request, caller: Caller) => Promise<Answer>

/** A hundred long names, a cursor and what a client says about itself fit many times. */
const mostBytes = 256 * 1024

const refusal = (status: number, code: number, message: string, id: string | number | null = null) =>
  Response.json({ jsonrpc: "2.0", error: { code, message }, id }, { status })

const tooLarge = () => refusal(413, -32_000, `A message takes at most ${mostBytes} bytes`)

/** What the client calls itself within a key; see `cancellations.ts`. */
const sessionOf = (request: Request) => {
  const session = request.headers.get("mcp-session-id")
  return session !== null && session.length <= 64 ? session : undefined
}

const ofOneCall: ReadonlySet<string> = new Set([
  "x-request-id",
  "x-data-version",
  "x-credits-charged",
  "x-credits-remaining"
])

/** A call says of itself what the API would; a batch, what all of it was charged. */
const headersAfter = (answers: ReadonlyArray<Answer>): Readonly<Record<string, string>> => {
  const [answer, ...others] = answers
  if (answer !== undefined && others.length === 0)
    return Object.fromEntries(Object.entries(answer.headers).filter(([name]) => ofOneCall.has(name)))
  const charged = answers.reduce((sum, { headers }) => sum + Number(headers["x-credits-charged"] ?? 0), 0)
  return { "x-credits-charged": String(charged) }
}

export const makeExchange = ({ dataVersion, ledger, pipeline, report, routes, version }: AssistantNeeds): Exchange => {
  const tools = toolsFor(routes)
  const routeOf = new Map(tools.map(({ route, tool }) => [tool.name, route]))
  const bytesOfList = JSON.stringify(tools.map(({ tool }) => tool)).length
  const cancellations = makeCancellations()

  const serverFor = (
    { authorization, key, onDataHost, shared }: Caller,
    session: string | undefined,
    answered: (answer: Answer) => void
  ) => {
    const clientCall = (id: ToolCall["id"]) => ({ keyId: key.id, session, id })
    const server = protocolServer(version, {
      list: async () => {
        if (!shared.take(bytesOfList))
          throw new ProtocolError(ProtocolErrorCode.InternalError, tooLargeTogether.message)
        return tools.flatMap(({ route, tool }) => (key.scopes.has(route.endpoint.scope) ? [tool] : []))
      },
      call: async ({ arguments: given, id, name, signal }) => {
        const route = routeOf.get(name)
        if (route === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`)
        const asked = askedOf(route, given)
        const answer = await cancellations.during(clientCall(id), signal, (signal) =>
          pipeline.answer({ ...asked, authorization, onDataHost, shared, signal })
        )
        answered(answer)
        if (answer.status === 499)
          throw new ProtocolError(ProtocolErrorCode.InternalError, "The call was cancelled: nothing was charged")
        return resultOf(answer)
      }
    })
    server.setNotificationHandler("notifications/cancelled", ({ params }) => {
      if (params.requestId !== undefined) cancellations.cancelled(clientCall(params.requestId))
    })
    return server
  }

  /** The protocol's answer, and the calls that were answered on the way. */
  const respond = async (request: Request, caller: Caller, answered: (answer: Answer) => void): Promise<Response> => {
    const faults: Array<Error> = []
    const newServer = () => serverFor(caller, sessionOf(request), answered)
    const { fetch } = createMcpHandler(newServer, {
      legacy: "reject",
      maxSubscriptions: 0, // a changed key shows with the next listing, nothing is announced: there is nothing to listen to
      onerror: (error) => faults.push(error)
    })
    if (!isJsonContentType(request.headers.get("content-type"))) return fetch(request) // refuses it unread
    const body = await readRequestBody(request, mostBytes).catch(() => undefined)
    if (body === undefined) return refusal(400, -32_700, "Parse error: the body broke off")
    if (body.tooLarge) return tooLarge()
    const judged = readMessage(body.text)
    if ("problem" in judged) return refusal(400, -32_700, `Parse error: ${judged.problem}`, judged.id)
    const { message } = judged
    const problem = problemOfBatch(message, request.headers.get("mcp-protocol-version"))
    if (problem !== undefined) return refusal(400, -32_600, `Invalid request: ${problem}`)
    if (await isLegacyRequest(request, message)) {
      const response = await answerEarlier(newServer(), request, message)
      if (isInitializeRequest(message) && response.ok) response.headers.set("mcp-session-id", newSession())
      return response
    }
    const response = await fetch(request, { parsedBody: message })
    // what a caller got wrong is in the answer; the operator is told of what we did
    if (response.status >= 500) report("the assistant connection failed", {}, Cause.fail(faults))
    return response
  }

  return async (request, caller) => {
    const answers: Array<Answer> = []
    const response = await respond(request, caller, (answer) => answers.push(answer))
    const session = response.headers.get("mcp-session-id")
    return pipeline.free(response.status, await response.text(), {
      ...(session !== null && { "mcp-session-id": session }),
      "x-data-version": dataVersion(),
      "x-credits-charged": "0",
      "x-credits-remaining": String(ledger.remaining(caller.key, Date.now())),
      ...headersAfter(answers)
    })
  }
}

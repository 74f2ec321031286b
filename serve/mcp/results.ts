/**
 * Converts a response of the API to a tool result. The result contains the body twice: as verbatim text, in which prices
 * keep the digits as published, and as a structured value. The cost of the call, and whether its rows are
 * samples, are in `_meta` for the client, and in lines of text for the model.
 */
import { randomUUID } from "node:crypto"
import type { CallToolResult } from "@modelcontextprotocol/server"
import type { ApiResponse } from "../api/index.ts"
import { formatCost } from "./guidance.ts"

const findAdvice = (status: number) => {
  if (status >= 500) return "Nothing was charged. Try again, with exponential back-off."
  if (status === 402)
    return "Nothing was charged. The balance or the monthly budget of the key is used up: tell the user. Repeated calls also fail."
  return "Nothing was charged. The same call would fail again."
}

const sampleNotice =
  "Sample data: most of these values are generated. Do not use them as market data, and label them as samples wherever you show them."

const parseNumber = (text: string | undefined) => (text === undefined ? undefined : Number(text))

export const makeResult = ({ body, headers, status }: ApiResponse): CallToolResult => {
  const charged = parseNumber(headers["x-credits-charged"])
  const remaining = parseNumber(headers["x-credits-remaining"])
  const isError = status !== 200
  const cost = charged === undefined || remaining === undefined ? "" : formatCost(charged, remaining)
  return {
    content: [
      { type: "text", text: body },
      { type: "text", text: isError ? findAdvice(status) : cost },
      ...(!isError && headers["x-data-origin"] === "sample" ? [{ type: "text" as const, text: sampleNotice }] : [])
    ],
    structuredContent: JSON.parse(body),
    ...(isError && { isError }),
    _meta: {
      "larder/status": status,
      "larder/request_id": headers["x-request-id"],
      ...(headers["x-error-code"] !== undefined && { "larder/error_code": headers["x-error-code"] }),
      ...(charged !== undefined && { "larder/credits_charged": charged }),
      ...(remaining !== undefined && { "larder/credits_remaining": remaining }),
      ...(headers["x-data-version"] !== undefined && { "larder/data_version": headers["x-data-version"] }),
      ...(headers["x-data-origin"] !== undefined && { "larder/data_origin": headers["x-data-origin"] })
    }
  }
}

/**
 * Keeps the bodies of responses out of the protocol library. The library would parse five megabytes of prices and
 * serialise them twice, which blocks all other calls for a tenth of a second. So the library gets a small placeholder,
 * and the body is inserted into its text: as a string and as a value, each with the digits as published.
 */
export const makeBodies = () => {
  const bodies: Array<string> = []
  const marker = randomUUID() // cannot occur in any body
  const placeholders = new RegExp(`"\\{\\\\"${marker}\\\\":(\\d+)\\}"|\\{"${marker}":(\\d+)\\}`, "g")
  return {
    /** Returns the response with a placeholder as its body. */
    replace: (response: ApiResponse): ApiResponse => ({
      ...response,
      body: JSON.stringify({ [marker]: bodies.push(response.body) - 1 })
    }),
    /** Returns the library's text with the bodies inserted. */
    insert: (text: string): string =>
      text.replace(placeholders, (_match, asText: string | undefined, asValue: string | undefined) =>
        asText === undefined ? (bodies[Number(asValue)] ?? "null") : JSON.stringify(bodies[Number(asText)])
      )
  }
}

/**
 * Keeps the bodies of answers out of the protocol library. The library would parse five megabytes of prices and
 * serialise them twice, which blocks all other calls for a tenth of a second. So the library gets a small placeholder,
 * and the body is inserted into the library's text: as a string and as a value, each with the digits as published.
 */
import { randomUUID } from "node:crypto"
import type { Answer } from "../api/answer.ts"

export const bodiesOf = () => {
  const bodies: Array<string> = []
  const name = randomUUID() // cannot occur in any body
  const places = new RegExp(`"\\{\\\\"${name}\\\\":(\\d+)\\}"|\\{"${name}":(\\d+)\\}`, "g")
  return {
    /** The answer with a placeholder as its body. */
    without: (answer: Answer): Answer => ({
      ...answer,
      body: JSON.stringify({ [name]: bodies.push(answer.body) - 1 })
    }),
    /** The library's text with the bodies inserted. */
    within: (text: string): string =>
      text.replace(places, (_place, asText: string | undefined, asValue: string | undefined) =>
        asText === undefined ? (bodies[Number(asValue)] ?? "null") : JSON.stringify(bodies[Number(asText)])
      )
  }
}

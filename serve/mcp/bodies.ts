/**
 * Bodies of answers on their way through the protocol's library. It would take five megabytes of prices apart and write them
 * twice, for a tenth of a second in which nobody else is answered. So it gets a small body in their place, and they are put
 * into its text: as a string and as a value, each with the digits as published.
 */
import { randomUUID } from "node:crypto"
import type { Answer } from "../pipeline.ts"

export const bodiesOf = () => {
  const bodies: Array<string> = []
  const name = randomUUID() // cannot occur in any body
  const places = new RegExp(`"\\{\\\\"${name}\\\\":(\\d+)\\}"|\\{"${name}":(\\d+)\\}`, "g")
  return {
    /** The answer with a small body. */
    without: (answer: Answer): Answer => ({
      ...answer,
      body: JSON.stringify({ [name]: bodies.push(answer.body) - 1 })
    }),
    /** The library's text with the bodies put in place. */
    within: (text: string): string =>
      text.replace(places, (_place, asText: string | undefined, asValue: string | undefined) =>
        asText === undefined ? (bodies[Number(asValue)] ?? "null") : JSON.stringify(bodies[Number(asText)])
      )
  }
}

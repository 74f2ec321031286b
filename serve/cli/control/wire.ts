/**
 * The protocol between a command and the server that holds the ledger: `POST /<operation>` on a loopback port, with the
 * operation's input and the command's user as JSON, and the token of `control.json`. The response has one line per value,
 * and a last line that states the outcome, so that a lost connection is never mistaken for the end of a list. During a
 * long operation, an empty line every ten seconds shows that the server is working.
 */
import path from "node:path"
import { Schema } from "effect"
import { Entry, PrintableText } from "../../ledger/index.ts"
import { PeopleError } from "../../people/index.ts"

export const host = "127.0.0.1"

/** Readable only by its owner. */
export const ControlFile = Schema.fromJsonString(Schema.Struct({ url: Schema.String, token: Schema.String }))

export const controlFileIn = (ledgerDirectory: string) => path.join(ledgerDirectory, "control.json")

/** `user` is the user of the operating system who runs the command. */
export const CommandRequest = <I>(input: Schema.Codec<I, unknown>) => Schema.Struct({ user: PrintableText, input })

/** Their time grows with the ledger. */
export const longOperations: ReadonlyArray<string> = ["verify", "backup", "entriesOf"]

/** How often a server sends an empty line during a long operation. */
export const lineInterval = "10 seconds"

/** `entriesOf`, the only operation with several values in its response: all entries of an account. */
export const entriesOperation = { input: Schema.Struct({ account_id: Schema.String }), output: Entry } as const

export const ResponseLine = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ value: Schema.Unknown }),
    Schema.Struct({ error: PeopleError }), // includes the errors of the ledger's operations
    Schema.Struct({ end: Schema.Literal(true) })
  ])
)

/** `larder-serve start`. It loads the server's modules only when it runs; other commands load half as many. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"

const flags = {
  demo: Flag.Boolean("demo").pipe(
    Flag.withDescription(
      "Create a demo account if there is none, and print a new key for it; also print a link to the console while nobody can sign in yet"
    ),
    Flag.withDefault(false)
  ),
  json: Flag.Boolean("json").pipe(
    Flag.withDescription("Print the addresses as one JSON object on stdout, for machines"),
    Flag.withDefault(false)
  )
}

export const startCommand = Command.make("start", flags, (given) =>
  Effect.flatMap(
    Effect.promise(() => import("../start.ts")),
    ({ start }) => start(given)
  )
).pipe(Command.withDescription("Serve the warehouse until SIGTERM or Ctrl-C"))

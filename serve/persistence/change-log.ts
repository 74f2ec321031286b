/** The log of changes by hand: of money, keys, people and accounts. Each is one line, written by the process that makes it. */
import { Context, Effect } from "effect"

/** Who makes a change: the id of a person, `command` and a user of the operating system, or the server itself. */
export const Actor = Context.Reference<string>("larder/serve/Actor", { defaultValue: () => "server" })

/** The actor of a command: `command root`. */
export const describeCommand = (user: string) => `command ${user}`

/** Values are never a secret, a hash or a token. */
export interface LoggedChange {
  /** By default the actor. */
  readonly who?: string
  readonly account: string
  /** The changed values; null if there are none, as before a creation. */
  readonly before: object | null
  readonly after: object | null
  /** Ids, and facts about the change. */
  readonly [fact: string]: unknown
}

/** Makes a change and logs it; neither can be interrupted. `describe` returns undefined if nothing was changed. */
export const logChange = <A, E, R>(
  change: Effect.Effect<A, E, R>,
  event: string,
  describe: (result: A) => LoggedChange | undefined
): Effect.Effect<A, E, R> =>
  Effect.uninterruptible(
    Effect.tap(change, (result) => {
      const described = describe(result)
      if (described === undefined) return Effect.void
      const { account, after, before, ...facts } = described
      return Effect.flatMap(Actor, (who) =>
        Effect.annotateLogs(Effect.logInfo(event), { who, account, ...facts, before, after })
      )
    })
  )

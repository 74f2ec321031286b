/** A program with one command for each way in which a program can end. */
import { makeProgram } from "@larder/warehouse/cli"
import { Console, Effect, Runtime, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"

class Expected extends Schema.TaggedError<Expected>()("Expected", {}) {
  override get message() {
    return "the file is empty. Write something into it"
  }
}
class ChecksFailed extends Schema.TaggedError<ChecksFailed>()("ChecksFailed", {}) {
  override readonly [Runtime.errorExitCode] = 3
}

const endings = {
  succeed: Console.log("result"),
  fail: Effect.fail(new Expected()),
  "fail-checks": Effect.fail(new ChecksFailed()),
  die: Effect.die(new Error("a bug")),
  stay: Effect.andThen(Console.log("staying"), Effect.never),
  talk: Effect.forever(Console.log("line")),
  log: Effect.annotateLogs(Effect.logInfo("fetched"), { feed: "gov-mars/1603", rows: 3 })
} as const
const names = Object.keys(endings) as ReadonlyArray<keyof typeof endings> // keys of a literal object, which TypeScript widens

const end = Command.make(
  "end",
  {
    how: Argument.Literals("how", names),
    loudly: Flag.Boolean("loudly").pipe(Flag.withDescription("Say more"), Flag.withDefault(false))
  },
  ({ how }): Effect.Effect<void, unknown> => endings[how]
)

makeProgram(Command.make("program").pipe(Command.withSubcommands([end])), { version: "1.2.3" }).main()

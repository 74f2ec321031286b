/**
 * Prints the message for an invalid command line: which word is wrong, the most similar known word, and the help for
 * that one. The whole help is printed only on request, or if a command is missing.
 */
import { suggestName } from "@larder/schemas"
import { Console, Effect, Option } from "effect"
import { CliOutput, type HelpDoc } from "effect/cli"
import { printProblem } from "./logs.ts"

type Mistake = Extract<CliOutput.Presenter.Event, { readonly _tag: "InvalidInvocation" }>["errors"][number]

const flagsOf = ({ flags, globalFlags = [], inheritedFlags = [] }: HelpDoc.HelpDoc) => [
  ...flags,
  ...inheritedFlags,
  ...globalFlags
]

/** The help for one flag. */
const describeFlag = (doc: HelpDoc.HelpDoc, option: string | undefined) => {
  const flag = flagsOf(doc).find(({ name }) => `--${name}` === option)
  if (flag === undefined) return []
  const type = flag.type === "boolean" ? "" : ` ${flag.type}`
  return [`  --${flag.name}${type}  ${Option.getOrElse(flag.description, () => "")}`.trimEnd()]
}

const describeUnknown = (word: string, suggestion: string | undefined) =>
  `there is no ${word}${suggestion === undefined ? "" : `. Did you mean ${suggestion}?`}`

const describeMistake = (doc: HelpDoc.HelpDoc, mistake: Mistake): ReadonlyArray<string> => {
  const commands = (doc.subcommands ?? []).flatMap((group) => group.commands.map(({ name }) => name))
  switch (mistake._tag) {
    case "UnrecognizedOption": {
      const flags = flagsOf(doc).map(({ name }) => `--${name}`)
      const suggestion = suggestName(mistake.option, flags)
      return [describeUnknown(mistake.option, suggestion), ...describeFlag(doc, suggestion)]
    }
    case "UnknownSubcommand":
      return [describeUnknown(mistake.subcommand, suggestName(mistake.subcommand, commands))]
    case "UnexpectedArgument": {
      const [word = ""] = mistake.arguments
      if (commands.length > 0) return [describeUnknown(word, suggestName(word, commands))]
      return [`unexpected: ${mistake.arguments.join(" ")}`]
    }
    case "MissingOption":
      return [`--${mistake.option} is missing`, ...describeFlag(doc, `--${mistake.option}`)]
    case "MissingArgument":
      return [`${mistake.argument} is missing`]
    case "InvalidValue": {
      const name = mistake.kind === "flag" ? `--${mistake.option}` : mistake.option
      const reason = mistake.expected.replace(/^Schema validation failed: /, "").replace(/^(?=")/, "expected ")
      if (mistake.value === "") return [`${name} has no value`, ...describeFlag(doc, name)]
      return [`${name} cannot be ${JSON.stringify(mistake.value)}: ${reason}`, ...describeFlag(doc, name)]
    }
    default:
      return [mistake.message]
  }
}

/** Prints the mistakes. An unknown command is reported alone, because the others follow from it. */
const printMistakes = ({
  commandPath,
  errors,
  helpDoc
}: Extract<CliOutput.Presenter.Event, { _tag: "InvalidInvocation" }>) => {
  const command = commandPath.join(" ")
  const first = errors.find(({ _tag }) => _tag === "UnknownSubcommand" || _tag === "UnexpectedArgument")
  const mistakes = first === undefined ? errors : [first]
  const lines = mistakes.flatMap((mistake) => {
    const [line, ...details] = describeMistake(helpDoc, mistake)
    return [`${command}: ${line}`, ...details]
  })
  return printProblem([...lines, `Try: ${command} --help`].join("\n"))
}

/** Only requested output goes to stdout, which stays machine-readable. */
export const usageToStderr = CliOutput.layerPresenter({
  present: (event) => {
    if (event._tag === "InvalidInvocation") return printMistakes(event)
    if (event._tag === "Help" && event.reason === "Implicit") {
      return printProblem(CliOutput.defaultFormatter({ colors: false }).formatHelpDoc(event.helpDoc))
    }
    // Larder's own texts need no escaping, and keep their colours on the plain console
    return Effect.provideService(CliOutput.defaultPresenter.present(event), Console.Console, globalThis.console)
  }
})

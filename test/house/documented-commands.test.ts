/** Compares the commands and flags in the documents with those in `--help`. */
import { beforeAll, describe, expect, it } from "vitest"
import { type Program, run } from "../support/programs.ts"
import { docs, everyDocument, findFences, findInlineCode, readDocument } from "./documents.ts"

/** Flags that the command-line library adds to every program. */
const builtInFlags = ["help", "version", "wizard", "completions", "log-level"]
const programs: ReadonlyArray<Program> = ["larder-ingest", "larder-serve"]
const ingesting = readDocument("docs/ingesting.md").text
/** The README of a pipeline says how to run it. */
const readmes = everyDocument.filter(({ file }) => file.startsWith("pipelines/"))
const allDocs = [...docs, ...readmes].map(({ text }) => text).join("\n")

interface Help {
  readonly flags: ReadonlyArray<string>
  readonly subcommands: ReadonlyArray<string>
}

/** By command, such as `larder-serve keys edit`. */
const helpTexts = new Map<string, Help>()

const findNamesBelow = (help: string, heading: string, name: RegExp) => {
  const [, section = ""] = new RegExp(`^${heading}\n((?: .*\n|\n(?= ))*)`, "m").exec(`${help}\n`) ?? []
  return [...section.matchAll(name)].map((match) => match[1] ?? "")
}

const readHelp = async (program: Program, words: ReadonlyArray<string>): Promise<void> => {
  const { code, stdout } = await run(program, [...words, "--help"], {})
  expect(code, `${program} ${words.join(" ")} --help`).toBe(0)
  const subcommands = findNamesBelow(stdout, "SUBCOMMANDS", /^ {2}([a-z-]+)/gm)
  helpTexts.set([program, ...words].join(" "), {
    flags: [...stdout.matchAll(/^\s+(?:-\w, )?--([a-z-]+)/gm)].map((match) => match[1] ?? ""),
    subcommands
  })
  for (const subcommand of subcommands) await readHelp(program, [...words, subcommand])
}

beforeAll(async () => {
  for (const program of programs) await readHelp(program, [])
})

/** Calls of both programs in the documents, without comments and shell operators. */
const findCalls = () =>
  everyDocument.flatMap((document) => {
    const inFences = findFences(document).flatMap(({ text }) =>
      text.split("\n").map((line) => line.split(" #")[0] ?? "")
    )
    return [...inFences, ...findInlineCode(document)].flatMap((line) =>
      [...line.matchAll(/\b(larder-(?:ingest|serve))(?:\.mjs)?( [^&|>;]*)?/g)].map((match) => ({
        where: `${document.file}: ${match[0]}`,
        program: match[1] ?? "",
        words: (match[2] ?? "").trim().split(/\s+/)
      }))
    )
  })

describe("the docs and the help of the programs", () => {
  it("include the commands that a user needs first", () => {
    expect([...helpTexts.keys()]).toEqual(
      expect.arrayContaining(["larder-ingest rebuild", "larder-serve start", "larder-serve keys create"])
    )
    expect(helpTexts.size).toBeGreaterThan(30)
  })

  it("document every command", () => {
    const commands = [...helpTexts].flatMap(([command, { subcommands }]) => (subcommands.length === 0 ? [command] : []))
    expect(commands.filter((command) => !allDocs.includes(command))).toEqual([])
  })

  it("document every flag, those of larder-ingest in docs/ingesting.md", () => {
    const missing = [...helpTexts].flatMap(([command, { flags }]) => {
      const text = command.startsWith("larder-ingest") ? ingesting : allDocs
      return flags
        .filter((flag) => !builtInFlags.includes(flag) && !text.includes(`--${flag}`))
        .map((flag) => `${command} --${flag}`)
    })
    expect(missing).toEqual([])
    expect([...helpTexts.values()].every(({ flags }) => flags.includes("help"))).toBe(true)
  })

  it("show no call with an unknown command or flag", () => {
    const wrong = findCalls().flatMap(({ program, where, words }) => {
      let command = program
      for (const word of words) if (helpTexts.get(command)?.subcommands.includes(word)) command = `${command} ${word}`
      const { flags = [], subcommands = [] } = helpTexts.get(command) ?? {}
      const unknown = words.flatMap((word) => {
        const [, flag] = /^--([a-z-]+)/.exec(word) ?? []
        return flag === undefined || flags.includes(flag) ? [] : [`${where} has --${flag}`]
      })
      const next = words[command.split(" ").length - 1] ?? ""
      const isCommand = /^[a-z-]+$/.test(next) && subcommands.length > 0 && !next.startsWith("-")
      return isCommand ? [...unknown, `${where}: there is no ${next}`] : unknown
    })
    expect(wrong).toEqual([])
    expect(findCalls().length).toBeGreaterThan(40)
  })
})

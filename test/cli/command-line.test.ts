import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { readProblems } from "../support/programs.ts"

const file = fileURLToPath(new URL("../support/warehouse/ending-program.ts", import.meta.url))
const start = (...args: ReadonlyArray<string>) => spawn(process.execPath, [file, ...args])

const runProgram = async (...args: ReadonlyArray<string>) => {
  const child = start(...args)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")])
  return { code, stdout, stderr, problems: readProblems(stderr) }
}

/** Runs the program on a pseudo-terminal, and returns the output. */
const runOnTerminal = async (...args: ReadonlyArray<string>) => {
  const child = spawn("python3", [
    "-c",
    "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))",
    process.execPath,
    file,
    ...args
  ])
  const [output] = await Promise.all([text(child.stdout), once(child, "exit")])
  return output
}

describe("a command", () => {
  it("prints its result on stdout and exits with 0", async () => {
    const { problems: _, ...ended } = await runProgram("end", "succeed")
    assert.deepStrictEqual(ended, { code: 0, stdout: "result\n", stderr: "" })
  })

  it("prints an expected failure in one line without a stack, and exits with 1", async () => {
    const { code, problems, stderr, stdout } = await runProgram("end", "fail")
    const message = "program: the file is empty. Write something into it"
    assert.deepStrictEqual([code, stdout, problems], [1, "", `${message}\n`])
    assert.lengthOf(stderr.trimEnd().split("\n"), 1)
    assert.strictEqual((await runOnTerminal("end", "fail")).replaceAll("\r", ""), `${message}\n`)
  })

  it("exits with the code of the error, here 3", async () => {
    assert.strictEqual((await runProgram("end", "fail-checks")).code, 3)
  })

  it("prints a bug with its stack on stderr, and exits with 1", async () => {
    const { code, stderr, stdout } = await runProgram("end", "die")
    assert.deepStrictEqual([code, stdout], [1, ""])
    assert.match(stderr, /a defect in this program/)
    assert.match(stderr, /ending-program\.ts:\d+/)
  })

  it("prints the help and the version on stdout on request", async () => {
    const help = await runProgram("--help")
    assert.deepStrictEqual([help.code, help.stderr], [0, ""])
    assert.match(help.stdout, /USAGE/)
    const { stderr, stdout } = await runProgram("--version")
    assert.deepStrictEqual([stdout, stderr], ["program v1.2.3\n", ""])
  })

  it("exits with 2 and prints the help on stderr without a command", async () => {
    const { code, problems, stdout } = await runProgram()
    assert.deepStrictEqual([code, stdout], [2, ""])
    assert.match(problems, /USAGE[\s\S]*SUBCOMMANDS/)
  })

  it.each([
    [
      ["end", "nowhere"],
      'program end: how cannot be "nowhere": expected "succeed" | "fail" | "fail-checks" | "die" | "stay" | "talk" | "log"'
    ],
    [["edn"], "program: there is no edn. Did you mean end?"],
    [["end", "succeed", "--lowdly"], "program end: there is no --lowdly. Did you mean --loudly?\n  --loudly  Say more"],
    [["end", "succeed", "--nothing"], "program end: there is no --nothing"],
    [["end", "succeed", "twice"], "program end: unexpected: twice"],
    [["end"], "program end: how is missing"]
  ])("exits with 2 and prints only the mistake for the arguments %j", async (args, line) => {
    const { code, problems, stdout } = await runProgram(...args)
    assert.deepStrictEqual([code, stdout], [2, ""])
    const command = line.slice(0, line.indexOf(":"))
    assert.strictEqual(problems, `${line}\nTry: ${command} --help\n`)
  })

  it.each(["SIGINT", "SIGTERM"] as const)("exits with 130 after %s", async (signal) => {
    const child = start("end", "stay")
    const exit = once(child, "exit")
    await once(child.stdout, "data")
    child.kill(signal)
    assert.strictEqual((await exit)[0], 130)
  })

  it("exits with 0 and without an error if its reader closes the output", async () => {
    const child = start("end", "talk")
    const exit = once(child, "exit")
    const errors = text(child.stderr)
    await once(child.stdout, "data")
    child.stdout.destroy()
    assert.deepStrictEqual([(await exit)[0], await errors], [0, ""])
  })

  it("logs to stderr as JSON if stderr is not a terminal", async () => {
    const { stderr, stdout } = await runProgram("end", "log")
    assert.strictEqual(stdout, "")
    const { at, ...entry } = JSON.parse(stderr)
    assert.strictEqual(new Date(at).toISOString(), at)
    assert.deepStrictEqual(entry, { level: "INFO", event: "fetched", feed: "gov-mars/1603", rows: 3 })
  })

  it("logs a line of plain text to a terminal", async () => {
    const output = await runOnTerminal("end", "log")
    assert.match(output, /^\d\d:\d\d:\d\d {2}info {2}fetched {2}feed=gov-mars\/1603 rows=3\r?\n$/)
  })
})

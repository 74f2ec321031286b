/**
 * The environment of a program, as its settings. It is read before anything else happens: a misspelled name would be
 * ignored, and `LARDER_SOURCE=live` would publish samples. With such a name, reading any setting fails, and every command
 * reads one before it does anything.
 */
import { failSetting, settingSections, suggestName, testSettings } from "@larder/schemas"
import { ConfigProvider, Effect, FileSystem, type Layer } from "effect"
import { causeText } from "../disk.ts"

type Variables = Readonly<Record<string, string | undefined>>

const fileVariable = (name: string) => `${name}_FILE`
const entries = settingSections.flatMap(({ programs, settings }) =>
  Object.entries(settings).map(([name, { inFile }]) => ({ name, inFile, programs }))
)
const namesInFiles = entries.filter(({ inFile }) => inFile).map(({ name }) => name)
const known = new Set([...entries.map(({ name }) => name), ...namesInFiles.map(fileVariable), ...testSettings])
const prefix = "LARDER_"
/** Of the settings, in lower case and without the prefix, which would make all names similar. */
const similarNames = [...known]
  .filter((name) => name.startsWith(prefix) && !testSettings.includes(name))
  .map((name) => name.slice(prefix.length).toLowerCase())

const serviceVariable =
  /^LARDER_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/
/** Kubernetes describes each service in the environment of each pod, here those called larder or larder-something. */
const isOfService = (name: string, value: string) =>
  serviceVariable.test(name) || (/^LARDER_(\w+_)?PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value))

const describeUnknown = (name: string) => {
  const nearest = suggestName(name.slice(prefix.length), similarNames)
  return nearest === undefined
    ? `there is no ${name}: docs/configuration.md lists all settings`
    : `there is no ${name}. Did you mean ${prefix}${nearest.toUpperCase()}?`
}

const readFile = Effect.fnUntraced(function* (name: string, file: string) {
  const fs = yield* FileSystem.FileSystem
  const failFile = (problem: string) => failSetting(`${file}, which ${fileVariable(name)} names, ${problem}`)
  const text = yield* fs.readFileString(file).pipe(
    Effect.catchReason("PlatformError", "NotFound", () => failFile("does not exist")),
    Effect.catchTag("PlatformError", (cause) => failFile(`cannot be read: ${causeText(cause.reason.cause ?? cause)}`))
  )
  const value = text.trim() // editors and `echo` end a file with a line break
  return value === "" ? yield* failFile("is empty") : value
})

/** Replaces `NAME_FILE` by the content of that file. A program does not read files of settings that only the other one has. */
const readFiles = Effect.fnUntraced(function* (program: string, variables: Variables) {
  const read: Record<string, string> = {}
  for (const { inFile, name, programs } of entries) {
    const file = variables[fileVariable(name)]
    if (!inFile || !programs.some((each) => each === program) || !file) continue
    if (variables[name]) return yield* failSetting(`${name} and ${fileVariable(name)} are both set: remove one of them`)
    read[name] = yield* readFile(name, file)
  }
  return read
})

/** An empty variable counts as not set. */
const readVariables = Effect.fnUntraced(function* (program: string, variables: Variables) {
  const named = Object.entries(variables).filter(([name, value]) => name.startsWith(prefix) && value)
  const ofServices = named.filter(([name, value]) => isOfService(name, value ?? "")).map(([name]) => name)
  const unknown = named.map(([name]) => name).filter((name) => !known.has(name) && !ofServices.includes(name))
  if (unknown.length > 0) return yield* failSetting(unknown.map(describeUnknown).join("; "))
  if (ofServices.length > 0) {
    yield* Effect.logWarning(
      `${ofServices.join(", ")}: ignored, because Kubernetes sets this for a service. A pod with enableServiceLinks: false does not have it`
    )
  }
  const own = Object.entries(variables).filter(([name]) => !ofServices.includes(name))
  return ConfigProvider.fromEnvRecord({ ...Object.fromEntries(own), ...(yield* readFiles(program, variables)) })
})

const namesOfWebhook = ["LARDER_NOTIFY_URL", "LARDER_NOTIFY_SECRET"]
const isOfWebhook = (name: string) => namesOfWebhook.includes(name.replace(/_FILE$/, ""))

/** Fails for every setting but those of the webhook: a run in cron can tell its operator that it cannot start. */
const refuseAllButWebhook = Effect.fnUntraced(function* (
  program: string,
  variables: Variables,
  refused: ConfigProvider.SourceError
) {
  const own = Object.fromEntries(Object.entries(variables).filter(([name]) => isOfWebhook(name)))
  const inFiles = yield* readFiles(program, own).pipe(Effect.orElseSucceed(() => undefined))
  const webhook = inFiles && ConfigProvider.fromEnvRecord({ ...own, ...inFiles })
  return ConfigProvider.make((path) =>
    webhook !== undefined && isOfWebhook(String(path[0])) ? webhook.load(path) : Effect.fail(refused)
  )
})

/** `variables` is called at each start, for a process that runs several commands. */
export const settingsFrom = (
  program: string,
  variables: () => Variables
): Layer.Layer<never, never, FileSystem.FileSystem> => {
  const read = Effect.suspend(() =>
    readVariables(program, variables()).pipe(
      Effect.catchTag("ConfigError", ({ cause: { message } }) =>
        refuseAllButWebhook(program, variables(), new ConfigProvider.SourceError({ message }))
      )
    )
  )
  return ConfigProvider.layer(read)
}

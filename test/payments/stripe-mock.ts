/**
 * Stripe's own mock of its API. It stores nothing and responds with examples, but it rejects requests that are not in its
 * copy of Stripe's OpenAPI description. Built once from source with Go.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { createInterface } from "node:readline"
import { repository } from "../support/repository.ts"

const release = "v0.203.0"
const source = `github.com/stripe/stripe-mock@${release}`

/** Version of the API that this release, the newest one, describes: two versions older than the one that Larder uses. */
export const describedVersion = "2026-08-26.dahlia"

interface Change {
  readonly request: string
  readonly added?: Readonly<Record<string, unknown>>
  readonly removed: ReadonlyArray<string>
  /** Address of the changelog. */
  readonly changelog: string
}
/**
 * Changes of 2026-09-30.endive and 2026-10-28.endive to requests that Larder sends, according to Stripe's changelog and
 * the types of its client. With a newer release of the mock they may be unnecessary.
 */
const changes: ReadonlyArray<Change> = [
  {
    request: "/v1/checkout/sessions",
    added: { allowed_payment_method_types: { type: "array", items: { type: "string", enum: ["card", "link"] } } },
    removed: ["payment_method_types"],
    changelog: "https://docs.stripe.com/changelog/endive/2026-09-30/remove-payment-method-types-checkout-sessions"
  },
  {
    request: "/v1/payment_intents",
    removed: ["payment_method_types"],
    changelog:
      "https://docs.stripe.com/changelog/endive/2026-09-30/removes-the-payment-method-types-parameter-from-payment-intents-and-setup-intents"
  }
]

interface Form {
  readonly schema: { readonly properties: Record<string, unknown> }
  readonly encoding: Record<string, unknown>
}
interface Description {
  readonly info: { readonly version: string }
  readonly paths: Readonly<
    Record<string, { readonly post: { readonly requestBody: { readonly content: Readonly<Record<string, Form>> } } }>
  >
}

const applyChanges = (text: string) => {
  const description = JSON.parse(text) as Description // Stripe's, in a pinned release
  if (description.info.version !== describedVersion) {
    throw new Error(`${source} describes ${description.info.version}: review the changes since that version`)
  }
  for (const { added = {}, changelog, removed, request } of changes) {
    const form = description.paths[request]?.post.requestBody.content["application/x-www-form-urlencoded"]
    if (form === undefined) throw new Error(`${source} does not describe ${request}`)
    const { properties } = form.schema
    const applied = [
      ...Object.keys(added).filter((name) => name in properties),
      ...removed.filter((name) => !(name in properties))
    ]
    if (applied.length > 0) throw new Error(`${source} already contains ${applied.join(", ")} of ${changelog}`)
    for (const name of removed) delete properties[name]
    Object.assign(properties, added)
    for (const name of Object.keys(added)) form.encoding[name] = { explode: true, style: "deepObject" }
  }
  return JSON.stringify(description)
}

export const hasGo = () => spawnSync("go", ["version"]).status === 0

/** Downloads and compiles it the first time, in about a minute. */
const build = () => {
  const folder = path.join(repository, "node_modules/.cache", `stripe-mock-${release}`)
  const program = path.join(folder, "stripe-mock")
  if (!existsSync(program)) execFileSync("go", ["install", source], { env: { ...process.env, GOBIN: folder } })
  const { Dir } = JSON.parse(
    execFileSync("go", ["mod", "download", "-json", source], { encoding: "utf8", cwd: folder })
  )
  return { program, descriptions: path.join(Dir, "embedded/openapi") }
}

/** On free ports of the loopback interface. */
export const startStripeMock = async () => {
  const { descriptions, program } = build()
  const folder = mkdtempSync(path.join(tmpdir(), "stripe-mock-"))
  const spec = path.join(folder, "spec.json")
  writeFileSync(spec, applyChanges(readFileSync(path.join(descriptions, "spec3.json"), "utf8")))
  const addresses = ["-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0"]
  const examples = ["-fixtures", path.join(descriptions, "fixtures3.json")]
  const child = spawn(program, ["-spec", spec, ...examples, ...addresses], { stdio: ["ignore", "pipe", "inherit"] })
  const stop = () => {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const [, address] = /^Listening for HTTP at address: (\S+)$/.exec(line) ?? []
    if (address === undefined) continue
    child.stdout.resume()
    return { url: `http://${address}`, stop }
  }
  stop()
  throw new Error("stripe-mock ended before it listened")
}

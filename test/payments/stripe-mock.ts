/**
 * Stripe's own mock of its API. It keeps nothing, and answers with examples; what it is good for is that it refuses requests
 * that are not in Stripe's OpenAPI description, which is part of it. Built from source with Go, once.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { createInterface } from "node:readline"
import { repository } from "../support/repository.ts"

const release = "v0.203.0"
const source = `github.com/stripe/stripe-mock@${release}`

/** Of the description in this release, which is the newest: two versions older than what Larder asks for. */
export const describedVersion = "2026-08-26.dahlia"

interface Change {
  readonly request: string
  readonly added?: Readonly<Record<string, unknown>>
  readonly removed: ReadonlyArray<string>
  readonly by: string
}
/**
 * What 2026-09-30.endive and 2026-10-28.endive have changed in requests that Larder sends, by Stripe's changelog and by the
 * types of its client. A newer release of the mock may make them needless.
 */
const changes: ReadonlyArray<Change> = [
  {
    request: "/v1/checkout/sessions",
    added: { allowed_payment_method_types: { type: "array", items: { type: "string", enum: ["card", "link"] } } },
    removed: ["payment_method_types"],
    by: "https://docs.stripe.com/changelog/endive/2026-09-30/remove-payment-method-types-checkout-sessions"
  },
  {
    request: "/v1/payment_intents",
    removed: ["payment_method_types"],
    by: "https://docs.stripe.com/changelog/endive/2026-09-30/removes-the-payment-method-types-parameter-from-payment-intents-and-setup-intents"
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

const changed = (text: string) => {
  const description = JSON.parse(text) as Description // Stripe's, in a pinned release
  if (description.info.version !== describedVersion) {
    throw new Error(`${source} describes ${description.info.version}: look through the changes since then again`)
  }
  for (const { added = {}, by, removed, request } of changes) {
    const form = description.paths[request]?.post.requestBody.content["application/x-www-form-urlencoded"]
    if (form === undefined) throw new Error(`${source} does not describe ${request}`)
    const { properties } = form.schema
    const news = [
      ...Object.keys(added).filter((name) => name in properties),
      ...removed.filter((name) => !(name in properties))
    ]
    if (news.length > 0) throw new Error(`${source} has ${news.join(", ")} of ${by} already`)
    for (const name of removed) delete properties[name]
    Object.assign(properties, added)
    for (const name of Object.keys(added)) form.encoding[name] = { explode: true, style: "deepObject" }
  }
  return JSON.stringify(description)
}

export const hasGo = () => spawnSync("go", ["version"]).status === 0

/** The first time it is loaded and compiled: about a minute. */
const built = () => {
  const folder = path.join(repository, "node_modules/.cache", `stripe-mock-${release}`)
  const program = path.join(folder, "stripe-mock")
  if (!existsSync(program)) execFileSync("go", ["install", source], { env: { ...process.env, GOBIN: folder } })
  const { Dir } = JSON.parse(
    execFileSync("go", ["mod", "download", "-json", source], { encoding: "utf8", cwd: folder })
  )
  return { program, described: path.join(Dir, "embedded/openapi") }
}

/** On the loopback, on ports that are free. */
export const startStripeMock = async () => {
  const { described, program } = built()
  const folder = mkdtempSync(path.join(tmpdir(), "stripe-mock-"))
  const spec = path.join(folder, "spec.json")
  writeFileSync(spec, changed(readFileSync(path.join(described, "spec3.json"), "utf8")))
  const addresses = ["-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0"]
  const examples = ["-fixtures", path.join(described, "fixtures3.json")]
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

import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { makeRedaction } from "./redaction.ts"

const redact = (location: string) =>
  makeRedaction(JSON.stringify([{ location }])).pipe(
    Effect.map(({ text }) => text(location)),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({})))
  )

describe("addresses of a store list in a bundle", () => {
  it.effect.each([
    ["https://a.example/feeds/9f8a7c6d5e4f3b2a/feed.xml", "https://a.example/feeds/redacted-1/feed.xml"],
    ["https://a.example/f/9f8a7c6d5e4f.xml.gz", "https://a.example/f/redacted-1.xml.gz"],
    ["https://a.example/abcdefghijklmnopqrstuvwxyz", "https://a.example/redacted-1"],
    ["https://a.example/x%2By12345678901", "https://a.example/redacted-1"],
    ["https://me:pass-word@a.example/feed.csv", "https://me:redacted-1@a.example/feed.csv"]
  ] as const)("removes what may be a secret: %s", ([location, expected]) =>
    Effect.map(redact(location), (text) => assert.strictEqual(text, expected))
  )

  it.effect.each([
    "https://a.example/collections/all/products.json",
    "https://a.example/wp-json/wc/store/v1/products",
    "https://a.example/feeds/google-2026.xml",
    "exports/products_export_20260430.csv"
  ])("keeps what identifies the feed: %s", (location) =>
    Effect.map(redact(location), (text) => assert.strictEqual(text, location))
  )
})

import { assert, describe, it } from "@effect/vitest"
import { publicAddress } from "./config-command.ts"

describe("an address of the settings is printed", () => {
  it.each([
    ["postgres://larder:geheim@db.example.com:5432/larder?password=geheim", "postgres://db.example.com:5432/larder"],
    ["https://user:geheim@example.com/larder/#geheim", "https://example.com/larder"],
    ["http://geheim@proxy.example.com:3128", "http://proxy.example.com:3128"],
    ["postgres://larder:geheim@one.example,two.example/larder", "postgres://one.example,two.example/larder"],
    ["s3://bucket/prefix", "s3://bucket/prefix"],
    ["proxy.example.com:3128", "proxy.example.com:3128"],
    ["/srv/depot@2", "/srv/depot@2"],
    ["stores.json", "stores.json"]
  ])("%s without user, password, query and fragment", (text, expected) => {
    assert.strictEqual(publicAddress(text), expected)
  })
  it.each([
    "postgres://larder:ge/heim@db.example.com/larder",
    "postgres://larder:1/heim@db.example.com/larder",
    "postgres://larder:1#heim@db.example.com/larder",
    "user:geheim@proxy.example.com:3128",
    "//user:geheim@proxy.example.com:3128",
    "host=db.example.com user=larder password=geheim",
    "api.example.com?token=geheim"
  ])("%s not at all: where the password ends is not clear", (text) => {
    assert.isUndefined(publicAddress(text))
  })
})

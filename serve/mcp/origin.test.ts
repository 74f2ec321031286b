import { assert, describe, it } from "@effect/vitest"
import { isAllowedOrigin } from "./origin.ts"

const own = new Set(["https://api.example.com", "http://192.168.1.5:8080"])

describe("the origin of a page that calls tools", () => {
  it.each([
    "https://api.example.com",
    "http://192.168.1.5:8080",
    "http://localhost:6274",
    "http://127.0.0.1",
    "http://[::1]:8080"
  ])("allows %s", (origin) => assert.isTrue(isAllowedOrigin(origin, own)))
  it.each([
    ["https://evil.example"],
    ["http://api.example.com"],
    ["https://api.example.com.evil.example"],
    ["https://api.example.com:444"],
    ["http://192.168.1.5"],
    ["http://localhost.evil.example"],
    ["http://127.0.0.1.evil.example"],
    ["http://localhost/"],
    ["ftp://localhost"],
    ["null"],
    [""]
  ])("rejects %o", (origin) => assert.isFalse(isAllowedOrigin(origin, own)))
})

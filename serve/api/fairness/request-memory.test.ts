import { expect, it } from "vitest"
import { estimateRequestBytes } from "./request-memory.ts"

const makeHeaders = (count: number) => Array.from({ length: count }, (_, index) => [`x-${index}`, "value"]).flat()

it("counts an ordinary request as less than 20 kB, and one with 1,400 headers as the 171 kB that were measured, or more", () => {
  expect(estimateRequestBytes(makeHeaders(40))).toBeLessThan(20_000)
  expect(estimateRequestBytes(makeHeaders(1400))).toBeGreaterThan(171_000)
})

import { expect, it } from "vitest"
import { bodiesOf } from "./bodies.ts"

it("puts each body into the text as a string and as a value, with its digits as published", () => {
  const { within, without } = bodiesOf()
  const first = '{"value":1.6140,"text":"a \\"quoted\\" $& word"}'
  const answer = (body: string) => ({ status: 200, headers: {}, body })
  const inPlace = [answer(first), answer("{}")].map((whole) => without(whole).body)
  const text = JSON.stringify(inPlace.map((body) => ({ text: body, structuredContent: JSON.parse(body) })))
  expect(within(text)).toBe(
    `[{"text":${JSON.stringify(first)},"structuredContent":${first}},{"text":"{}","structuredContent":{}}]`
  )
})

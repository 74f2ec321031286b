/** Reads the lines of a chunk as the cutter wrote them, `{"line":123,…}`, one at a time: each has up to 16 MB. */
import { createReadStream } from "node:fs"
import { pieceBytes } from "../../../run/files/chunk-size.ts"
import { type FoodReject, payloadBytes, shortenPayload } from "./food-list.ts"

const lineFeed = 0x0a

export async function* readLines(file: string): AsyncGenerator<Buffer, void, undefined> {
  let started: Array<Buffer> = []
  for await (const data of createReadStream(file, { highWaterMark: pieceBytes })) {
    const piece: Buffer = data
    let from = 0
    for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, from)) {
      const rest = piece.subarray(from, end)
      yield started.length === 0 ? rest : Buffer.concat([...started, rest])
      started = []
      from = end + 1
    }
    if (from < piece.length) started.push(piece.subarray(from))
  }
  if (started.length > 0) yield Buffer.concat(started)
}

/** The reject of a line: the line number that the cutter added, and the original record. */
export const makeReject = (bytes: Buffer, reason: string): FoodReject => {
  const rest = bytes.indexOf(",")
  const line = Number.parseInt(bytes.toString("latin1", '{"line":'.length, 24), 10)
  const start = bytes.subarray(rest + 1, rest + 1 + payloadBytes)
  return { line, reason, payload: shortenPayload(Buffer.concat([Buffer.from("{"), start])) }
}

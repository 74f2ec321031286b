/** FoodData Central on this machine: its download page, the releases that it serves, and the requests to it. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { brandedFoods } from "@larder/pipelines/branded-foods/branded-foods.ts"
import type { Form } from "../support/label-releases.ts"
import { type EndedRun, ingestLive, redirectHosts, unpaced } from "../support/pipelines/live-runs.ts"

export const downloadPage = "/download-datasets"
export const zipAt = (form: Form, day: string) => `/fdc-datasets/FoodData_Central_branded_food_${form}_${day}.zip`

const makeLink = (address: string) => `<td><a href="${address}">Download</a></td>`

/** Sends the rest from the requested byte if the payload has not changed, otherwise all of it. */
const send = (request: IncomingMessage, response: ServerResponse, body: Buffer, isBrokenOff: boolean) => {
  const etag = `"${body.length}"`
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0)
  const isPartial = from > 0 && request.headers["if-range"] === etag
  const rest = isPartial ? body.subarray(from) : body
  response.writeHead(isPartial ? 206 : 200, {
    etag,
    "content-length": rest.length,
    ...(isPartial ? { "content-range": `bytes ${from}-${body.length - 1}/${body.length}` } : {})
  })
  if (isBrokenOff) response.write(rest.subarray(0, rest.length >> 1), () => response.destroy())
  else response.end(rest)
}

export type Misbehaviour = (response: ServerResponse, body: Buffer) => void

export const startFdcHost = async () => {
  const releases = new Map<string, Buffer>()
  const requests: Array<string> = []
  const brokenOff = new Set<string>()
  const faults = new Map<string, Misbehaviour>()
  const server = createServer((request, response) => {
    const address = request.url ?? ""
    requests.push(`${address}${request.headers.range ? ` ${request.headers.range}` : ""}`)
    const body =
      address === downloadPage ? Buffer.from([...releases.keys()].map(makeLink).join("\n")) : releases.get(address)
    const fault = faults.get(address)
    if (fault !== undefined) fault(response, body ?? Buffer.alloc(0))
    else if (body === undefined || releases.size === 0) response.writeHead(404).end()
    else send(request, response, body, brokenOff.delete(address))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo // a server that listens on a port has one
  const origin = redirectHosts(({ pathname, search }) => `http://127.0.0.1:${port}${pathname}${search}`, unpaced)
  return {
    releases,
    port,
    /** Replacements of the responses of an address. */
    faults,
    /** A live origin with this host in place of fdc.nal.usda.gov. */
    origin,
    /** Breaks off the next response of this address in the middle. */
    breakOffOnce: (address: string) => brokenOff.add(address),
    /** Returns the addresses requested since the last call, with the requested range. */
    takeRequests: () => requests.splice(0),
    /** Runs the pipeline live, with this host in place of fdc.nal.usda.gov. */
    ingest: (home: string, dryRun = false): Promise<EndedRun> => ingestLive(brandedFoods, { home, dryRun, origin }),
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

/**
 * Bytes that the peer of a connection has not acknowledged, from Linux's socket tables. Without them, a slow reader
 * seems stalled: the kernel buffers megabytes at once, and accepts more only after a third of its buffer is sent.
 */
import { readFile } from "node:fs/promises"
import { type Socket, SocketAddress } from "node:net"

/** The tables have addresses as 32-bit words in host byte order, which is little-endian on every supported machine. */
const decodeAddress = (hex: string) => {
  const bytes = Buffer.from(hex, "hex").swap32()
  if (bytes.length === 4) return bytes.join(".")
  const address = bytes.toString("hex").replace(/.{4}(?=.)/g, "$&:")
  return new SocketAddress({ address, family: "ipv6" }).address
}

/** `sl: local:port remote:port state sent:received …`, all hexadecimal. */
const rowPattern = /^ *\d+: [\dA-F]+:([\dA-F]{4}) ([\dA-F]+):([\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/gm

const formatKey = (localPort: number, address: string, port: number) => `${localPort} ${address} ${port}`

/** Unacknowledged bytes by socket; 0 if the operating system has no such table. */
export const readUnacknowledged = async (): Promise<(socket: Socket) => number> => {
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "latin1").catch(() => ""))
  )
  const unacknowledged = new Map<string, number>()
  for (const [, localPort = "", address = "", port = "", bytes = ""] of tables.join("").matchAll(rowPattern)) {
    const count = Number.parseInt(bytes, 16)
    if (count > 0)
      unacknowledged.set(
        formatKey(Number.parseInt(localPort, 16), decodeAddress(address), Number.parseInt(port, 16)),
        count
      )
  }
  return ({ localPort = 0, remoteAddress = "", remotePort = 0 }) =>
    unacknowledged.get(formatKey(localPort, remoteAddress, remotePort)) ?? 0
}

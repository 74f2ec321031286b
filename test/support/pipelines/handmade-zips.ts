/** Zips made byte by byte, so that each part of them can be wrong in a test. */
import { crc32, deflateRawSync } from "node:zlib"

export interface Part {
  readonly path: string
  readonly content: string | Buffer
  /** 8 is Deflate, 0 is stored. */
  readonly method?: number
  readonly flags?: number
  readonly crc?: number
  /** Declared length, unpacked. Above 4 GB it is written as zip64. */
  readonly bytes?: number
  /** Unix mode of the file. */
  readonly mode?: number
  /** Replaces the compressed content. */
  readonly packed?: Buffer
}

const utf8 = 0x800

const zip64 = (bytes: number) => {
  if (bytes < 0xffffffff) return Buffer.alloc(0)
  const extra = Buffer.alloc(12)
  extra.writeUInt16LE(1, 0)
  extra.writeUInt16LE(8, 2)
  extra.writeBigUInt64LE(BigInt(bytes), 4)
  return extra
}

export const zipOf = (...parts: ReadonlyArray<Part>) => {
  const bodies: Array<Buffer> = []
  const list: Array<Buffer> = []
  let offset = 0
  for (const { path, content, ...wrong } of parts) {
    const name = Buffer.from(path)
    const plain = Buffer.from(content)
    const { method = 8, flags = 0, crc = crc32(plain), bytes = plain.length } = wrong
    const packed = wrong.packed ?? (method === 8 ? deflateRawSync(plain) : plain)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags | utf8, 2)
    common.writeUInt16LE(method, 4)
    common.writeUInt32LE(crc, 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(Math.min(bytes, 0xffffffff), 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, name, packed])
    const entry = Buffer.alloc(14)
    entry.writeUInt32LE(((wrong.mode ?? 0) << 16) >>> 0, 6)
    entry.writeUInt32LE(offset, 10)
    const extra = zip64(bytes)
    common.writeUInt16LE(extra.length, 24)
    list.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), common, entry, name, extra]))
    bodies.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(list)
  const end = Buffer.alloc(22)
  end.write("PK\x05\x06", "latin1")
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, directory, end])
}

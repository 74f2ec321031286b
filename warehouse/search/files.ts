/**
 * The file formats of sidecar files: large files that are read in pieces, and bundles of typed arrays that are loaded
 * whole. Numbers have the byte order of the machine: little-endian on every platform of Node 24 except s390x, whose files
 * fail the checksums elsewhere.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs"
import { basename } from "node:path"
import { Schema } from "effect"

/** A file of branded foods is missing, truncated, changed, or belongs to another build. */
export class FoodFilesDamaged extends Schema.TaggedError<FoodFilesDamaged>()("FoodFilesDamaged", {
  file: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.file} ${this.reason}. It is a file of the search and records of branded foods. Publish branded foods again, or go back to an earlier generation with: npx larder-ingest rollback`
  }
}

export type Numbers = Uint8Array | Int32Array | Uint32Array | Float64Array
/** Offsets in a file, or row numbers: 32 bits if they suffice. */
export type Places = Uint32Array | Float64Array

/** `numbers` must be ascending. */
export const toPlaces = (numbers: Float64Array): Places =>
  (numbers.at(-1) ?? 0) < 2 ** 32 ? new Uint32Array(numbers) : numbers

const viewBytes = (numbers: Numbers) => Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength)

const writeAll = (fd: number, bytes: Uint8Array) => {
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written)
}

/** Writes a file piece by piece, through a buffer of 128 KiB. */
export class FileWriter {
  readonly #fd: number
  readonly #buffer = Buffer.allocUnsafeSlow(2 ** 17)
  #filled = 0
  size = 0

  constructor(file: string) {
    this.#fd = openSync(file, "wx")
  }
  write(bytes: Uint8Array, from = 0, to = bytes.length) {
    const length = to - from
    if (length > this.#buffer.length - this.#filled) this.#flush()
    if (length > this.#buffer.length) writeAll(this.#fd, bytes.subarray(from, to))
    else if (length < 32) {
      // a third of the time of `set` with a subarray; most posting lists are this short
      for (let i = from; i < to; i++) this.#buffer[this.#filled++] = bytes[i] ?? 0
    } else {
      this.#buffer.set(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to), this.#filled)
      this.#filled += length
    }
    this.size += length
  }
  sync() {
    this.#flush()
    fsyncSync(this.#fd)
  }
  close() {
    closeSync(this.#fd)
  }
  #flush() {
    writeAll(this.#fd, this.#buffer.subarray(0, this.#filled))
    this.#filled = 0
  }
}

/** Creates a file and flushes it to the disk. */
export const writeFile = <A>(file: string, write: (writer: FileWriter) => A): A => {
  const writer = new FileWriter(file)
  try {
    const result = write(writer)
    writer.sync()
    return result
  } finally {
    writer.close()
  }
}

const kinds = { u8: Uint8Array, i32: Int32Array, u32: Uint32Array, f64: Float64Array }
const kindNames = ["u8", "i32", "u32", "f64"] as const
const findKind = (numbers: Numbers) => kindNames.find((kind) => numbers instanceof kinds[kind])
const Header = Schema.fromJsonString(
  Schema.Record(
    Schema.String,
    Schema.Struct({ kind: Schema.Literals(kindNames), length: Schema.Int, start: Schema.Int })
  )
)
const decodeHeader = Schema.decodeUnknownSync(Header)
const align = (n: number) => Math.ceil(n / 8) * 8

/** A bundle is a header of one line, padded to 4 kB, followed by the arrays, each at a multiple of 8 bytes. */
const headerSize = 4096

export const writeArrays = (file: string, arrays: Readonly<Record<string, Numbers>>) => {
  let start = headerSize
  const header: Record<string, unknown> = {}
  for (const [name, numbers] of Object.entries(arrays)) {
    header[name] = { kind: findKind(numbers), length: numbers.length, start }
    start = align(start + numbers.byteLength)
  }
  writeFile(file, (writer) => {
    writer.write(Buffer.from(`${JSON.stringify(header).padEnd(headerSize - 1)}\n`))
    for (const numbers of Object.values(arrays)) {
      writer.write(viewBytes(numbers))
      writer.write(Buffer.alloc(align(writer.size) - writer.size))
    }
  })
}

/** The arrays of a bundle, as views of its memory. */
export class Bundle {
  readonly #file: string
  readonly #bytes: Buffer
  readonly #header: typeof Header.Type

  constructor(file: string, bytes: Buffer) {
    this.#file = file
    this.#bytes = bytes
    this.#header = decodeHeader(bytes.toString("utf8", 0, Math.min(headerSize, bytes.length)))
  }
  bytes = (name: string) => viewBytes(this.#numbers(name, Uint8Array))
  integers = (name: string) => this.#numbers(name, Int32Array)
  naturals = (name: string) => this.#numbers(name, Uint32Array)
  doubles = (name: string) => this.#numbers(name, Float64Array)
  places = (name: string): Places => (this.#header[name]?.kind === "f64" ? this.doubles(name) : this.naturals(name))

  #numbers<A extends Numbers>(
    name: string,
    arrayType: { new (buffer: ArrayBufferLike, start: number, length: number): A; readonly BYTES_PER_ELEMENT: number }
  ): A {
    const array = this.#header[name]
    const end = array === undefined ? 0 : array.start + array.length * arrayType.BYTES_PER_ELEMENT
    if (array === undefined || kinds[array.kind] !== (arrayType as unknown) || end > this.#bytes.length) {
      const reason = `does not contain the numbers ${name} as expected`
      throw new FoodFilesDamaged({ file: basename(this.#file), reason })
    }
    return new arrayType(this.#bytes.buffer, this.#bytes.byteOffset + array.start, array.length)
  }
}

/** A large file that is read in pieces, through the page cache. */
export class PieceFile {
  readonly #fd: number
  readonly #file: string
  readonly size: number

  constructor(file: string) {
    this.#file = basename(file)
    this.#fd = openSync(file, "r")
    this.size = fstatSync(this.#fd).size
  }
  /** Reads `length` bytes of the file, from `start` on, into the beginning of `target`. */
  read(target: Uint8Array, start: number, length: number) {
    for (let done = 0; done < length; ) {
      const n = readSync(this.#fd, target, done, length - done, start + done)
      if (n === 0) throw new FoodFilesDamaged({ file: this.#file, reason: `ends before byte ${start + length}` })
      done += n
    }
  }
  close() {
    closeSync(this.#fd)
  }
}

/** Calls `each` with every line of a file: a range of a reused buffer, and its `offset` in the file. */
export const forEachLine = (file: string, each: (bytes: Buffer, from: number, to: number, offset: number) => void) => {
  const fd = openSync(file, "r")
  try {
    let buffer = Buffer.allocUnsafeSlow(2 ** 17)
    let filled = 0
    let bufferOffset = 0 // in the file
    for (;;) {
      const n = readSync(fd, buffer, filled, buffer.length - filled, null)
      filled += n
      let from = 0
      for (;;) {
        const end = buffer.indexOf(10, from)
        if (end < 0 || end >= filled) break
        each(buffer, from, end, bufferOffset + from)
        from = end + 1
      }
      if (n === 0) {
        if (from < filled) throw new Error(`${basename(file)} ends in the middle of a line`)
        return
      }
      buffer.copyWithin(0, from, filled)
      filled -= from
      bufferOffset += from
      if (filled > buffer.length / 2) buffer = Buffer.concat([buffer, Buffer.allocUnsafeSlow(buffer.length)])
    }
  } finally {
    closeSync(fd)
  }
}

/** Writes files in pieces of about a megabyte, so that a release of gigabytes is never in memory. */
import { closeSync, openSync, writeSync } from "node:fs"

const room = 1 << 20

export class Sink {
  private readonly file: number
  private text = ""

  constructor(path: string) {
    this.file = openSync(path, "w")
  }

  write(text: string) {
    this.text += text
    if (this.text.length >= room) this.flush()
  }

  private flush() {
    const bytes = Buffer.from(this.text, "utf8")
    for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at)
    this.text = ""
  }

  /** Writes the rest, and closes the file even if this fails. */
  close() {
    try {
      this.flush()
    } finally {
      closeSync(this.file)
    }
  }
}

/** Several files that are written at the same time. */
export class Sinks {
  private readonly opened: Array<Sink> = []

  open(path: string) {
    const sink = new Sink(path)
    this.opened.push(sink)
    return sink
  }

  /** Closes every file, even if closing another one fails. */
  close(): void {
    const sink = this.opened.pop()
    if (!sink) return
    try {
      sink.close()
    } finally {
      this.close()
    }
  }
}

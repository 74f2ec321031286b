/** Names formats that contain no readable text, by their first bytes, so that a fault names its cause. */

interface BinaryFormat {
  /** The end of the sentence "It is …". */
  readonly name: string
  /** A sentence, for a file. */
  readonly remedy: string
}

const exportIt = "Export it as CSV."

const startsWith = (head: Buffer, bytes: string) => head.subarray(0, bytes.length).toString("latin1") === bytes

/** A zip names its first file at its beginning. Excel writes one of these first. */
const excelFiles = /^(?:\[Content_Types\]\.xml|_rels\/|docProps\/|xl\/)/
/** An OpenDocument file states its type in a first file that is not compressed. */
const openDocument = /^mimetypeapplication\/vnd\.oasis\.opendocument\.spreadsheet/

const nameZip = (head: Buffer): BinaryFormat => {
  const firstFile = head.subarray(30, 130).toString("latin1") // after a header of 30 bytes
  if (excelFiles.test(firstFile)) return { name: "a spreadsheet file of Excel (.xlsx)", remedy: exportIt }
  if (openDocument.test(firstFile)) return { name: "a spreadsheet file (.ods)", remedy: exportIt }
  return { name: "a zip file", remedy: "Unpack it, or list the address of the file that is in it." }
}

const onlyGzip = "Only gzip is unpacked."
const formats: ReadonlyArray<BinaryFormat & { readonly bytes: string }> = [
  {
    bytes: "\x1f\x8b",
    name: "compressed with gzip",
    remedy: "A file is unpacked once: it may be a .gz inside of a .gz."
  },
  { bytes: "BZh", name: "compressed with bzip2", remedy: onlyGzip },
  { bytes: "\xfd7zXZ\0", name: "compressed with xz", remedy: onlyGzip },
  { bytes: "\x28\xb5\x2f\xfd", name: "compressed with Zstandard", remedy: onlyGzip },
  { bytes: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", name: "a spreadsheet file of Excel (.xls)", remedy: exportIt },
  { bytes: "%PDF-", name: "a PDF file", remedy: "It contains no table that can be read." }
]

/** Undefined if the bytes may be text. */
export const nameBinaryFormat = (head: Buffer): BinaryFormat | undefined =>
  startsWith(head, "PK\x03\x04") ? nameZip(head) : formats.find(({ bytes }) => startsWith(head, bytes))

/** Spreadsheets and PowerShell save UTF-16 as "Unicode text": a Latin letter has a null byte, with or without a BOM. */
export const isUtf16 = (start: Buffer) => {
  const [first = 1, second = 1] = start
  const hasByteOrderMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  return hasByteOrderMark || (first === 0) !== (second === 0)
}

export const utf16Problem = "it is UTF-16, and a release is UTF-8; save it as UTF-8"

/** What is in place of a regular file, for messages. */
const kinds: Readonly<Record<string, string>> = { Directory: "a folder", FIFO: "a pipe", Socket: "a socket" }

export const describeKind = (type: string) => kinds[type] ?? "a device"

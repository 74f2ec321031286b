/** Whether the reason of a failure, as DuckDB or the system words it, is a full disk. */
export const isDiskFull = (reason: string): boolean => /No space left|ENOSPC|File too large|EFBIG|quota/i.test(reason)

/** Whether the reason of a failure is a full disk, as DuckDB and the system word it. */
export const isDiskFull = (reason: string): boolean => /No space left|ENOSPC|File too large|EFBIG|quota/i.test(reason)

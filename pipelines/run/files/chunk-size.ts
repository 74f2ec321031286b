/**
 * Chunk size for reading or inflating a file. With Node's default of 16 KiB, the calls between threads take three times
 * as long as inflating itself; with 64 KiB, half as long. Larger chunks are a tenth faster, but V8 collects garbage for
 * every 32 MiB of them.
 */
export const pieceBytes = 1 << 18

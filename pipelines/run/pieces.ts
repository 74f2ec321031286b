/**
 * Bytes of a file that are read, or inflated, at once. With Node's usual 16 KiB the calls between threads take three times as
 * long as inflating itself, with 64 KiB half as long. Larger pieces gain a tenth, and V8 collects garbage for every 32 MiB.
 */
export const pieceBytes = 1 << 18

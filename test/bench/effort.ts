/** With `--quick`, everything is measured once, briefly and in the smallest size: it shows that the benchmarks still run. */
export const isQuick = process.argv.includes("--quick")

export const countRounds = (rounds: number) => (isQuick ? 1 : rounds)
export const limitSeconds = (seconds: number) => (isQuick ? 0.1 : seconds)

/** How often a run kills, and in which portions: each history begins with a new ledger, which keeps its checks short. */
const kills = Number(process.env.LARDER_CRASH_KILLS ?? 3)
export const portion = 20

export const histories = Array.from({ length: Math.ceil(kills / portion) }, (_, index) => ({
  kills: Math.min(portion, kills - index * portion)
}))

/** A slow machine is no failure: four seconds a kill are usual. */
export const longest = 60_000 + portion * 30_000

/** How many kills a history has at most: each history begins with a new ledger, which keeps its checks short. */
export const portion = 20

/** Histories with so many kills together. */
export const historiesWith = (kills: number) =>
  Array.from({ length: Math.ceil(kills / portion) }, (_, index) => ({
    kills: Math.min(portion, kills - index * portion)
  }))

/** A slow machine is no failure: four seconds a kill are usual. */
export const longest = 60_000 + portion * 30_000

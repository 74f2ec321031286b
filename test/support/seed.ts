/** Seed of random numbers in tests: `LARDER_TEST_SEED` repeats a run. */
export const seed = Number(process.env.LARDER_TEST_SEED ?? Date.now() % 2 ** 31)

/** A generator of numbers from 0 to 1, the same for the same seed. */
export const makeRandom = (state: number) => () => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
  return state / 2 ** 31
}

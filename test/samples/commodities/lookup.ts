/** Element of a list that is known to have it; a hole is a mistake of the generator, so it throws. */
export const at = <T>(list: ReadonlyArray<T>, index: number): T => {
  const value = list[index]
  if (value === undefined) throw new RangeError(`no element ${index} in a list of ${list.length}`)
  return value
}

/** Value of a key that is known to be there. */
export const needed = <K, V>(map: ReadonlyMap<K, V>, key: K): V => {
  const value = map.get(key)
  if (value === undefined) throw new RangeError(`no value for ${String(key)}`)
  return value
}

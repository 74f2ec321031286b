/**
 * What a journal file holds after a stop of any kind. A group is written only after the one before it is on the disk, so
 * a crash can spoil nothing but the last group of the last file. That tail is cut off; anything else is damage.
 */
import { groupAt, nextStart } from "./journal-group.ts"
import type { Group } from "./store.ts"

export interface JournalContents {
  readonly groups: ReadonlyArray<Group>
  /** Length of the whole groups: what follows is space that was never written, or a torn group. */
  readonly length: number
  /** Bytes of a group that was not written to its end; 0 where the last stop was clean. */
  readonly torn: number
}

export interface JournalDamage {
  readonly problem: string
}

/** Reads the bytes of one file. Only the last file may end in a torn group. */
export const readJournal = (bytes: Buffer, isLastFile: boolean): JournalContents | JournalDamage => {
  const groups: Array<Group> = []
  let position = 0
  for (let next = groupAt(bytes, 0); next !== undefined; next = groupAt(bytes, position)) {
    groups.push(next.group)
    position = next.end
  }
  const torn = lengthWithoutZeros(bytes.subarray(position))
  if (torn === 0) return { groups, length: position, torn }
  const place = `group ${groups.length + 1}, at byte ${position}, is not what was written`
  if (!isLastFile) return { problem: `${place}, and later files follow` }
  if (wholeGroupFollows(bytes, position + 1)) return { problem: `${place}, and whole groups follow it` }
  return { groups, length: position, torn }
}

/** Files are filled with zeros before they are written to. */
const lengthWithoutZeros = (bytes: Buffer) => {
  let length = bytes.length
  while (length > 0 && bytes[length - 1] === 0) length--
  return length
}

const wholeGroupFollows = (bytes: Buffer, from: number) => {
  for (let start = nextStart(bytes, from); start >= 0; start = nextStart(bytes, start + 1)) {
    if (groupAt(bytes, start) !== undefined) return true
  }
  return false
}

/** Where numbers are missing or come twice; undefined where each entry follows the one before it. */
export const gapIn = (numbers: ReadonlyArray<number>, lastNumber: number): string | undefined => {
  let last = lastNumber
  for (const number of numbers) {
    if (number !== last + 1) return `entry ${number} follows entry ${last}, so entries are missing`
    last = number
  }
  return undefined
}

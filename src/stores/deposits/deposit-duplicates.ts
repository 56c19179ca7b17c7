import type { DepositEntry } from './deposit-entry.ts'

/** Deposits of one and the same file, of which one is recorded and the others are told as its duplicates. */
export interface DepositDuplicates {
  /** Whether none other of the same file is on its way, or the person wants it again. */
  mayGo: (entry: DepositEntry) => boolean
  /** The entry is being sent: its duplicates wait for what comes of it. */
  hold: (entry: DepositEntry) => void
  /** The entry is on its way no more; `isRecorded` says whether its file now has a record. */
  letGo: (entry: DepositEntry, isRecorded: boolean) => void
  /** A duplicate was recorded while the entry waited with a place of its own: it has to ask anew. */
  isOvertaken: (entry: DepositEntry) => boolean
  clear: () => void
}

export function createDepositDuplicates(): DepositDuplicates {
  /** By fingerprint. */
  const underWay = new Map<string, DepositEntry>()
  const recorded = new Set<string>()
  return {
    mayGo: ({ again, prepared }) => again || !prepared || !underWay.has(prepared.original),
    hold(entry) {
      if (entry.prepared) underWay.set(entry.prepared.original, entry)
    },
    letGo(entry, isRecorded) {
      const { original } = entry.prepared ?? {}
      if (original === undefined) return
      if (isRecorded) recorded.add(original)
      if (underWay.get(original) === entry) underWay.delete(original)
    },
    isOvertaken: ({ again, reserved, prepared }) =>
      !again && reserved !== undefined && !!prepared && recorded.has(prepared.original),
    clear() {
      underWay.clear()
      recorded.clear()
    }
  }
}

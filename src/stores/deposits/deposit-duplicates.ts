import type { Act } from './deposit-mutations.ts'

/** Deposits of one and the same file, of which one is recorded and the others are told as its duplicates. */
export interface DepositTwins {
  /** Whether none other of the same file is on its way, or the person wants it again. */
  mayGo: (act: Act) => boolean
  /** The act is being sent: its twins wait for what comes of it. */
  hold: (act: Act) => void
  /** The act is on its way no more; `isRecorded` says whether its file now has a record. */
  letGo: (act: Act, isRecorded: boolean) => void
  /** A twin was recorded while the act waited with a place of its own: it has to ask anew. */
  isOvertaken: (act: Act) => boolean
  clear: () => void
}

export function createDepositTwins(): DepositTwins {
  /** By fingerprint. */
  const underWay = new Map<string, Act>()
  const recorded = new Set<string>()
  return {
    mayGo: ({ again, prepared }) => again || !prepared || !underWay.has(prepared.original),
    hold(act) {
      if (act.prepared) underWay.set(act.prepared.original, act)
    },
    letGo(act, isRecorded) {
      const { original } = act.prepared ?? {}
      if (original === undefined) return
      if (isRecorded) recorded.add(original)
      if (underWay.get(original) === act) underWay.delete(original)
    },
    isOvertaken: ({ again, reserved, prepared }) =>
      !again && reserved !== undefined && !!prepared && recorded.has(prepared.original),
    clear() {
      underWay.clear()
      recorded.clear()
    }
  }
}

/**
 * Who may see a page, by the name it gives. `admin`: who administers a company, the own one or, as
 * `operator`, any. It keeps ways short and protects nothing: what is somebody's stands behind the API.
 */
export const guardNames = ['none', 'signed-in', 'signed-out', 'admin', 'operator'] as const
export type GuardName = (typeof guardNames)[number]

export function isGuardName(name: unknown): name is GuardName {
  return guardNames.some(known => known === name)
}

export interface Visitor {
  isSignedIn: boolean
  /** Their e-mail is not confirmed yet. */
  isPending: boolean
  /** Nothing until they are known. */
  permissions: readonly string[] | undefined
}

/**
 * Whether a visitor may stay on a page, and otherwise where to: to sign in, to where the e-mail is
 * confirmed, or on to what is theirs.
 */
export function answerOf(
  guard: GuardName,
  visitor: Visitor
): 'stay' | 'sign-in' | 'confirm' | 'go-on' | 'leave' {
  if (guard === 'none') return 'stay'
  if (guard === 'signed-out') return visitor.isSignedIn ? 'go-on' : 'stay'
  if (!visitor.isSignedIn) return 'sign-in'
  if (visitor.isPending) return 'confirm'
  if (guard === 'signed-in' || !visitor.permissions) return 'stay'
  const needed = guard === 'admin' ? ['admin', 'operator'] : ['operator']
  return needed.some(name => visitor.permissions?.includes(name)) ? 'stay' : 'leave'
}

/** Guards redirect visitors who cannot use the page. The API protects the data. */
export const guardNames = ['none', 'signed-in', 'signed-out', 'admin', 'operator'] as const
export type GuardName = (typeof guardNames)[number]

export function isGuardName(name: unknown): name is GuardName {
  return guardNames.some(known => known === name)
}

export interface Visitor {
  isSignedIn: boolean
  isPending: boolean
  // undefined until they are loaded
  permissions: readonly string[] | undefined
}

/**
 * `confirm` asks to confirm the e-mail, `go-on` follows a sign-in, `leave` lacks the permission.
 */
export function checkGuard(
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

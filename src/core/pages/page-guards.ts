/**
 * The guards that a page can have. `admin` admits administrators of a company and operators. A
 * guard redirects visitors for whom the page is useless. It does not protect data: the API does.
 */
export const guardNames = ['none', 'signed-in', 'signed-out', 'admin', 'operator'] as const
export type GuardName = (typeof guardNames)[number]

export function isGuardName(name: unknown): name is GuardName {
  return guardNames.some(known => known === name)
}

export interface Visitor {
  isSignedIn: boolean
  /** The visitor's e-mail is not confirmed yet. */
  isPending: boolean
  /** Undefined until the permissions are loaded. */
  permissions: readonly string[] | undefined
}

/**
 * Returns what a guard does with a visitor. `stay` shows the page. The other results open the
 * sign-in, the confirmation of the e-mail (`confirm`), the page that follows a sign-in (`go-on`),
 * or another page (`leave`).
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

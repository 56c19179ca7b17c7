/**
 * The guards that a page can have. A guard redirects visitors who cannot use the page. `admin`
 * admits administrators of a company and operators. Guards do not protect the data of a page; the
 * API does.
 */
export const guardNames = ['none', 'signed-in', 'signed-out', 'admin', 'operator'] as const
export type GuardName = (typeof guardNames)[number]

export function isGuardName(name: unknown): name is GuardName {
  return guardNames.some(known => known === name)
}

export interface Visitor {
  isSignedIn: boolean
  /** Whether the visitor is signed in and the e-mail is not confirmed yet. */
  isPending: boolean
  /** Undefined until the permissions are loaded. */
  permissions: readonly string[] | undefined
}

/**
 * Returns what a page's guard does with a visitor.
 * - `stay`: shows the page.
 * - `sign-in`: opens the sign-in.
 * - `confirm`: opens the page that asks to confirm the e-mail.
 * - `go-on`: opens the page that follows a sign-in, because the visitor is signed in already.
 * - `leave`: opens another page, because the visitor lacks the permission.
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

import { canonicalEmail } from '../../core/input/email.ts'

/** The values in the fragment of a mailed link: the token and the recipient's e-mail. */
export interface MailLinkFragment {
  token: string
  /** E-mail of the recipient. The signing key is derived from this e-mail and the password. */
  email: string
}

/** Reads the fragment `#t=…&email=ada%40example.com`. Returns undefined for any other fragment. */
export function parseMailLinkFragment(hash: string): MailLinkFragment | undefined {
  const values = new URLSearchParams(hash.replace(/^#/, ''))
  const [token, email] = [values.get('t'), canonicalEmail(values.get('email') ?? '')]
  return token && email !== undefined ? { token, email } : undefined
}

import { canonicalEmail } from '../../core/input/email.ts'

export interface MailLinkFragment {
  token: string
  // the signing key is derived from this e-mail and the password
  email: string
}

/** `#t=…&email=ada%40example.com` */
export function parseMailLinkFragment(hash: string): MailLinkFragment | undefined {
  const values = new URLSearchParams(hash.replace(/^#/, ''))
  const [token, email] = [values.get('t'), canonicalEmail(values.get('email') ?? '')]
  return token && email !== undefined ? { token, email } : undefined
}

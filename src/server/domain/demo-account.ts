import type { PublicKeyJwk } from '../../core/keys/public-key-jwt.ts'

/**
 * E-mail and password of the account in the demonstration. Everybody knows the password, so the
 * account can only sign in on a developer's machine.
 */
export const demoAccount = {
  email: 'claire.marchand@example.com',
  password: 'a seal of green wax'
}

/** The public key that a browser derives from e-mail and password of `demoAccount`. */
export const demoPublicKey: PublicKeyJwk = {
  kty: 'EC',
  crv: 'P-256',
  x: 'Zg4BM_QSGR1tcXV0scqdq_9aZxnfZey8ChUcPq0TLhI',
  y: 'T_fRZ08eehc5ThNKMvoS-j3fb4YZJresEJsejiDpBis'
}

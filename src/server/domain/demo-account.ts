import type { PublicKeyJwk } from '../../core/keys/public-key-jwt.ts'

/**
 * The account of the demonstration. Everybody knows its password, so logins with it work only on a
 * developer's machine.
 */
export const demoAccount = {
  email: 'claire.marchand@example.com',
  password: 'a seal of green wax'
}

/** The public key that a browser derives from this e-mail and password. */
export const demoKey: PublicKeyJwk = {
  kty: 'EC',
  crv: 'P-256',
  x: 'Zg4BM_QSGR1tcXV0scqdq_9aZxnfZey8ChUcPq0TLhI',
  y: 'T_fRZ08eehc5ThNKMvoS-j3fb4YZJresEJsejiDpBis'
}

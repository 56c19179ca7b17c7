import type { PublicKeyJwk } from '../../core/keys/public-key-jwt.ts'

// everybody knows the password, so it signs in only on a developer's machine
export const demoAccount = {
  email: 'claire.marchand@example.com',
  password: 'a seal of green wax'
}

// what a browser derives from the e-mail and the password
export const demoPublicKey: PublicKeyJwk = {
  kty: 'EC',
  crv: 'P-256',
  x: 'Zg4BM_QSGR1tcXV0scqdq_9aZxnfZey8ChUcPq0TLhI',
  y: 'T_fRZ08eehc5ThNKMvoS-j3fb4YZJresEJsejiDpBis'
}

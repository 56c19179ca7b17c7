import { hash } from 'node:crypto'
import { errors, jwtVerify } from 'jose'
import * as z from 'zod/mini'
import { AppError } from '../../../contract/kit/errors.ts'
import type {
  AccessTokenClaims,
  AccessTokenReader,
  Deps,
  InstallationKeys,
  Tenant
} from '../deps.ts'
import { newId } from '../ids.ts'

// a closed browser renews no token, so its session ends with its last token
export const accessTokenMinutes = 60

export async function issueAccessToken(
  deps: Pick<Deps, 'keys' | 'clock' | 'random'>,
  tenant: Tenant,
  claims: AccessTokenClaims
): Promise<string> {
  const { kid, sign } = deps.keys.signingKey()
  const header = { alg: 'ES256', typ: 'JWT', kid } satisfies z.output<typeof Header>
  const payload = {
    cid: tenant.company_id,
    sid: claims.session_id,
    use: 'access',
    st: claims.pending ? 'pending' : 'full',
    auth_time: seconds(claims.signedIn),
    iss: issuerOf(tenant),
    aud: tenant.host,
    sub: claims.user_id,
    jti: newId(deps),
    iat: seconds(deps.clock()),
    exp: seconds(claims.expires)
  } satisfies z.output<typeof Payload>
  const signed = [header, payload]
    .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${signed}.${withLowS(sign(signed)).toString('base64url')}`
}

export function newAccessTokenExpiry(now: Date, sessionEnd: Date): Date {
  return new Date(Math.min(now.getTime() + accessTokenMinutes * 60_000, sessionEnd.getTime()))
}

/** Remembers each verified token and its host, so that it checks a signature only once. */
export function createAccessTokenReader(
  keys: Pick<InstallationKeys, 'verifyingKey'>
): AccessTokenReader {
  const proofs = new Map<string, Proof>()

  // keeps only a hash of the token, and only as long as the key that signed it exists
  async function provenPayload(tenant: Tenant, token: string, now: Date): Promise<Payload> {
    if (token.length > maxTokenLength) throw badToken()
    const name = hash('sha256', `${tenant.host} ${token}`)
    const known = proofs.get(name)
    if (known && known.key === keys.verifyingKey(known.kid)) {
      if (known.payload.exp <= seconds(now)) throw badToken()
      return known.payload
    }
    const proof = await prove(keys, tenant, token, now)
    const [oldest] = proofs.keys()
    if (proofs.size >= maxProofs && oldest !== undefined) proofs.delete(oldest)
    proofs.set(name, proof)
    return proof.payload
  }

  return {
    async read(tenant, token, now) {
      const payload = await provenPayload(tenant, token, now)
      const { cid, iat, sub, sid, st, auth_time, exp } = payload
      if (cid !== tenant.company_id || iat > now.getTime() / 1000 + maxSkewSeconds) throw badToken()
      return {
        user_id: sub,
        session_id: sid,
        pending: st === 'pending',
        signedIn: new Date(auth_time * 1000),
        expires: new Date(exp * 1000)
      }
    }
  }
}

const maxTokenLength = 2048

// a token may be issued this far in the future, because the clock of this process may have been set
// back
const maxSkewSeconds = 300

const Header = z.strictObject({
  alg: z.literal('ES256'),
  typ: z.literal('JWT'),
  kid: z.string().check(z.regex(/^[0-9a-f]{1,64}$/))
})

const Payload = z.strictObject({
  iss: z.string(),
  aud: z.string(),
  sub: z.uuid(),
  cid: z.uuid(),
  sid: z.uuid(),
  jti: z.uuid(),
  use: z.literal('access'),
  st: z.enum(['full', 'pending']),
  auth_time: z.int(),
  iat: z.int(),
  exp: z.int()
})

type Payload = z.output<typeof Payload>

interface Proof {
  payload: Payload
  kid: string
  key: CryptoKey
}

const maxProofs = 10_000

async function prove(
  keys: Pick<InstallationKeys, 'verifyingKey'>,
  tenant: Tenant,
  token: string,
  now: Date
): Promise<Proof> {
  if (!hasCanonicalForm(token)) throw badToken()
  let key: CryptoKey | undefined
  const find = (header: unknown) => {
    key = verifyingKey(keys, header)
    return key
  }
  try {
    const { payload: given, protectedHeader } = await jwtVerify(token, find, {
      algorithms: ['ES256'],
      typ: 'JWT',
      issuer: issuerOf(tenant),
      audience: tenant.host,
      // otherwise jose accepts a token without `exp`
      requiredClaims: ['exp', 'iat', 'sub', 'jti', 'sid'],
      currentDate: now
    })
    const payload = Payload.safeParse(given)
    if (!payload.success || !key) throw badToken()
    return { payload: payload.data, kid: Header.parse(protectedHeader).kid, key }
  } catch (cause) {
    if (cause instanceof errors.JOSEError || cause instanceof AppError) throw badToken(cause)
    throw cause
  }
}

// refuses header fields other than these, for example a key or the URL of a key
function verifyingKey(keys: Pick<InstallationKeys, 'verifyingKey'>, header: unknown): CryptoKey {
  const ours = Header.safeParse(header)
  const key = ours.success ? keys.verifyingKey(ours.data.kid) : undefined
  if (!key) throw badToken()
  return key
}

// it only looks like a web address: nobody opens it, so it has no port
function issuerOf(tenant: Tenant): string {
  return `https://api.${tenant.host}`
}

const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

// Other forms of the same token are refused, although their signature would be valid too: if the
// signature (r, s) is valid, (r, n−s) is as well, and base64url has several spellings of some
// bytes.
function hasCanonicalForm(token: string): boolean {
  const parts = token.split('.')
  const [, , signature = ''] = parts
  return (
    parts.length === 3 &&
    parts.every(part => Buffer.from(part, 'base64url').toString('base64url') === part) &&
    signature.length === 86 &&
    sOf(Buffer.from(signature, 'base64url')) <= order / 2n
  )
}

function withLowS(signature: Buffer): Buffer {
  const s = sOf(signature)
  if (s > order / 2n) signature.write((order - s).toString(16).padStart(64, '0'), 32, 'hex')
  return signature
}

function sOf(signature: Buffer): bigint {
  return BigInt(`0x${signature.subarray(32).toString('hex')}`)
}

function badToken(cause?: unknown): AppError {
  return new AppError('unauthenticated', 'The token is not valid here', { cause })
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}

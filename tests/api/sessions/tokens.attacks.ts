import { createHmac, generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto'

type Part = Record<string, unknown>

/**
 * What an attacker may have: valid tokens, their parts and, in the worst case, signatures by the
 * server's key.
 */
export interface StolenTokens {
  token: string
  header: Part
  payload: Part
  /** Signs any text with the server's key that `kid` in `header` names. */
  signAsServer(text: string): Promise<Buffer>
  /** The public half of the key of `signAsServer`. */
  publicJwk: JsonWebKey
  otherCompany: string
  /** The token of another signed-in person of the same company, and its payload. */
  other: { token: string; payload: Part }
  /**
   * A valid token for another host of the company. `ofOtherCompany` is a valid token for another
   * company. Both are signed with the same key.
   */
  ofOtherHost: string
  ofOtherCompany: string
  signedOut: string
  signedOutEverywhere: string
}

type Attack = (loot: StolenTokens) => string | Promise<string>

const ownKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ownJwk = ownKey.publicKey.export({ format: 'jwk' })
const day = 86_400

/**
 * More than sixty ways to forge a token. In attacks that use the server's own key, only the part
 * that the name mentions is wrong.
 */
export const attacks: Record<string, Attack> = {
  'no signature, alg none': ({ payload }) => `${inputOf({ alg: 'none', typ: 'JWT' }, payload)}.`,
  'no signature, alg None': ({ header, payload }) =>
    `${inputOf({ ...header, alg: 'None' }, payload)}.`,
  'no signature, alg NONE': ({ header, payload }) =>
    `${inputOf({ ...header, alg: 'NONE' }, payload)}.`,
  'a good signature, alg none': loot => signedByServer(loot, { alg: 'none' }),
  'no signature, alg ES256': ({ header, payload }) => `${inputOf(header, payload)}.`,
  'HS256 with the public key as secret': loot => byHmac(loot, JSON.stringify(loot.publicJwk)),
  'HS256 with x as secret': loot =>
    byHmac(loot, Buffer.from(String(loot.publicJwk.x), 'base64url')),
  'HS256 with the kid as secret': loot => byHmac(loot, String(loot.header['kid'])),
  'HS256 with an empty secret': loot => byHmac(loot, ''),
  'HS512 with the public key as secret': loot =>
    byHmac(loot, JSON.stringify(loot.publicJwk), 'HS512', 'sha512'),
  'alg HS256 over a good signature': loot => signedByServer(loot, { alg: 'HS256' }),
  'alg ES384': loot => signedByServer(loot, { alg: 'ES384' }),
  'alg ES256K': loot => signedByServer(loot, { alg: 'ES256K' }),
  'alg RS256': loot => signedByServer(loot, { alg: 'RS256' }),
  'alg EdDSA': loot => signedByServer(loot, { alg: 'EdDSA' }),
  'alg es256': loot => signedByServer(loot, { alg: 'es256' }),
  'alg missing': loot => signedByServer(loot, { alg: undefined }),
  'alg as a list': loot => signedByServer(loot, { alg: ['ES256'] }),
  'a P-384 key': ({ header, payload }) =>
    byKey(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey, header, payload, 'sha384'),
  'a key of their own under our kid': ({ header, payload }) =>
    byKey(ownKey.privateKey, header, payload),
  'a key of their own in the header': ({ header, payload }) =>
    byKey(ownKey.privateKey, { ...header, jwk: ownJwk }, payload),
  'our key in the header': loot => signedByServer(loot, { jwk: loot.publicJwk }),
  'a key of their own and no kid': ({ payload }) =>
    byKey(ownKey.privateKey, { alg: 'ES256', typ: 'JWT', jwk: ownJwk }, payload),
  'kid unknown': loot => signedByServer(loot, { kid: '0123456789abcdef' }),
  'kid missing': loot => signedByServer(loot, { kid: undefined }),
  'kid a number': loot => signedByServer(loot, { kid: 7 }),
  'kid a path': loot => signedByServer(loot, { kid: '../../../../dev/null' }),
  'kid the file of the root secret': loot =>
    signedByServer(loot, { kid: `../kek-${loot.header['kid']}` }),
  'kid with SQL': loot => signedByServer(loot, { kid: `' or ''='` }),
  'kid __proto__': loot => signedByServer(loot, { kid: '__proto__' }),
  'kid an address': loot => signedByServer(loot, { kid: 'http://127.0.0.1:9/key' }),
  'kid in another case': loot =>
    signedByServer(loot, { kid: `${String(loot.header['kid']).toUpperCase()}A` }),
  jku: loot => signedByServer(loot, { jku: 'http://127.0.0.1:9/jwks' }),
  x5u: loot => signedByServer(loot, { x5u: 'http://127.0.0.1:9/cert' }),
  x5c: loot => signedByServer(loot, { x5c: ['MIIB'] }),
  crit: loot => signedByServer(loot, { crit: ['exp'] }),
  'crit of a known extension': loot => signedByServer(loot, { b64: true, crit: ['b64'] }),
  'unencoded payload': loot => signedByServer(loot, { b64: false, crit: ['b64'] }),
  cty: loot => signedByServer(loot, { cty: 'JWT' }),
  zip: loot => signedByServer(loot, { zip: 'DEF' }),
  'typ missing': loot => signedByServer(loot, { typ: undefined }),
  'typ at+jwt': loot => signedByServer(loot, { typ: 'at+jwt' }),
  'typ pk+jwt': loot => signedByServer(loot, { typ: 'pk+jwt' }),
  'typ jwt': loot => signedByServer(loot, { typ: 'jwt' }),
  'aud another host of the company': loot => signedByServer(loot, {}, { aud: 'second.localhost' }),
  'aud another company': loot => signedByServer(loot, {}, { aud: 'demo.localhost' }),
  'aud the API': loot => signedByServer(loot, {}, { aud: 'api.localhost' }),
  'aud a list': loot => signedByServer(loot, {}, { aud: ['localhost', 'demo.localhost'] }),
  'aud missing': loot => signedByServer(loot, {}, { aud: undefined }),
  'iss another host': loot => signedByServer(loot, {}, { iss: 'https://api.demo.localhost' }),
  'iss http': loot => signedByServer(loot, {}, { iss: 'http://api.localhost' }),
  'iss missing': loot => signedByServer(loot, {}, { iss: undefined }),
  'exp over': loot => signedByServer(loot, {}, { exp: Number(loot.payload['iat']) - 1 }),
  'exp now': loot => signedByServer(loot, {}, { exp: loot.payload['iat'] }),
  'exp missing': loot => signedByServer(loot, {}, { exp: undefined }),
  'exp text': loot => signedByServer(loot, {}, { exp: String(loot.payload['exp']) }),
  'exp a fraction': loot => signedByServer(loot, {}, { exp: Number(loot.payload['exp']) + 0.5 }),
  'iat tomorrow': loot => signedByServer(loot, {}, { iat: Number(loot.payload['iat']) + day }),
  'iat missing': loot => signedByServer(loot, {}, { iat: undefined }),
  'nbf tomorrow': loot => signedByServer(loot, {}, { nbf: Number(loot.payload['iat']) + day }),
  'use refresh': loot => signedByServer(loot, {}, { use: 'refresh' }),
  'use missing': loot => signedByServer(loot, {}, { use: undefined }),
  'st admin': loot => signedByServer(loot, {}, { st: 'admin' }),
  'st missing': loot => signedByServer(loot, {}, { st: undefined }),
  'cid another company': loot => signedByServer(loot, {}, { cid: loot.otherCompany }),
  'cid missing': loot => signedByServer(loot, {}, { cid: undefined }),
  'sub another person': loot => signedByServer(loot, {}, { sub: loot.other.payload['sub'] }),
  'sub nobody': loot => signedByServer(loot, {}, { sub: randomUUID() }),
  'sub no id': loot => signedByServer(loot, {}, { sub: 'admin' }),
  'sub missing': loot => signedByServer(loot, {}, { sub: undefined }),
  'sid of another person': loot => signedByServer(loot, {}, { sid: loot.other.payload['sid'] }),
  'sid unknown': loot => signedByServer(loot, {}, { sid: randomUUID() }),
  'sid with SQL': loot => signedByServer(loot, {}, { sid: `' or ''='` }),
  'sid missing': loot => signedByServer(loot, {}, { sid: undefined }),
  'jti missing': loot => signedByServer(loot, {}, { jti: undefined }),
  'a claim of a permission': loot => signedByServer(loot, {}, { permissions: ['admin'] }),
  'a payload that is a list': loot => serverSigned(loot, `${inputOf(loot.header, [loot.payload])}`),
  'a payload that is null': loot => serverSigned(loot, inputOf(loot.header, null)),
  'a payload that is no JSON': loot =>
    serverSigned(loot, `${encode(JSON.stringify(loot.header))}.${encode('{')}`),
  'the payload of another token': ({ token, other }) => swap(token, 1, other.token),
  'the signature of another token': ({ token, other }) => swap(token, 2, other.token),
  'the other signature of the same bytes': ({ token }) => malleate(token),
  'a signature in DER': async loot => {
    const { privateKey } = ownKey
    const der = sign('sha256', Buffer.from(inputOf(loot.header, loot.payload)), privateKey)
    return `${inputOf(loot.header, loot.payload)}.${der.toString('base64url')}`
  },
  'a signature of zeros': ({ token }) => token.slice(0, -86) + 'A'.repeat(86),
  'a signature of random bytes': ({ token }) =>
    token.slice(0, -86) + randomBytes(64).toString('base64url'),
  'a signature with r and s swapped': ({ token }) => {
    const bytes = Buffer.from(token.slice(-86), 'base64url')
    const swapped = Buffer.concat([bytes.subarray(32), bytes.subarray(0, 32)])
    return token.slice(0, -86) + swapped.toString('base64url')
  },
  'a cut signature': ({ token }) => token.slice(0, -1),
  'a signature of 63 bytes': ({ token }) => token.slice(0, -2),
  'a signature spelt otherwise': ({ token }) => token.slice(0, -1) + after(token.slice(-1)),
  'a header spelt otherwise': ({ token }) => `${token.split('.')[0]}=.${rest(token)}`,
  'a signature with padding': ({ token }) => `${token}==`,
  'standard base64': async loot => {
    let token = loot.token
    // about one signature in fifteen is spelled alike in both alphabets
    while (!/[-_]/.test(token.slice(-86))) token = await signedByServer(loot, {})
    return token.slice(0, -86) + Buffer.from(token.slice(-86), 'base64url').toString('base64')
  },
  'two parts': ({ token }) => token.split('.').slice(0, 2).join('.'),
  'four parts': ({ token }) => `${token}.AAAA`,
  'five parts': ({ token }) => `${token}.AAAA.AAAA`,
  'a leading dot': ({ token }) => `.${token}`,
  'a trailing dot': ({ token }) => `${token}.`,
  'the payload alone': ({ token }) => String(token.split('.')[1]),
  'the token twice': ({ token }) => token + token,
  'a token of 10,000 characters': loot => signedByServer(loot, {}, { x: 'x'.repeat(7000) }),
  'one letter': () => 'x',
  dots: () => '..',
  'the words null and undefined': () => 'null.undefined.null',
  'a good token of another host': ({ ofOtherHost }) => ofOtherHost,
  'a good token of another company': ({ ofOtherCompany }) => ofOtherCompany,
  'a token after its sign-out': ({ signedOut }) => signedOut,
  'a token after a sign-out everywhere': ({ signedOutEverywhere }) => signedOutEverywhere
}

/** Replaces s in the token's signature with n − s, which gives a second valid signature. */
export function malleate(token: string): string {
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
  const signature = Buffer.from(token.slice(-86), 'base64url')
  const s = BigInt(`0x${signature.subarray(32).toString('hex')}`)
  signature.write((order - s).toString(16).padStart(64, '0'), 32, 'hex')
  return token.slice(0, -86) + signature.toString('base64url')
}

/**
 * Returns a token with changed fields, signed with the server's key. The value `undefined` removes
 * a field.
 */
export function signedByServer(
  loot: StolenTokens,
  header: Part,
  payload: Part = {}
): Promise<string> {
  return serverSigned(loot, inputOf({ ...loot.header, ...header }, { ...loot.payload, ...payload }))
}

async function serverSigned(loot: StolenTokens, input: string): Promise<string> {
  const token = `${input}.${(await loot.signAsServer(input)).toString('base64url')}`
  const s = Buffer.from(token.slice(-86), 'base64url')[32] ?? 0
  return s >= 0x80 ? malleate(token) : token
}

function byKey(
  key: Parameters<typeof sign>[2] & object,
  header: Part,
  payload: Part,
  hash = 'sha256'
): string {
  const input = inputOf(header, payload)
  const signature = sign(hash, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' } as never)
  return `${input}.${signature.toString('base64url')}`
}

function byHmac(
  loot: StolenTokens,
  secret: string | Buffer,
  alg = 'HS256',
  hash = 'sha256'
): string {
  const input = inputOf({ ...loot.header, alg }, loot.payload)
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`
}

function inputOf(header: unknown, payload: unknown): string {
  return [header, payload].map(part => encode(JSON.stringify(part))).join('.')
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function swap(token: string, at: number, other: string): string {
  return token
    .split('.')
    .map((part, index) => (index === at ? other.split('.')[at] : part))
    .join('.')
}

function rest(token: string): string {
  return token.split('.').slice(1).join('.')
}

function after(character: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return alphabet.charAt(alphabet.indexOf(character) + 1)
}

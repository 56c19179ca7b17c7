import { createDeposit, getDeposit, getDepositContent } from '../../contract/deposits.ts'
import { AppError } from '../../contract/errors.ts'
import * as deposits from '../domain/deposits.ts'
import { type Api, type ApiContext, companyOf, person } from './context.ts'
import { findIdempotencyKey } from './idempotency.ts'
import { on, onStream } from './on.ts'

export function mountDeposits(app: Api): void {
  on(app, createDeposit, async (input, c) => {
    const caller = person(c)
    const { body, replayed } = await deposits.createDeposit(c.get('deps'), {
      company_id: companyOf(c),
      user_id: caller.id,
      act: { actor: caller.id, route: 'POST /deposit', key: idempotencyKey(c), input },
      deposit: input
    })
    if (replayed) c.header('idempotent-replayed', 'true')
    return body
  })

  on(app, getDeposit, ({ id }, c) =>
    deposits.getDeposit(c.get('deps'), { company_id: companyOf(c), user_id: person(c).id, id })
  )

  onStream(app, getDepositContent, async ({ id }, c) => {
    const company_id = companyOf(c)
    const content = await deposits.findContent(c.get('deps'), {
      company_id,
      user_id: person(c).id,
      id
    })
    return new Response(await c.get('deps').blobs.read(company_id, content.tag), {
      headers: {
        'content-type': safeType(content.media_type),
        'content-length': String(content.size),
        'content-disposition': attachment(content.name),
        'repr-digest': `sha-256=:${Buffer.from(content.sha256).toString('base64')}:`,
        'content-security-policy': "sandbox; default-src 'none'"
      }
    })
  })
}

function idempotencyKey(c: ApiContext): string {
  const key = findIdempotencyKey(c)
  if (key !== undefined) return key
  throw new AppError('idempotency_key_missing', 'This call needs an Idempotency-Key')
}

const harmlessTypes = ['application/pdf', 'image/jpeg', 'image/png', 'image/webp', 'text/plain']

/** A stored type reaches a browser only when it cannot carry a script. */
function safeType(type: string): string {
  return harmlessTypes.includes(type) ? type : 'application/octet-stream'
}

/** `'été.pdf'` → `attachment; filename="_t_.pdf"; filename*=UTF-8''%C3%A9t%C3%A9.pdf` (RFC 6266) */
function attachment(name: string): string {
  // bidirectional controls would let a name show another ending than it has
  const clean = name.replace(/[\p{Cc}"\\/\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '_')
  const ascii = clean.replace(/[^\x20-\x7e]/g, '_').replace(/[%']/g, '_')
  const encoded = encodeURIComponent(clean).replace(
    /['()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

import { listDeposits } from '../../contract/company-deposits.ts'
import {
  createContentLink,
  createDeposit,
  getDeposit,
  getDepositContent,
  getReceipt,
  getUnfinishedUpload,
  type ReceiptFormat
} from '../../contract/deposits.ts'
import { AppError } from '../../contract/kit/errors.ts'
import { parseRangeHeader } from '../../core/http-headers/byte-range.ts'
import { attachmentHeader } from '../../core/http-headers/content-disposition.ts'
import { includesEtag } from '../../core/http-headers/etags.ts'
import { recordHistoryReading } from '../domain/audit/audit-history-reads.ts'
import * as companyDeposits from '../domain/deposits/company-deposits.ts'
import * as deposits from '../domain/deposits/deposits.ts'
import * as intake from '../domain/deposits/intake.ts'
import { createReceipt } from '../domain/evidence/receipts.ts'
import { createDownloadLinkToken } from '../domain/sessions/download-links.ts'
import { apiKeyOrPersonIdOf } from '../domain/sessions/sessions.ts'
import { callerAndAdministeredCompany } from './kit/administered-company.ts'
import {
  type Api,
  authenticatedCaller,
  hostCompanyAndCaller,
  hostCompanyId,
  inLongRead
} from './kit/context.ts'
import { mountEndpoint, mountIdempotent, mountList, mountNonJsonEndpoint } from './kit/mount.ts'
import { doWhileAllowed, streamWhileAllowed } from './kit/while-allowed.ts'

export function mountDeposits(app: Api): void {
  mountIdempotent(app, createDeposit, async (input, c, key) => {
    if (key === undefined) {
      throw new AppError('idempotency_key_missing', 'This call needs an Idempotency-Key')
    }
    const by = {
      ...hostCompanyAndCaller(c),
      actor: apiKeyOrPersonIdOf(authenticatedCaller(c)),
      route: intake.depositKeyRoute
    }
    const deposit = intake.withMediaTypeByName(input)
    const answer = await intake.createDeposit(c.get('deps'), by, { key, deposit })
    if ('duplicate' in answer.body || answer.body.continued) c.set('status', 200)
    return answer
  })

  mountList(app, listDeposits, async ({ id: _, ...input }, c) => {
    const { company_id, by } = callerAndAdministeredCompany(c)
    await recordHistoryReading(c.get('deps'), { company_id, by })
    const read = () => companyDeposits.listDeposits(c.get('deps'), { company_id, ...input })
    return companyDeposits.isSearch(input) ? inLongRead(c, read) : read()
  })

  mountEndpoint(app, getDeposit, ({ id }, c) =>
    deposits.getDeposit(c.get('deps'), { ...hostCompanyAndCaller(c), id })
  )

  mountEndpoint(app, getUnfinishedUpload, ({ id }, c) =>
    deposits.getUnfinishedUpload(c.get('deps'), { ...hostCompanyAndCaller(c), id })
  )

  mountEndpoint(app, createContentLink, async ({ id }, c) => {
    // throws before a link to nothing is made
    await deposits.getStoredFileMetadata(c.get('deps'), { ...hostCompanyAndCaller(c), id })
    const { link, expires } = createDownloadLinkToken(c.get('deps'), {
      person: authenticatedCaller(c),
      id
    })
    const path = getDepositContent.path.replace('{id}', id)
    return { url: `${path}?link=${link}`, expires: expires.toISOString() }
  })

  mountNonJsonEndpoint(app, getDepositContent, async ({ id }, c) => {
    const content = await deposits.getStoredFileMetadata(c.get('deps'), {
      ...hostCompanyAndCaller(c),
      id
    })
    const { size, tag, sha256 } = content
    const etag = `"${Buffer.from(sha256).toString('hex')}"`
    const headers = {
      etag,
      'accept-ranges': 'bytes',
      'content-security-policy': "sandbox; default-src 'none'"
    }
    if (includesEtag(c.req.header('if-none-match'), etag)) {
      return new Response(null, { status: 304, headers })
    }
    const ifRange = c.req.header('if-range')
    const isSame = ifRange === undefined || ifRange === etag
    const range = isSame ? parseRangeHeader(c.req.header('range'), size) : 'whole'
    if (range === 'unsatisfiable') {
      c.header('content-range', `bytes */${size}`)
      throw new AppError('range_unsatisfiable', `The content has ${size} bytes`)
    }
    const part = range === 'whole' ? undefined : range
    const length = part ? part.end - part.start + 1 : size
    const isHead = c.req.method === 'HEAD'
    const deps = c.get('deps')
    const body = isHead
      ? null
      : streamWhileAllowed(c, await deps.blobs.read(hostCompanyId(c), tag, part))
    return new Response(body, {
      status: part ? 206 : 200,
      headers: {
        ...headers,
        ...(part ? { 'content-range': `bytes ${part.start}-${part.end}/${size}` } : {}),
        'content-type': safeType(content.media_type),
        'content-length': String(length),
        'content-disposition': attachmentHeader(savedName(content)),
        // the digest of the whole file, even if only a part is sent (RFC 9530)
        'repr-digest': `sha-256=:${Buffer.from(sha256).toString('base64')}:`
      }
    })
  })

  mountNonJsonEndpoint(app, getReceipt, async ({ id, format = 'json' }, c) => {
    const input = { ...hostCompanyAndCaller(c), id, format }
    const { name, text } = await createReceipt(c.get('deps'), input, async run => {
      const wait = () => doWhileAllowed(c, run())
      await (c.get('place')?.outside(wait) ?? wait())
    })
    return new Response(c.req.method === 'HEAD' ? null : text, {
      headers: {
        'content-type': receiptTypes[format],
        'content-length': String(Buffer.byteLength(text)),
        'content-disposition': attachmentHeader(name)
      }
    })
  })
}

// a reduced copy must not replace the original in the person's folder: `scan (reduced).jpg`
function savedName({ name, isReduced }: deposits.StoredFileMetadata): string {
  return isReduced ? `${name.replace(/(?<=.)\.\w{1,5}$/, '')} (reduced).jpg` : name
}

const receiptTypes: Record<ReceiptFormat, string> = {
  json: 'application/vnd.vidimus.receipt+json',
  'tlog-proof': 'text/plain; charset=utf-8'
}

const harmlessTypes = ['application/pdf', 'image/jpeg', 'image/png', 'image/webp', 'text/plain']

// other types can contain scripts
function safeType(type: string): string {
  return harmlessTypes.includes(type) ? type : 'application/octet-stream'
}

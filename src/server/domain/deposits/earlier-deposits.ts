import { sql } from 'kysely'
import type { ProcessedRequest } from '../../../contract/requests.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { keyedHashOf } from '../evidence/keyed-hashes.ts'
import { readRequestsById } from '../history/requests.ts'
import { encryptDigest } from './upload-digests.ts'

interface Person {
  company_id: CompanyId
  user_id: string
}

interface SoughtFile {
  original: Buffer
  stored: Buffer
  category: string
}

export async function findOpenUploads<File extends SoughtFile>(
  tx: Tx,
  deps: Pick<Deps, 'keys'>,
  person: Person,
  files: readonly File[]
): Promise<Map<File, { request: ProcessedRequest; upload_id: string }>> {
  if (files.length === 0) return new Map()
  const seal = (digest: Buffer) => encryptDigest(deps.keys, person, digest)
  const sealed = files.map(file => ({
    file,
    original: seal(file.original),
    stored: seal(file.stored)
  }))
  const rows = await selectInCompany(tx, 'upload')
    .where('user_id', '=', person.user_id)
    .where(sql<boolean>`original = any(${sealed.map(({ original }) => original)}::bytea[])`)
    .where('state', '=', 'uploading')
    .orderBy('active_at', 'desc')
    .select(['id', 'request_id', 'original', 'stored', 'category_id'])
    .execute()
  return withRequests(
    tx,
    person,
    sealed.map(({ file, original, stored }) => {
      const row = rows.find(
        each =>
          each.original?.equals(original) &&
          each.stored?.equals(stored) &&
          each.category_id === file.category
      )
      return { file, row: row && { request_id: row.request_id, upload_id: row.id } }
    })
  )
}

export async function findOwnDeposits<File extends SoughtFile>(
  tx: Tx,
  deps: Pick<Deps, 'companyKeys'>,
  person: Person,
  files: readonly File[]
): Promise<Map<File, { request: ProcessedRequest }>> {
  if (files.length === 0) return new Map()
  const { lookup } = await deps.companyKeys.read(tx)
  const tagged = files.map(file => ({ file, tag: keyedHashOf(lookup, 'sha256', file.original) }))
  const rows = await selectInCompany(tx, 'lookup_tag')
    .innerJoin('deposit', join => joinInCompany(join, 'deposit.id', 'lookup_tag.record_ref'))
    .where('lookup_tag.user_id', '=', person.user_id)
    .where(sql<boolean>`lookup_tag.tag = any(${tagged.map(({ tag }) => tag)}::bytea[])`)
    .where('lookup_tag.which', '=', 'original')
    .distinctOn('lookup_tag.tag')
    .orderBy('lookup_tag.tag')
    // two deposits may have the same second; the ids of requests grow with time
    .orderBy('deposit.recorded_at', 'desc')
    .orderBy('deposit.request_id', 'desc')
    .select(['lookup_tag.tag', 'deposit.request_id'])
    .execute()
  return withRequests(
    tx,
    person,
    tagged.map(({ file, tag }) => ({ file, row: rows.find(each => each.tag.equals(tag)) }))
  )
}

async function withRequests<File, Row extends { request_id: string }>(
  tx: Tx,
  person: Person,
  found: { file: File; row: Row | undefined }[]
): Promise<Map<File, Row & { request: ProcessedRequest }>> {
  const ids = found.flatMap(({ row }) => row?.request_id ?? [])
  const requests = await readRequestsById(tx, person, ids)
  return new Map(
    found.flatMap(({ file, row }) => {
      const request = row && requests.get(row.request_id)
      return request ? [[file, { ...row, request }] as const] : []
    })
  )
}

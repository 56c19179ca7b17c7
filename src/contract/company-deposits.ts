import * as z from 'zod/mini'
import { RecordId, Sha256 } from './deposits.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, SearchText, sortParameter } from './kit/lists.ts'
import { ProcessedRequest, StoredContentKind } from './requests.ts'

/** A recorded deposit as the administrators of its company see it. */
export const ListedDeposit = z.object({
  id: RecordId,
  request_id: z.uuid(),
  /**
   * Who made the deposit. The name is `null` for a deleted account and for an API key of the
   * company. If such a key made the deposit, the key's name is in the deposit's record.
   */
  user: z.object({ id: z.uuid(), name: z.nullable(z.string()) }),
  name: z.string(),
  /** Size in bytes of the file, or of the reduced copy if the browser reduced a picture. */
  size: z.number(),
  media_type: z.string(),
  category_id: z.uuid(),
  /**
   * Who can verify the document: the visibility that the category had at the time of the deposit.
   */
  visibility: z.string(),
  created: z.iso.datetime(),
  recorded: z.iso.datetime(),
  store: StoredContentKind,
  keep_until: ProcessedRequest.shape.keep_until,
  erased: ProcessedRequest.shape.erased,
  leaf_hash: Sha256
})
export type ListedDeposit = z.infer<typeof ListedDeposit>

/**
 * Lists the recorded deposits of a company, newest first unless `sort` says otherwise. Deposits
 * that are not recorded, such as failed ones, are only in `GET /process`. The response contains no
 * fingerprints and no files.
 */
export const listDeposits = listEndpoint({
  path: '/company/{id}/deposits',
  access: 'admin',
  item: ListedDeposit,
  cursor: RecordId,
  input: {
    id: Id,
    q: SearchText,
    sort: sortParameter('created'),
    category: z.optional(Id),
    /** Only deposits of this person. */
    user: z.optional(Id),
    /** Only deposits that were recorded at this time or later. */
    from: z.optional(z.iso.datetime({ offset: true })),
    /** Only deposits that were recorded before this time. */
    to: z.optional(z.iso.datetime({ offset: true }))
  }
})

export const companyDepositCalls = { listDeposits }

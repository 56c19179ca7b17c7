import * as z from 'zod/mini'
import { RecordId, Sha256 } from './deposits.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, SearchText, sortParameter } from './kit/lists.ts'
import { ProcessedRequest, StoredContentKind } from './requests.ts'

export const ListedDeposit = z.object({
  id: RecordId,
  request_id: z.uuid(),
  // `null` for deleted accounts and for the company's API keys, whose name is in the record
  user: z.object({ id: z.uuid(), name: z.nullable(z.string()) }),
  name: z.string(),
  // that of the reduced copy of a picture
  size: z.number(),
  media_type: z.string(),
  category_id: z.uuid(),
  // at the time of the deposit
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
 * Lists the recorded deposits of a company, newest first, with who deposited them. `q` holds words
 * from a document's name, `from` is the first moment and `to` the one after the last.
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
    user: z.optional(Id),
    from: z.optional(z.iso.datetime({ offset: true })),
    to: z.optional(z.iso.datetime({ offset: true }))
  }
})

export const companyDepositCalls = { listDeposits }

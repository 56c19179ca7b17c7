import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type CategoryDetails,
  createCategory,
  updateCategory
} from '../../../src/contract/company-categories.ts'
import { createDeposit, getDeposit } from '../../../src/contract/deposits.ts'
import { addGroupCategory, addGroupUser, createGroup } from '../../../src/contract/groups.ts'
import type { AppError } from '../../../src/contract/kit/errors.ts'
import type { ProcessedRequest } from '../../../src/contract/requests.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { acceptsMediaType, mediaTypesByKind } from '../../../src/core/media-types.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { uploadOf } from '../../helpers/client.ts'
import { batchItem, postAcceptedBatch } from '../../helpers/deposits/batches.ts'
import { summarizeDatabase } from '../../helpers/matrix.ts'
import { retryWhileBusy } from '../../helpers/retry-while-busy.ts'

let app: TestApp
let depositor: TestPerson
let groupMember: TestPerson
let otherMember: TestPerson
let administrator: TestPerson
let group: string
beforeAll(async () => {
  app = await makeApp()
  depositor = await app.signUp()
  groupMember = await app.signUp()
  otherMember = await app.signUp()
  administrator = await app.signUp()
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [
    administrator.id
  ])
  const made = await administrator.call(createGroup, {
    name: 'Letting agents',
    features: ['deposit']
  })
  group = made.id
  for (const { id: user_id } of [depositor, groupMember]) {
    await administrator.call(addGroupUser, { groupId: group, user_id })
  }
})
afterAll(() => app[Symbol.asyncDispose]())

type Settings = Partial<
  Pick<
    CategoryDetails,
    'visibility' | 'store' | 'keep_originals' | 'media_types' | 'retention' | 'default'
  >
>

/** Creates a category with these settings that the group `group` may use. Returns its id. */
async function makeCategory({
  default: isDefault,
  visibility,
  ...settings
}: Settings): Promise<string> {
  const names = { en: `Leases ${randomUUID()}` }
  const { id } = await retryWhileBusy(() =>
    administrator.call(createCategory, { names, ...settings })
  )
  // not by a call, because calls refuse `receipt_only`
  if (visibility)
    await app.owner.query('update category set visibility = $2 where id = $1', [id, visibility])
  await retryWhileBusy(() =>
    administrator.call(addGroupCategory, { groupId: group, category_id: id })
  )
  if (isDefault) await administrator.call(updateCategory, { id, default: true })
  return id
}

const ways = ['tus', 'batch', 'PUT'] as const
type Way = (typeof ways)[number]

interface Wanted {
  category: string | undefined
  media_type: string
  name?: string
  /** Whether the bytes are a reduced copy of a picture, which `PUT` cannot declare. */
  isReduced?: boolean
}

/**
 * Deposits bytes by `POST /deposit` and tus, in a batch, or by `PUT`. Throws the error code if the
 * deposit is refused.
 */
async function deposit(
  way: Way,
  person: TestPerson,
  bytes: Buffer,
  { category, media_type, name = 'small.pdf', isReduced = false }: Wanted
): Promise<ProcessedRequest> {
  const type = isReduced ? 'image/jpeg' : media_type
  const transform = {
    kind: 'image-recompress',
    quality: 70,
    tool: 'vidimus/1 canvas',
    from: { bytes: 3_000_000, w: 4000, h: 3000, type: media_type },
    to: { bytes: bytes.length, w: 600, h: 450, type }
  } as const
  const item = batchItem(bytes, {
    ...(category === undefined ? {} : { category }),
    name,
    media_type: type,
    ...(isReduced ? { transform, original: hashOf(randomBytes(8)) } : {})
  })
  if (way === 'batch') {
    const [result] = await postAcceptedBatch(app, person, [item], [bytes])
    if (!result || !('request' in result)) {
      throw result && 'problem' in result ? result.problem.code : 'no result'
    }
    return result.request
  }
  if (way === 'tus') {
    const { key, ...input } = item
    const made = await person
      .call(createDeposit, input, { idempotencyKey: key })
      .catch((error: AppError) => {
        throw error.code
      })
    if ('request' in made && made.upload === undefined) return made.request
    const { request, upload } = uploadOf(made)
    const { status } = await app.patch(person, upload, bytes)
    if (status !== 204) throw new Error(`PATCH answered ${status}`)
    return app.until(person, request.id, ['done', 'failed'])
  }
  const query = { name, media_type, ...(category !== undefined && { category }) }
  const { status, body } = await app.put(person, bytes, query)
  const answer = JSON.parse(body.toString())
  if (status !== 201) throw answer.code
  return answer
}

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function contentStatus(person: TestPerson, id: string): Promise<number> {
  return (await app.content(person, id)).status
}

/** Returns for each of at most 20 documents who can verify it: `['stranger', 'administrator']`. */
async function findersOf(documents: Buffer[]): Promise<string[][]> {
  const input = { items: documents.map(bytes => ({ sha256: hashOf(bytes) })) }
  const answers = await Promise.all(
    Object.entries({
      stranger: app.call(depositor.host, verify, input),
      'member of the group': groupMember.call(verify, input),
      'other member': otherMember.call(verify, input),
      administrator: administrator.call(verify, input)
    }).map(async ([who, answer]) => ({ who, items: (await answer).items }))
  )
  return documents.map((_, at) =>
    answers.filter(({ items }) => items[at]?.verdict === 'authentic').map(({ who }) => who)
  )
}

const everybody = ['stranger', 'member of the group', 'other member', 'administrator']
const finders = {
  public: everybody,
  private: ['member of the group', 'administrator'],
  receipt_only: []
}

type Kind = 'pdf' | 'png' | 'reduced png'
const kinds: Record<Kind, Omit<Wanted, 'category'>> = {
  pdf: { media_type: 'application/pdf' },
  png: { media_type: 'image/png' },
  'reduced png': { media_type: 'image/png', isReduced: true }
}

/**
 * The settings of a category, the kind of file to deposit in it, and the error code if the deposit
 * must be refused.
 */
const table: [settings: Settings, kind: Kind, refusal?: string][] = [
  [{ visibility: 'public' }, 'pdf'],
  [{ visibility: 'private' }, 'pdf'],
  [{ visibility: 'receipt_only' }, 'pdf'],
  [{ store: 'fingerprint', visibility: 'public' }, 'png'],
  [{ store: 'fingerprint', visibility: 'private' }, 'pdf'],
  [{ store: 'fingerprint', visibility: 'receipt_only' }, 'pdf'],
  [{ store: 'fingerprint' }, 'reduced png', 'transform_not_allowed'],
  [{ store: 'fingerprint', media_types: ['application/pdf'] }, 'pdf'],
  [{ store: 'fingerprint', media_types: ['application/pdf'] }, 'png', 'type_not_allowed'],
  [{ media_types: ['application/pdf'] }, 'pdf'],
  [{ media_types: ['application/pdf'] }, 'png', 'type_not_allowed'],
  // the reduced copy is a JPEG, but the chosen file is what counts
  [{ media_types: ['image/png'] }, 'reduced png'],
  [{ media_types: ['image/jpeg'] }, 'reduced png', 'type_not_allowed'],
  [{ media_types: ['image/*'] }, 'png'],
  [{ media_types: ['image/*'] }, 'pdf', 'type_not_allowed'],
  [{ keep_originals: 'person' }, 'png'],
  [{ keep_originals: 'person' }, 'reduced png'],
  [{ keep_originals: 'no' }, 'png'],
  [{ keep_originals: 'no' }, 'reduced png'],
  [{ keep_originals: 'yes' }, 'png'],
  [{ keep_originals: 'yes' }, 'reduced png', 'transform_not_allowed'],
  [{ retention: 'P30D' }, 'pdf'],
  [{ retention: 'P30D', store: 'fingerprint' }, 'pdf']
]

/** A file's name, the type that a browser tells for it, and a type that its category accepts. */
const misreported = [
  ['IMG_0002.heic', 'application/octet-stream', 'image/*'],
  ['scan.tif', 'application/octet-stream', 'image/*'],
  ['list.csv', 'application/vnd.ms-excel', 'text/*'],
  ['notes.md', 'text/plain', 'text/markdown'],
  ['a.docx', 'application/zip', mediaTypesByKind.office[3]]
] as const

const longNames = [
  `${'契約書'.repeat(30)}.pdf`,
  `${'договор '.repeat(17)}.pdf`,
  `${'عقد إيجار '.repeat(15).trim()}.pdf`,
  `${'契'.repeat(251)}.pdf`,
  `${'🗎'.repeat(125)}a.pdf`
]

describe.each(ways)('a deposit by %s', way => {
  // a reduced copy is declared beside its bytes, and the body of PUT is only bytes
  const cases = table.filter(([, kind]) => way !== 'PUT' || kind !== 'reduced png')
  const accepted = cases.filter(([, , refusal]) => refusal === undefined)
  const refused = cases.filter(([, , refusal]) => refusal !== undefined)

  /**
   * Deposits a document of each case. `answers` in the result has the requests, and the codes of
   * refusals.
   */
  async function depositEach(some: typeof cases) {
    const categories = await Promise.all(some.map(([settings]) => makeCategory(settings)))
    const documents = some.map(() => randomBytes(100))
    const before = await summarizeDatabase(app.owner)
    const answers = []
    // one after the other, because few uploads of a person may run at the same time
    for (const [at, [, kind]] of some.entries()) {
      const wanted = { category: categories[at], ...kinds[kind] }
      const bytes = documents[at] ?? Buffer.of()
      answers.push(await deposit(way, depositor, bytes, wanted).catch(code => code))
    }
    const after = await summarizeDatabase(app.owner)
    return { categories, answers, before, after, found: await findersOf(documents) }
  }

  let made: Awaited<ReturnType<typeof depositEach>>
  beforeAll(async () => {
    made = await depositEach(accepted)
  })

  test.each(accepted.map(([settings, kind], at) => [settings, kind, at] as const))(
    'follows a category of %j: %s',
    async (settings, _kind, at) => {
      const { visibility = 'public', store = 'file', retention } = settings
      const request = made.answers[at]
      expect(request).toMatchObject({ state: 'done', category_id: made.categories[at] })
      const isStored = store === 'file'
      expect(request.store === 'fingerprint').toBe(!isStored)
      expect(request.keep_until !== undefined).toBe(isStored && retention !== undefined)
      expect(made.found[at]).toEqual(finders[visibility])
      const id = request.deposit_id ?? ''
      expect(await contentStatus(depositor, id)).toBe(isStored ? 200 : 404)
      // who may find a document may not read it
      expect(await contentStatus(groupMember, id)).toBe(404)
      expect(await contentStatus(administrator, id)).toBe(404)
    }
  )

  test('is refused without a trace where the category does not allow it', async () => {
    const { answers, before, after, found } = await depositEach(refused)
    expect(answers).toEqual(refused.map(([, , refusal]) => refusal))
    expect(after).toEqual(before)
    expect(found.flat()).toEqual([])
  })

  test.each(misreported)('of %s, told as %s, is accepted by %s', async (name, told, accepted) => {
    const category = await makeCategory({ media_types: [accepted] })
    const wanted = { category, name, media_type: told }
    const request = await deposit(way, depositor, randomBytes(100), wanted)
    expect(request).toMatchObject({ state: 'done', name })
    expect(acceptsMediaType([accepted], request.media_type ?? '')).toBe(true)
  })

  test.each(longNames)('keeps the name %s', async name => {
    const category = await makeCategory({})
    const wanted = { category, name, media_type: 'application/pdf' }
    const request = await deposit(way, groupMember, randomBytes(100), wanted)
    expect(request).toMatchObject({ state: 'done', name })
    const read = await groupMember.call(getDeposit, { id: request.deposit_id ?? '' })
    expect(read.name).toBe(name)
    const { status, headers } = await app.content(groupMember, request.deposit_id ?? '')
    expect(status).toBe(200)
    expect(headers['content-disposition']).toContain(encodeURIComponent(name))
  })

  test('is refused to whose groups may not use the category', async () => {
    const wanted = { category: await makeCategory({}), ...kinds.pdf }
    const before = await summarizeDatabase(app.owner)
    for (const person of [otherMember, administrator]) {
      const refused = deposit(way, person, randomBytes(100), wanted)
      await expect(refused).rejects.toBe('category_unknown')
    }
    expect(await summarizeDatabase(app.owner)).toEqual(before)
  })

  test('that names no category is made in the default one, or refused without', async () => {
    const id = await makeCategory({ default: true, visibility: 'private' })
    const wanted = { category: undefined, ...kinds.pdf }
    const bytes = randomBytes(100)
    expect(await deposit(way, depositor, bytes, wanted)).toMatchObject({ category_id: id })
    expect(await findersOf([bytes])).toEqual([finders.private])
    await administrator.call(updateCategory, { id, default: false })
    const refused = deposit(way, depositor, randomBytes(100), wanted)
    await expect(refused).rejects.toBe('category_required')
  })

  test('keeps the visibility of its day', async () => {
    const id = await makeCategory({ visibility: 'private' })
    const bytes = randomBytes(100)
    await deposit(way, depositor, bytes, { category: id, ...kinds.pdf })
    await administrator.call(updateCategory, { id, visibility: 'public' })
    expect(await findersOf([bytes])).toEqual([finders.private])
    const later = randomBytes(100)
    await deposit(way, depositor, later, { category: id, ...kinds.pdf })
    expect(await findersOf([later])).toEqual([finders.public])
  })
})

import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listAllowedCategories } from '../../../src/contract/categories.ts'
import {
  type CategoryDetails,
  createCategory,
  deleteCategory,
  getCategory,
  listCompanyCategories,
  updateCategory
} from '../../../src/contract/company-categories.ts'
import {
  addGroupCategory,
  createGroup,
  listGroups,
  removeGroupCategory,
  updateGroup
} from '../../../src/contract/groups.ts'
import { checkAuditLog } from '../../../src/server/domain/audit/audit-check.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { makeAdmins } from '../../helpers/matrix.ts'

let app: TestApp
let ada: TestPerson
let company: string
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
  company = ada.company
  await makeAdmins(app.owner)
})
afterAll(() => app[Symbol.asyncDispose]())

const newNames = () => ({ en: `Leases ${randomUUID()}`, fr: `Baux ${randomUUID()}` })
const newCategory = (more: object = {}) => ada.call(createCategory, { names: newNames(), ...more })
const newGroup = () => ada.call(createGroup, { name: `Group ${randomUUID()}` })

describe('creating a category', () => {
  test('makes one that stores files of all types and that no group may use', async () => {
    const names = newNames()
    const category = await ada.call(createCategory, { names })
    expect(category).toMatchObject({
      names,
      version: 1,
      visibility: 'public',
      keep_originals: 'person',
      store: 'file',
      media_types: null,
      retention: null,
      default: false,
      group_count: 0
    })
    expect(await ada.call(getCategory, { id: category.id })).toEqual(category)
    expect(await ada.call(listAllowedCategories, {})).not.toContainEqual(
      expect.objectContaining({ id: category.id })
    )
  })

  test('refuses that nobody could verify its documents', async () => {
    const refused = {
      code: 'invalid_input',
      fields: { visibility: { rule: 'format', detail: 'public or private' } }
    }
    const visibility = 'receipt_only'
    await expect(newCategory({ visibility })).rejects.toMatchObject(refused)
    const { id } = await newCategory({ visibility: 'private' })
    await expect(ada.call(updateCategory, { id, visibility })).rejects.toMatchObject(refused)

    await app.owner.query('update category set visibility = $2 where id = $1', [id, visibility])
    expect(await ada.call(updateCategory, { id, visibility, retention: 'P1Y' })).toMatchObject({
      visibility,
      retention: 'P1Y'
    })
    expect(await ada.call(updateCategory, { id, visibility: 'public' })).toMatchObject({
      visibility: 'public'
    })
  })

  test('fills the name of one language from the other', async () => {
    const [en, fr] = [`English ${randomUUID()}`, `Français ${randomUUID()}`]
    expect((await ada.call(createCategory, { names: { en } })).names).toEqual({ en, fr: en })
    expect((await ada.call(createCategory, { names: { fr } })).names).toEqual({ en: fr, fr })
  })

  test('makes one category for one idempotency key', async () => {
    const options = { idempotencyKey: randomUUID() }
    const input = { names: newNames() }
    const first = await ada.call(createCategory, input, options)
    expect(await ada.call(createCategory, input, options)).toEqual(first)
  })

  test('names the language of a name that another category has', async () => {
    const { names } = await newCategory()
    const taken = { en: `New ${randomUUID()}`, fr: names.fr.toUpperCase() }
    await expect(ada.call(createCategory, { names: taken })).rejects.toMatchObject({
      code: 'name_taken',
      fields: { 'names.fr': { rule: 'taken' } }
    })
    const foreigner = await app.signUp('beta.localhost')
    await makeAdmins(app.owner)
    await foreigner.call(createCategory, { names })
  })

  test.each([
    ['no name', { names: {} }],
    ['an empty name', { names: { en: ' ' } }],
    ['a name of 81 characters', { names: { en: 'x'.repeat(81) } }],
    ['an empty list of types', { media_types: [] }],
    ['a type of everything', { media_types: ['*/*'] }],
    ['a type in capitals', { media_types: ['Image/PNG'] }],
    ['a retention of weeks', { retention: 'P2W' }],
    ['a retention of nothing', { retention: 'P0D' }],
    ['an unknown visibility', { visibility: 'secret' }]
  ])('refuses %s', async (_what, wrong) => {
    // as: the inputs are wrong on purpose
    const refused = newCategory(wrong as object)
    await expect(refused).rejects.toMatchObject({ code: 'invalid_input' })
  })
})

describe('changing a category', () => {
  test('replaces the named fields only and counts the version', async () => {
    const category = await newCategory({ retention: 'P10Y', media_types: ['image/*'] })
    const { id, names } = category
    const fr = `Reçus ${randomUUID()}`
    const changed = await ada.call(updateCategory, { id, names: { fr }, store: 'fingerprint' })
    expect(changed).toEqual({
      ...category,
      version: 2,
      names: { en: names.en, fr },
      store: 'fingerprint'
    })
    const cleared = await ada.call(updateCategory, { id, retention: null, media_types: null })
    expect(cleared).toEqual({ ...changed, version: 3, retention: null, media_types: null })
  })

  test('refuses a version that is no longer the present one', async () => {
    const { id } = await newCategory()
    await ada.call(updateCategory, { id, visibility: 'private' }, { version: 1 })
    const late = ada.call(updateCategory, { id, visibility: 'public' }, { version: 1 })
    await expect(late).rejects.toMatchObject({ code: 'changed_meanwhile' })
    const deletion = ada.call(deleteCategory, { id }, { version: 1 })
    await expect(deletion).rejects.toMatchObject({ code: 'changed_meanwhile' })
  })

  test('moves the default category and ends it', async () => {
    const [one, other] = [await newCategory(), await newCategory()]
    await ada.call(updateCategory, { id: one.id, default: true })
    const moved = await ada.call(updateCategory, { id: other.id, default: true })
    expect(moved.default).toBe(true)
    expect(await ada.call(getCategory, { id: one.id })).toMatchObject({
      default: false,
      version: 3
    })
    await ada.call(updateCategory, { id: other.id, default: false })
    const all = await ada.call(listCompanyCategories, { id: company, limit: 200 })
    expect(all.filter(each => each.default)).toEqual([])
    await ada.call(updateCategory, { id: ada.category, default: true })
  })

  test('leaves one default category after moves that race', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, () => newCategory()))
    const moves = made.flatMap(({ id }) => [id, id])
    await Promise.all(moves.map(id => ada.call(updateCategory, { id, default: true })))
    const all = await ada.call(listCompanyCategories, { id: company, limit: 200 })
    expect(all.filter(each => each.default)).toHaveLength(1)
    await ada.call(updateCategory, { id: ada.category, default: true })
  })

  test('never lets the default group of a public site use a category that is not public', async () => {
    const [everyone] = await ada.call(listGroups, { id: company, q: 'everyone' })
    const groupId = everyone?.id ?? ''
    for (let round = 0; round < 5; round++) {
      const { id } = await newCategory()
      const group = await newGroup()
      await ada.call(addGroupCategory, { groupId: group.id, category_id: id })
      const outcomes = await Promise.allSettled([
        ada.call(addGroupCategory, { groupId, category_id: id }),
        ada.call(updateCategory, { id, visibility: 'private' }),
        ada.call(updateGroup, { id: group.id, is_default: true })
      ])
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') {
          expect(outcome.reason).toMatchObject({ code: 'default_group_private' })
        }
      }
      const { rows } = await app.owner.query(
        `select count(*)::int as broken from "group" g
           join group_category gc on gc.company_id = g.company_id and gc.group_id = g.id
           join category c on c.company_id = gc.company_id and c.id = gc.category_id
          where g.is_default and c.visibility <> 'public'`
      )
      expect(rows[0].broken).toBe(0)
      await ada.call(updateGroup, { id: groupId, is_default: true })
      await ada.call(removeGroupCategory, { groupId, categoryId: id })
    }
  })
})

describe('deleting a category', () => {
  test('removes it', async () => {
    const { id } = await newCategory()
    await ada.call(deleteCategory, { id })
    await expect(ada.call(getCategory, { id })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('is refused with what uses it', async () => {
    const category = await newCategory()
    const group = await newGroup()
    const { id } = category
    await ada.call(addGroupCategory, { groupId: group.id, category_id: id })
    await expect(ada.call(deleteCategory, { id })).rejects.toMatchObject({
      code: 'in_use',
      uses: { deposits: 0, groups: 1, default: 0 }
    })
    await ada.call(removeGroupCategory, { groupId: group.id, categoryId: id })
    await app.deposit(ada, randomBytes(9))
    await app.reserve(ada, randomBytes(9))
    await expect(ada.call(deleteCategory, { id: ada.category })).rejects.toMatchObject({
      code: 'in_use',
      uses: { deposits: 2, groups: 1, default: 1 }
    })
    await ada.call(deleteCategory, { id })
  })
})

describe('the list of categories', () => {
  test('is searched, sorted by the name in a language, filtered and read in pages', async () => {
    const mark = randomUUID()
    const made: CategoryDetails[] = []
    for (const [en, fr, visibility, store] of [
      ['Apples', 'Pommes', 'public', 'file'],
      ['Pears', 'Abricots', 'private', 'fingerprint'],
      ['Éclairs', 'Éclairs', 'public', 'fingerprint']
    ] as const) {
      const names = { en: `${en} ${mark}`, fr: `${fr} ${mark}` }
      made.push(await ada.call(createCategory, { names, visibility, store }))
    }
    const ids = (indexes: number[]) => indexes.map(at => made[at]?.id)
    const list = async (input: object) => {
      const found = await ada.call(listCompanyCategories, { id: company, q: mark, ...input })
      return found.map(({ id }) => id)
    }
    expect(await list({})).toEqual(ids([0, 1, 2]))
    expect(await list({ sort: 'name_en' })).toEqual(ids([0, 2, 1]))
    expect(await list({ sort: '-name_fr' })).toEqual(ids([0, 2, 1]))
    expect(await list({ q: `eclairs ${mark}` })).toEqual(ids([2]))
    expect(await list({ visibility: 'public' })).toEqual(ids([0, 2]))
    expect(await list({ store: 'fingerprint', sort: '-created' })).toEqual(ids([2, 1]))
    const [first] = await list({ sort: 'name_fr', limit: 1 })
    expect(await list({ sort: 'name_fr', cursor: first })).toEqual(ids([2, 0]))
  })

  test('shows the groups that may use a category, which can be listed alone', async () => {
    const { id } = await newCategory()
    const [one, other] = [await newGroup(), await newGroup()]
    await ada.call(addGroupCategory, { groupId: other.id, category_id: id })
    await ada.call(addGroupCategory, { groupId: one.id, category_id: id })
    expect((await ada.call(getCategory, { id })).group_count).toBe(2)
    const groups = await ada.call(listGroups, { id: company, category: id, sort: 'created' })
    expect(groups.map(group => group.id)).toEqual([one.id, other.id])
    const foreign = ada.call(listGroups, { id: company, category: randomUUID() })
    await expect(foreign).rejects.toMatchObject({ code: 'not_found' })
  })
})

test('the audit log says who changed what, and its chain holds', async () => {
  const { id, names } = await newCategory({ visibility: 'private' })
  await ada.call(updateCategory, { id, visibility: 'public', retention: 'P1Y' }, { version: 1 })
  await ada.call(updateCategory, { id, visibility: 'public' }, { version: 2 })
  await ada.call(deleteCategory, { id }, { version: 3 })
  const { rows } = await app.owner.query(
    `select action, actor_id, v.changes from audit_entry e
       join audit_value v using (company_id, seq) where target_id = $1 order by seq`,
    [id]
  )
  expect(rows.map(({ action }) => action)).toEqual([
    'category.create',
    'category.update',
    'category.delete'
  ])
  expect(new Set(rows.map(({ actor_id }) => actor_id))).toEqual(new Set([ada.id]))
  const changes = rows.map(row => JSON.parse(row.changes))
  expect(changes[0].after).toMatchObject({ names, visibility: 'private' })
  expect(changes[1]).toEqual({
    before: { visibility: 'private' },
    after: { visibility: 'public', retention: 'P1Y' }
  })
  expect((await checkAuditLog(app.deps, ada.company)).broken).toBeUndefined()
})

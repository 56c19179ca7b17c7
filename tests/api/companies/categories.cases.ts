import { randomUUID } from 'node:crypto'
import {
  idempotencyKeyRefusals,
  makeCategory,
  makeGroup,
  type RefusalContext,
  type Refusals,
  type RouteCases,
  withBoundsReached
} from '../../helpers/cases.ts'

const newNames = () => ({ en: `Documents ${randomUUID()}`, fr: `Pièces ${randomUUID()}` })
const settings = {
  visibility: 'public',
  keep_originals: 'yes',
  store: 'fingerprint',
  media_types: ['application/pdf', 'image/*'],
  retention: 'P10Y'
}

export const rows: RouteCases = {
  listAllowedCategories: {},
  listCompanyCategories: {
    input: () => ({
      limit: 10,
      q: 'documents',
      sort: '-name_fr',
      visibility: 'public',
      store: 'file'
    }),
    ids: {
      id: 'company',
      cursor: 'company category',
      group: 'group',
      data_source: 'data source'
    },
    filters: ['data_source'],
    shared: true
  },
  createCategory: { input: () => ({ names: newNames(), ...settings }) },
  getCategory: { ids: { id: 'company category' }, shared: true },
  updateCategory: {
    // as it is, because other calls deposit in it
    input: () => ({
      names: newNames(),
      visibility: 'public',
      keep_originals: 'person',
      store: 'file',
      media_types: null,
      retention: null,
      default: true,
      data_sources: []
    }),
    ids: { id: 'company category' },
    idLists: { data_sources: { of: 'data source' } },
    shared: true
  },
  deleteCategory: { ids: { id: 'company category' }, shared: true, spends: 'category' }
}

/** Returns functions that each provoke one error code of a call: `'createCategory name_taken'`. */
export function refusals(stage: RefusalContext): Refusals {
  const { app, ada, ask } = stage
  const host = 'acme.localhost'
  const newCategory = () => makeCategory(app, host)

  return {
    'createCategory name_taken': async () => {
      await ask('createCategory', { names: { en: 'Diplomas', fr: 'Diplômes' } })
      return ask('createCategory', { names: { en: 'Other diplomas', fr: 'DIPLOMES' } })
    },
    'createCategory too_many_categories': () =>
      withBoundsReached(app, () => ask('createCategory', { names: { en: 'One more' } })),
    ...idempotencyKeyRefusals(stage, 'createCategory', 'POST /category', (headers, text) =>
      ask('createCategory', { names: { en: text, fr: text } }, headers)
    ),
    'updateCategory changed_meanwhile': async () =>
      ask('updateCategory', { id: await newCategory(), store: 'file' }, { 'if-match': '"999"' }),
    'updateCategory name_taken': async () => {
      const id = await newCategory()
      await ask('createCategory', { names: { en: 'Invoices' } })
      return ask('updateCategory', { id, names: { fr: 'invoices' } })
    },
    'updateCategory default_group_private': async () => {
      const [groupId, category_id] = [await makeGroup(app, host), await newCategory()]
      await ask('updateGroup', { id: groupId, is_default: true })
      await ask('addGroupCategory', { groupId, category_id })
      return ask('updateCategory', { id: category_id, visibility: 'private' })
    },
    'deleteCategory changed_meanwhile': async () =>
      ask('deleteCategory', { id: await newCategory() }, { 'if-match': '"999"' }),
    'deleteCategory in_use': () => ask('deleteCategory', { id: ada.category })
  }
}

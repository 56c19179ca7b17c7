import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  deleteThemeDraft,
  getDomain,
  getDomainConfig,
  getDomainThemes,
  publishEarlierTheme,
  publishTheme,
  saveThemeDraft,
  updateDomain
} from '../../../src/contract/domains.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { domainIdOf } from '../../helpers/cases.ts'

const host = 'acme.localhost'

let app: TestApp
let ada: TestPerson
let id: string
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [ada.id])
  id = await domainIdOf(app.owner, host)
})
afterAll(() => app[Symbol.asyncDispose]())

const config = () => app.call(host, getDomainConfig, { domain: host })
const colors = (primary: string) => ({ dark: false, primary })

test('a draft is public when it is published, and not before', async () => {
  const before = await config()
  const saved = await ada.call(saveThemeDraft, { id, colors: colors('#ff7a00') })
  expect(saved).toMatchObject({
    published: { number: 1, theme: before.theme },
    draft: { theme: { ...before.theme, colors: colors('#ff7a00') }, by: { id: ada.id } }
  })
  // where white text is on it, the orange is darker
  expect(saved.draft?.corrections).toContainEqual({
    colour: 'primary',
    mode: 'light',
    original: '#ff7a00',
    used: '#bd5900'
  })
  expect(await config()).toEqual(before)
  const published = await ada.call(publishTheme, { id })
  expect(published).toMatchObject({ published: { number: 2 }, draft: null })
  expect(published.versions.map(({ number, by }) => [number, by?.username])).toEqual([
    [2, 'Ada Lovelace'],
    [1, undefined]
  ])
  const after = await config()
  expect(after.theme.colors).toEqual(colors('#ff7a00'))
  expect(after.version).toBeGreaterThan(before.version)
  // nothing is left to publish
  expect(await ada.call(publishTheme, { id })).toEqual(published)
})

test('restores an earlier look under a new number', async () => {
  const { published, versions } = await ada.call(getDomainThemes, { id })
  const restored = await ada.call(publishEarlierTheme, { id, number: 1 })
  expect(restored.published.number).toBe(published.number + 1)
  expect(restored.versions[0]).toMatchObject({ restored: 1, by: { id: ada.id } })
  expect(restored.versions.slice(1)).toEqual(versions)
  expect((await config()).theme).toEqual(restored.published.theme)
  expect(restored.published.theme).not.toEqual(published.theme)
  await expect(ada.call(publishEarlierTheme, { id, number: 99 })).rejects.toMatchObject({
    code: 'not_found'
  })
})

test('shows no stored picture that is not allowed any more, so that it can be replaced', async () => {
  const costly = `<svg xmlns="http://www.w3.org/2000/svg"><mask id="a">${'<rect mask="url(#b)"/>'.repeat(90)}</mask><mask id="b"><rect/></mask><g mask="url(#a)"/></svg>`
  const saving = ada.call(saveThemeDraft, { id, logo: costly })
  await expect(saving).rejects.toMatchObject({
    code: 'svg_refused',
    fields: { logo: { rule: 'svg_cost' } }
  })
  const { theme } = await config()
  const stored = JSON.stringify({ ...theme, logo: costly, favicon: costly })
  await app.owner.query(
    'update domain set theme = $2, draft = $2, draft_at = now(), version = version + 1 where id = $1',
    [id, stored]
  )
  const shown = await ada.call(getDomainThemes, { id })
  for (const each of [shown.published, shown.draft]) {
    expect(each?.theme).toEqual({ ...theme, logo: '', favicon: '' })
  }
  const { logo, favicon } = theme
  expect((await ada.call(saveThemeDraft, { id, logo, favicon })).draft?.theme).toEqual(theme)
  await ada.call(publishTheme, { id })
  expect((await config()).theme).toEqual(theme)
})

test('a dark logo is checked as the others and can be removed again', async () => {
  const logo_dark = `<svg xmlns="http://www.w3.org/2000/svg"><path d='M0 0'></path></svg>`
  const { draft } = await ada.call(saveThemeDraft, { id, logo_dark })
  expect(draft?.theme.logo_dark).toBe(
    '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>'
  )
  await expect(
    ada.call(saveThemeDraft, {
      id,
      logo_dark: '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'
    })
  ).rejects.toMatchObject({ code: 'svg_refused', fields: { logo_dark: { limit: '<script>' } } })
  const bare = await ada.call(saveThemeDraft, { id, logo_dark: null })
  expect(bare.draft?.theme).not.toHaveProperty('logo_dark')
  await ada.call(deleteThemeDraft, { id })
  expect((await ada.call(getDomainThemes, { id })).draft).toBeNull()
})

test('a change that has not seen the latest one is refused', async () => {
  const { version } = await ada.call(getDomainThemes, { id })
  await ada.call(saveThemeDraft, { id, colors: colors('#123456') }, { version })
  for (const late of [
    () => ada.call(saveThemeDraft, { id, colors: colors('#654321') }, { version }),
    () => ada.call(publishTheme, { id }, { version }),
    () => ada.call(publishEarlierTheme, { id, number: 1 }, { version }),
    () => ada.call(deleteThemeDraft, { id }, { version })
  ]) {
    await expect(late()).rejects.toMatchObject({ code: 'changed_meanwhile' })
  }
})

test('PUT /domain publishes a look at once, and the last twenty looks are kept', async () => {
  const { version } = await ada.call(getDomain, { id })
  for (let at = 0; at < 22; at++) {
    const shade = `#1122${(16 + at).toString(16)}`
    await ada.call(updateDomain, { id, theme: { colors: colors(shade) } })
  }
  const { published, versions, draft } = await ada.call(getDomainThemes, { id })
  expect(published.theme.colors).toEqual(colors('#112225'))
  expect(draft?.theme.colors).toEqual(colors('#123456'))
  expect(versions.map(({ number }) => number)).toEqual(
    Array.from({ length: 20 }, (_, at) => published.number - at)
  )
  expect((await ada.call(getDomain, { id })).version).toBe(version + 22)
})

import { expect, test } from 'vitest'
import {
  astroRouteOf,
  findPage,
  notFoundPage,
  type PageEntry,
  pageOfAstroRoute,
  pages,
  pathIfNoParameters,
  renderedPathOf
} from '../../../../src/core/pages/page-table.ts'

const rows = Object.entries<PageEntry>(pages)

test.each(rows)('finds the page %s by its path and by its route', (_, page) => {
  expect(findPage(renderedPathOf(page))).toBe(page)
  expect(pageOfAstroRoute(astroRouteOf(page))).toBe(page)
})

test.each([
  '',
  '/nowhere',
  '/verify/x',
  '//verify',
  '/Verify',
  '/verify/',
  '/verifyx',
  '/docs/other',
  '/404',
  '/constructor'
])('finds no page at "%s"', path => expect(findPage(path)).toBeUndefined())

test('no address belongs to two pages', () => {
  const paths = rows.map(([, page]) => renderedPathOf(page))
  expect(new Set(paths).size).toBe(paths.length)
})

test.each(rows.filter(([, page]) => page.isListed))(
  'lists %s for search engines under one address that everybody may open',
  (_, page) => {
    expect(pathIfNoParameters(page)).toBe(page.path)
    expect(['none', 'signed-out']).toContain(page.guard)
  }
)

test.each(rows.filter(([, page]) => page.isReturnable))(
  'leads nobody from a sign-in to %s in circles',
  (_, page) => expect(page.guard).not.toBe('signed-out')
)

test('gives an unknown address the page that says so', () => {
  expect(pageOfAstroRoute('/[...path]')).toBe(notFoundPage)
  expect(pathIfNoParameters(notFoundPage)).toBeUndefined()
})

import { createRouter } from '@nanostores/router'
import { type PageName, pages } from '../core/pages/page-table.ts'

type Pattern = [RegExp, (locale?: string, ...segments: string[]) => Record<string, string>]

/** Does not handle clicks on links, because Astro's ClientRouter does. */
export const $route = createRouter(
  // as: the keys of the table
  Object.fromEntries(
    Object.entries(pages).map(([name, { path }]) => [name, patternOf(path)])
  ) as Record<PageName, Pattern>,
  { links: false }
)

// ClientRouter changes the address without an event that this router listens to
if (typeof document !== 'undefined') document.addEventListener('astro:after-swap', followSwap)

export function canReturnAfterSignIn(path: string): boolean {
  const clean = path.replace(/(?<=.)\/$/, '')
  return $route.routes.some(([name, pattern]) => {
    return pages[name as PageName].isReturnable && pattern.test(clean) // as: its routes
  })
}

// `/admin/{company}` matches `/admin/7`, `/en/admin/7` and `/fr/admin/7`
function patternOf(path: string): Pattern {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const source = path.replaceAll(/\{\w+\}/g, '([^/]+)')
  return [
    path === '/' ? /^\/(en|fr)?$/ : new RegExp(`^(?:/(en|fr))?${source}$`),
    (locale = '', ...segments) =>
      Object.fromEntries([
        ['locale', locale],
        ...names.map((name, at) => [name, segments[at] ?? ''])
      ])
  ]
}

function followSwap(): void {
  const { state } = history
  $route.open(location.href, true)
  // ClientRouter needs its own state to go back
  history.replaceState(state, '')
}

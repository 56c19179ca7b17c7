// @vitest-environment happy-dom
import { createElement, useEffect, useState } from 'react'
import { renderToString } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import hydrate from '../../../../src/islands/kit/hydrate.ts'

const reported: unknown[] = []
let effects: string[] = []

function Screen({ word = 'ready' }: { word?: string }) {
  const [state, setState] = useState('drawn')
  useEffect(() => {
    effects.push('run')
    setState(word)
    return () => void effects.push('ended')
  }, [word])
  return createElement('p', undefined, state)
}

beforeEach(() => {
  reported.length = 0
  effects = []
  vi.stubGlobal('reportError', (error: unknown) => reported.push(error))
})

afterEach(() => {
  vi.unstubAllGlobals()
  document.body.replaceChildren()
})

test('an island counts as hydrated when its effects have run', async () => {
  const island = draw()
  await hydrate(island)(Screen, { word: 'ready' })
  expect(effects).toEqual(['run'])
  await vi.waitFor(() => expect(island.textContent).toBe('ready'))
  island.dispatchEvent(new Event('astro:unmount'))
  expect(effects).toEqual(['run', 'ended'])
  expect(reported).toEqual([])
})

test('an island that is removed before it has hydrated does nothing and reports nothing', async () => {
  const island = draw()
  void hydrate(island)(Screen, {})
  island.remove()
  island.dispatchEvent(new Event('astro:unmount'))
  // another island is hydrated after this one would have been
  await hydrate(draw())(Screen, {})
  expect(island.textContent).toBe('')
  expect(effects).toEqual(['run'])
  expect(reported).toEqual([])
})

test('an island whose HTML differs is reported', async () => {
  const island = draw()
  island.innerHTML = '<p>another text</p>'
  await hydrate(island)(Screen, {})
  expect(reported).toHaveLength(1)
})

test('an island is hydrated once', async () => {
  const island = draw()
  await Promise.all([hydrate(island)(Screen, {}), hydrate(island)(Screen, {})])
  await vi.waitFor(() => expect(island.textContent).toBe('ready'))
  expect(effects).toEqual(['run'])
  expect(reported).toEqual([])
})

/** Adds an island to the page, with the HTML that the server would render. */
function draw(): HTMLElement {
  const island = document.createElement('astro-island')
  island.innerHTML = renderToString(createElement(Screen))
  document.body.append(island)
  return island
}

// @vitest-environment happy-dom
import { afterEach, beforeAll, expect, test } from 'vitest'
import { supportTranslators } from '../../../../src/islands/kit/translated-texts.ts'

beforeAll(supportTranslators)
afterEach(() => document.body.replaceChildren())

function draw(html: string): HTMLElement {
  document.body.innerHTML = html
  return document.body.querySelector('p') ?? document.body
}

test('removes and inserts where a translator has put its text', () => {
  const parent = draw('<p>Bonjour</p>')
  const text = parent.firstChild ?? parent
  const font = document.createElement('font')
  font.textContent = 'Hello'
  text.replaceWith(font)
  parent.insertBefore(document.createElement('b'), text)
  expect(parent.innerHTML).toBe('<b></b><font>Hello</font>')
  parent.removeChild(text)
  expect(parent.innerHTML).toBe('<b></b>')
})

test('what is missing on a page without translations stays an error', () => {
  const parent = draw('<p>Bonjour</p>')
  const stray = document.createElement('i')
  expect(() => parent.removeChild(stray)).toThrow()
  expect(() => parent.insertBefore(document.createElement('b'), stray)).toThrow()
  expect(parent.innerHTML).toBe('Bonjour')
})

// @vitest-environment happy-dom
import { afterEach, beforeAll, expect, test } from 'vitest'
import boot from '../../../src/shell/boot.js?raw'
import { onClick } from '../../../src/shell/kit/page.ts'

// the page has it as an inline script
beforeAll(() => new Function(boot)())
afterEach(() => document.body.replaceChildren())

const fields = '<form><input name="a"><input name="b"></form>'
const buttons = '<button type="button" id="one"></button><button type="button" id="two"></button>'

test('sends a form once in which Enter was pressed before its script ran', () => {
  const { island, acts } = draw(fields)
  expect([press('a', 'x'), press('a'), press('b')]).toEqual([true, false, false])
  expect(acts).toEqual([])
  hydrate(island)
  expect(acts).toEqual(['submit'])
  // from then on the script has the key
  expect(press('b')).toBe(true)
})

test('repeats the last click on a button', () => {
  const { island, acts } = draw(buttons)
  for (const id of ['one', 'one', 'two']) document.getElementById(id)?.click()
  acts.length = 0
  hydrate(island)
  expect(acts).toEqual(['click two'])
  document.getElementById('one')?.click()
  expect(acts).toEqual(['click two', 'click one'])
})

test('does not repeat what the browser or React has done', () => {
  const { island, acts } = draw(`${buttons}<button type="button" id="menu" popovertarget="x">`)
  document.getElementById('menu')?.click()
  island.dataset['hydrating'] = ''
  document.getElementById('one')?.click()
  acts.length = 0
  hydrate(island)
  expect(acts).toEqual([])
})

test('sends a form whose button was pressed before its script ran', () => {
  const { island, acts } = draw('<form><input name="a"><button></button></form>')
  island.querySelector('button')?.click()
  expect(acts).toEqual(['click '])
  hydrate(island)
  expect(acts).toEqual(['click ', 'submit'])
})

test('hands a click on a button of the shell to the script that handles it later', () => {
  const acts: string[] = []
  document.body.innerHTML = '<button data-act="sign-out"></button>'
  const button = document.querySelector('button')
  button?.click()
  onClick('[data-act=other]', () => acts.push('other'))
  onClick('[data-act=sign-out]', () => acts.push('sign out'))
  expect(acts).toEqual(['sign out'])
  button?.click()
  onClick('[data-act]', () => acts.push('again'))
  expect(acts).toEqual(['sign out', 'sign out'])
})

/**
 * Adds an island whose script has not run yet to the page. `acts` lists the events that reach it.
 */
function draw(html: string) {
  const island = document.createElement('astro-island')
  island.setAttribute('ssr', '')
  island.innerHTML = html
  document.body.append(island)
  const acts: string[] = []
  island.addEventListener('submit', event => {
    event.preventDefault()
    acts.push('submit')
  })
  island.addEventListener('click', ({ target }) => {
    acts.push(`click ${target instanceof Element ? target.id : ''}`)
  })
  return { island, acts }
}

/** Presses a key in a field. Returns whether the browser's default action was not prevented. */
function press(name: string, key = 'Enter'): boolean {
  const field = document.querySelector(`[name=${name}]`)
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
  return field?.dispatchEvent(event) === true
}

function hydrate(island: HTMLElement): void {
  island.removeAttribute('ssr')
  island.dispatchEvent(new CustomEvent('astro:hydrate'))
}

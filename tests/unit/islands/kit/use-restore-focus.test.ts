// @vitest-environment happy-dom
import { createElement, type ReactNode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { useRestoreFocus } from '../../../../src/islands/kit/use-restore-focus.ts'

/** A button that a click replaces with a field. */
function Editor(): ReactNode {
  const [isEditing, setEditing] = useState(false)
  const opener = useRestoreFocus(isEditing)
  // a change outside of an event is drawn later, as that after an answer of the server
  closeLater = () => setEditing(false)
  return isEditing
    ? createElement('input', { autoFocus: true })
    : createElement(
        'button',
        { type: 'button', ref: opener, onClick: () => setEditing(true) },
        'Edit'
      )
}

let closeLater = () => {}
let root: ReturnType<typeof createRoot>

beforeEach(async () => {
  // a busy browser draws a frame before React draws
  vi.stubGlobal('requestAnimationFrame', (run: () => void) => run())
  const box = document.createElement('div')
  const other = document.createElement('textarea')
  document.body.append(box, other)
  root = createRoot(box)
  root.render(createElement(Editor))
  await vi.waitFor(() => expect(document.querySelector('button')).not.toBeNull())
})

afterEach(() => {
  vi.unstubAllGlobals()
  root.unmount()
  document.body.replaceChildren()
})

test('a button does not take the focus when the page opens', () => {
  expect(document.activeElement).toBe(document.body)
})

test('the button gets the focus back when it is drawn again, and no sooner', async () => {
  await edit()
  closeLater()
  expect(document.querySelector('button')).toBeNull()
  await vi.waitFor(() => expect(document.querySelector('button')).not.toBeNull())
  await vi.waitFor(() => expect(document.activeElement?.textContent).toBe('Edit'))
})

test('the focus stays where the person has moved it meanwhile', async () => {
  await edit()
  const other = document.querySelector('textarea')
  other?.focus()
  closeLater()
  await vi.waitFor(() => expect(document.querySelector('button')).not.toBeNull())
  expect(document.activeElement).toBe(other)
})

async function edit(): Promise<void> {
  document.querySelector('button')?.click()
  await vi.waitFor(() => expect(document.activeElement?.tagName).toBe('INPUT'))
}

// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest'
import { storeDraft, takeDraft } from '../../../src/stores/form-drafts.ts'
import {
  formDraftName,
  isFieldChanged,
  readFormValues,
  storeFormDraft
} from '../../../src/stores/form-values.ts'

const path = '/en/sign-up'

afterEach(() => document.body.replaceChildren())

test('reads the values of a form, with one line for each checked box', () => {
  const form = draw(`
    <input name="name" value="Ada"><textarea name="note">two
lines</textarea>
    <input type="checkbox" name="feature" value="a" checked>
    <input type="checkbox" name="feature" value="b">
    <input type="checkbox" name="feature" value="c" checked>
    <input type="checkbox" name="other" value="d">`)
  expect(readFormValues(form)).toEqual({
    name: 'Ada',
    note: 'two\nlines',
    feature: 'a\nc',
    other: ''
  })
})

test('knows which fields have changed since they were drawn', () => {
  const form = draw(`<input name="a" value="1"><input name="b"><input type="checkbox" name="c">
    <select name="d"><option>x</option><option>y</option></select>`)
  const changed = () => [...form.elements].map(isFieldChanged)
  expect(changed()).toEqual([false, false, false, false])
  const [a, , c, d] = form.elements
  ;(a as HTMLInputElement).value = '2'
  ;(c as HTMLInputElement).checked = true
  ;(d as HTMLSelectElement).value = 'y'
  expect(changed()).toEqual([true, false, true, true])
})

test('a form whose script has not run adds to what was kept before', () => {
  const name = formDraftName({ email: '', username: '' })
  storeDraft(path, name, { email: 'ada@example.com', username: 'Ada' })
  storeFormDraft(path, draw('<input name="email"><input name="username" value="Ada Lovelace">'))
  expect(takeDraft(path, name)).toEqual({ email: 'ada@example.com', username: 'Ada Lovelace' })
  // a script that has run has taken what was kept, and an emptied field stays empty
  storeFormDraft(path, draw('<input name="email"><input name="username" value="Ada">'))
  expect(takeDraft(path, name)).toEqual({ email: '', username: 'Ada' })
})

function draw(fields: string): HTMLFormElement {
  const form = document.createElement('form')
  form.innerHTML = fields
  document.body.append(form)
  return form
}
